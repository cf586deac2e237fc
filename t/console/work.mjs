// SPDX-License-Identifier: Apache-2.0
// What happens while somebody works: others do as well, the session ends, there is no mouse, the window is small, the list is long.
import { browse, check, eventually, go, is, picture, settings, settled, signIn, until } from './harness.mjs';

const { url, service } = settings;
const document_ = '#/t/acme/r/namespaces/default/configmaps/app';
const area = (page) => page.getByLabel(/^Document of/);
const save = (page) => page.getByRole('button', { name: 'Save' }).click();
const data = async (page) => JSON.parse(await area(page).inputValue()).data;

// ---- two windows

async function twoWindows({ page }) {
	const one = await page(), two = await page();
	await signIn(one, service, settings.user, document_);
	await two.goto(`${service}/console/${document_}`);
	await settled(two);
	check(true, 'another window of the browser has the session, too');

	await area(two).fill(JSON.stringify({ data: { color: 'blue', size: 'large', place: 'here' } }));
	await save(two);
	await eventually(() => two.locator('.toast', { hasText: 'Saved' }).isVisible(), 'the second window saves');
	await area(one).fill(JSON.stringify({ data: { color: 'green', size: 'small', place: 'here' } }));
	await save(one);
	await one.locator('.conflict').waitFor();
	const told = await one.locator('.conflict').textContent();
	check(/Nothing was overwritten/.test(told) && /data › color/.test(told) && /data › size/.test(told), 'the first one is told each member that differs', told);
	check(!/place/.test(told) && !/both changed it/.test(told), 'and no other one', told);
	await picture(one, 'conflict');
	await one.getByRole('button', { name: 'Take both changes' }).click();
	is(JSON.stringify(await data(one)), '{"color":"green","size":"large","place":"here"}', 'both changes together');
	await save(one);
	await eventually(() => one.locator('.toast', { hasText: 'Saved' }).isVisible(), 'are saved');

	await area(two).fill(JSON.stringify({ data: { color: 'black', size: 'large', place: 'here' } }));
	await save(two);
	await two.locator('.differences .clash').waitFor();
	check(/both changed it/.test(await two.locator('.clash').textContent()), 'what both changed is marked');
	await two.getByRole('button', { name: 'Drop mine' }).click();
	is((await data(two)).color, 'green', 'theirs is what is stored');
	await two.close();
	await one.close();
}

// ---- the session's end

async function endedSession({ page, context }) {
	const window = await page();
	await signIn(window, service, settings.user, document_);
	await area(window).fill(JSON.stringify({ data: { typed: 'for an hour' } }));
	await context.clearCookies();
	await save(window);
	const dialog = window.getByRole('dialog', { name: 'Sign in again' });
	await dialog.waitFor();
	check((await area(window).inputValue()).includes('for an hour'), 'what was typed is still there');
	await dialog.getByLabel('Token').fill('wrong:token:for:this');
	await dialog.getByRole('button', { name: 'Sign in' }).click();
	await eventually(() => dialog.getByRole('alert').isVisible(), 'a wrong token is told there, too');
	await dialog.getByLabel('Token').fill(settings.user);
	await dialog.getByRole('button', { name: 'Sign in' }).click();
	await eventually(() => window.locator('.toast', { hasText: 'Saved' }).isVisible(), 'and it is saved once there is a session');
	is((await data(window)).typed, 'for an hour', 'as it was typed');

	await window.getByRole('button', { name: 'ann' }).click();
	await window.getByRole('button', { name: 'Sign out', exact: true }).click();
	await window.getByLabel('Token').waitFor();
	check(!(await window.content()).includes('for an hour'), 'signing out leaves nothing on the screen');
	is((await context.cookies()).filter((cookie) => cookie.name.startsWith('tenure')).length, 0, 'nor a cookie');
	await window.close();
}

// ---- another user, in another tab of the same browser

async function signOut(page, user) {
	await page.getByRole('button', { name: user, exact: true }).click();
	await page.getByRole('button', { name: 'Sign out', exact: true }).click();
	await page.getByLabel('Token').waitFor();
}

async function anotherUser({ page }) {
	const one = await page(), two = await page();
	await signIn(one, service, settings.user, document_);
	await two.goto(`${service}/console/`);
	await settled(two);
	await signOut(two, 'ann');
	await signIn(two, service, settings.user);
	await area(one).fill(JSON.stringify({ data: { by: 'ann' } }));
	await save(one);
	await eventually(() => one.locator('.toast', { hasText: 'Saved' }).isVisible(), 'a new session of the same user is that of all tabs');

	await signOut(two, 'ann');
	await signIn(two, service, settings.other);
	await area(one).fill(JSON.stringify({ data: { by: 'ann again' } }));
	await save(one);
	const dialog = one.getByRole('dialog', { name: 'Sign in again' });
	await dialog.waitFor();
	check(/bob/.test(await dialog.textContent()), 'who signed in meanwhile is told', await dialog.textContent());
	await dialog.getByLabel('Token').fill(settings.user);
	await dialog.getByRole('button', { name: 'Sign in' }).click();
	await eventually(async () => (await one.evaluate(async () => (await fetch('/v2.0/acme/namespaces/default/configmaps/app', { headers: { 'X-Tenure-Console': '1' } })).json())).data.by === 'ann again',
		'it is saved once the first user is back');
	await go(two, '#/t/acme').catch(() => {});
	await eventually(() => two.getByRole('button', { name: 'ann', exact: true }).isVisible(), 'the other tab is his then, too');
	await two.close();
	await one.close();
}

// ---- another site, in the same browser

async function anotherSite({ page, context }) {
	const window = await page();
	await signIn(window, service, settings.user, document_);
	const stranger = await page();
	await context.route(`${url}/elsewhere`, (route) => route.fulfill({ contentType: 'text/html', body: '<h1>Elsewhere</h1>' }));
	await stranger.goto(`${url}/elsewhere`); // another port is another origin of the same site, to which even a strict cookie is sent
	const answers = await stranger.evaluate(async (target) => {
		const outcome = (options) => fetch(`${target}/v2.0/acme/namespaces/default/configmaps/other`, { credentials: 'include', ...options }).then((answer) => answer.type + answer.status, () => 'stopped');
		return [await outcome({ headers: { 'X-Tenure-Console': '1' } }), await outcome({ mode: 'no-cors' })];
	}, service).catch((error) => error.message);
	check(Array.isArray(answers) && answers[0] === 'stopped', 'a page of another origin can’t use the session', JSON.stringify(answers));
	await stranger.close();
	await window.close();
}

// ---- no mouse

async function noMouse({ page }) {
	const window = await page(), press = (...keys) => keys.reduce((before, key) => before.then(() => window.keyboard.press(key)), Promise.resolve());
	const focused = () => window.evaluate(() => { const at = document.activeElement; return at.textContent.trim().slice(0, 40) || at.getAttribute('aria-label') || at.tagName; });
	await window.goto(`${url}/console/`);
	await window.getByLabel('Token').waitFor();
	check(await window.evaluate(() => document.activeElement.type === 'password'), 'the token’s field has the focus');
	await window.keyboard.type(settings.operator);
	await press('Enter');
	await window.locator('header.top').waitFor();
	await settled(window);
	await press('Tab');
	is(await focused(), 'Skip to the content', 'the first Tab leads to the content');
	await press('Enter');
	check(await window.evaluate(() => document.activeElement.id === 'main'), 'and there it goes');
	for (let i = 0; i < 6 && await focused() !== 'Tenants'; i++)
		await press('Shift+Tab');
	for (let i = 0; i < 12 && await focused() !== 'Tenants'; i++)
		await press('Tab');
	is(await focused(), 'Tenants', 'the navigation by Tab');
	check(await window.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== 'none'), 'the focus is seen');
	await press('Enter');
	await until(window, () => document.querySelector('main').dataset.screen === '#/tenants');
	await settled(window);
	is(await focused(), 'Tenants', 'a new screen has the focus on its title');
	for (let i = 0; i < 8 && await focused() !== 'tenants, rows' && !(await window.evaluate(() => document.activeElement.classList.contains('list-view'))); i++)
		await press('Tab');
	check(await window.evaluate(() => document.activeElement.classList.contains('list-view')), 'the list by Tab');
	await press('ArrowDown', 'Enter');
	await until(window, () => location.hash === '#/t/long');
	check(true, 'arrows choose a row, Enter opens it');
	await settled(window);
	await go(window, document_);
	await window.getByRole('button', { name: 'Delete' }).focus();
	await press('Enter');
	await window.getByRole('dialog').waitFor();
	await press('Escape');
	await eventually(async () => await window.getByRole('dialog').count() === 0, 'Escape closes a dialog');
	is(await focused(), 'Delete', 'the focus is where it was');
	const nameless = await window.evaluate(() => [...document.querySelectorAll('button, a, input, select, textarea')].filter((one) =>
		one.checkVisibility() && !one.textContent.trim() && !one.getAttribute('aria-label') && !one.labels?.length && !one.title).map((one) => one.outerHTML));
	is(nameless.join(), '', 'everything that can be used has a name');
	await window.close();
}

// ---- a long list

async function longList({ page }) {
	const window = await page();
	await signIn(window, url, settings.operator, '#/t/long/type/configmaps');
	const view = window.locator('.list-view');
	const elements = () => window.locator('.list-space .list-row').count();
	await view.focus();
	let loaded = 0;
	await eventually(async () => {
		await window.keyboard.press('End');
		loaded = Number((await window.locator('.list-status').textContent()).replace(/\D/g, ''));
		return loaded === settings.rows && !/so far/.test(await window.locator('.list-status').textContent());
	}, `a list of ${settings.rows} scrolls to its end`);
	await window.keyboard.press('End');
	await eventually(async () => (await window.locator('.list-space .list-row').last().textContent()).includes(loaded === settings.rows ? 'seed' : 'row'), 'which is shown');
	check(await elements() < 120, 'and few of its rows are elements', await elements());
	await window.keyboard.press('Home');
	await eventually(async () => (await window.locator('.list-space .list-row').first().textContent()).includes('row-000001'), 'back to its beginning');
	await window.getByLabel('Filter configmaps').fill('row-00123');
	await eventually(async () => await elements() === 10, 'filtered');
	await window.close();
}

// ---- a phone, dark, without motion; contrast

// Text whose contrast upon its background is below what WCAG AA asks: 4.5, or 3 for large text.
function lowContrast() {
	const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
	const part = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	const light = ({ r, g, b }) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
	const behind = (element) => {
		for (let at = element; at; at = at.parentElement) {
			const color = parse(getComputedStyle(at).backgroundColor);
			if (color.a === 1)
				return color;
		}
		return { r: 255, g: 255, b: 255 };
	};
	const found = [];
	for (const element of document.querySelectorAll('body *')) {
		if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) || !element.checkVisibility() || element.disabled || element.closest('svg'))
			continue;
		const style = getComputedStyle(element), size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
		const [one, two] = [light(parse(style.color)), light(behind(element))].sort((a, b) => b - a);
		if ((one + 0.05) / (two + 0.05) < (large ? 3 : 4.5))
			found.push(`${element.tagName} “${element.textContent.trim().slice(0, 20)}” ${((one + 0.05) / (two + 0.05)).toFixed(2)}`);
	}
	return found.slice(0, 5).join('; ');
}

const screens = ['#/', '#/tenants', '#/audit', '#/t/acme', '#/t/acme/type/configmaps', '#/t/acme/trash', '#/t/acme/changes', '#/t/acme/tenant', document_, '#/move/acme', '#/new/acme'];

async function everyScreen(window, name, pictured) {
	const wide = [], faint = [];
	for (const screen of screens) {
		await go(window, screen);
		if (await window.evaluate(() => document.documentElement.scrollWidth > innerWidth))
			wide.push(screen);
		const low = await window.evaluate(lowContrast);
		if (low)
			faint.push(`${screen}: ${low}`);
		if (pictured[screen])
			await picture(window, pictured[screen]);
	}
	is(wide.join(), '', `${name}: no screen is wider than the window`);
	is(faint.join('\n'), '', `${name}: all text can be read`);
}

async function phone({ page }) {
	const window = await page();
	await signIn(window, url, settings.operator);
	await everyScreen(window, 'a phone', { '#/': 'phone', '#/t/acme': 'phone-tenant' });
	const small = await window.evaluate(() => [...document.querySelectorAll('button, .button, input, select, header.top nav a')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 24).length);
	is(small, 0, 'nothing is too small for a finger');
	check(await window.evaluate(() => [...document.querySelectorAll('*')].every((one) => getComputedStyle(one).animationName === 'none' && parseFloat(getComputedStyle(one).transitionDuration) === 0)), 'nothing moves where nothing should');
	await window.close();
}

async function dark({ page }) {
	const window = await page();
	await signIn(window, url, settings.operator);
	const ground = () => window.evaluate(() => getComputedStyle(document.body).backgroundColor);
	const night = await ground();
	await everyScreen(window, 'dark', { '#/': 'dark', [document_]: 'dark-resource' });
	await window.getByRole('button', { name: 'Automatic' }).click();
	check(await ground() !== night, 'the switch makes it light');
	await everyScreen(window, 'light', {});
	await window.reload();
	await settled(window);
	check(await ground() !== night, 'and stays so');
	await window.getByRole('button', { name: 'Light', exact: true }).click();
	is(await ground(), night, 'dark again');
	await window.close();
}

// What is not saved is asked about before a session is ended on purpose, as it is before another screen.
async function signingOut({ page }) {
	const window = await page();
	await signIn(window, service, settings.user, document_);
	await area(window).fill('{ "data": { "color": "typed" } }');
	const signOut = () => window.getByRole('button', { name: 'Sign out', exact: true }).click();
	await window.getByRole('button', { name: 'ann', exact: true }).click();
	await signOut();
	const question = window.getByRole('dialog', { name: 'Leave without saving?' });
	await question.getByRole('button', { name: 'Cancel' }).click();
	await window.getByRole('button', { name: 'Close' }).click();
	is((await data(window)).color, 'typed', 'who does not sign out after all keeps what was typed');
	is(await window.evaluate(() => fetch('/session', { headers: { 'X-Tenure-Console': '1' } }).then((answer) => answer.status)), 200, 'and the session');
	await window.getByRole('button', { name: 'ann', exact: true }).click();
	await signOut();
	await question.getByRole('button', { name: 'Leave it' }).click();
	await window.getByLabel('Token').waitFor();
	check(true, 'who leaves it is signed out');
	await window.close();
}

for (const play of [twoWindows, endedSession, signingOut, anotherUser, anotherSite, noMouse, longList])
	await browse({}, play);
await browse({ viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true, reducedMotion: 'reduce' }, phone);
await browse({ colorScheme: 'dark' }, dark);
