// SPDX-License-Identifier: Apache-2.0
// While requests are under way: nothing is sent twice, nothing that the answer brings or that was typed is lost, and nobody is led away from
// where he went meanwhile.
import { browse, check, eventually, go, is, settings, settled, signIn, until } from './harness.mjs';

const { url, service } = settings;
const map = (name) => `/v2.0/acme/namespaces/default/configmaps/${name}`;
const area = (page) => page.locator('textarea.document');
const hash = (page) => page.evaluate(() => location.hash);

// Waits until the page says that, and takes it away, as it does itself after a while.
async function toast(page, text) {
	await eventually(() => page.locator('.toast', { hasText: text }).first().isVisible(), `the page says “${text}”`);
	await page.evaluate(() => document.querySelectorAll('.toast').forEach((one) => one.remove()));
}

// Keeps the answers of these requests back: { count(): how many were sent, release(): lets them go and keeps back no more }. answer: what they are
// answered with, in place of what the service says.
async function hold(page, method, path, answer) {
	let seen = 0, open = null;
	const gate = new Promise((resolve) => open = resolve), fits = (address) => address.pathname === path.split('?')[0] && address.search.includes(path.split('?')[1] ?? '');
	const handler = async (route) => {
		if (route.request().method() !== method)
			return route.fallback();
		seen++;
		await gate;
		return answer ? route.fulfill(answer) : route.continue();
	};
	await page.route(fits, handler);
	return { count: () => seen, release: async () => {
		await page.unroute(fits, handler);
		open();
	} };
}

// Sends a request as somebody else would; resolves with the id of the change.
const change = (page, method, path, body) => page.evaluate(async ([method, path, body]) => (await fetch(path, { method, body: body && JSON.stringify(body),
	headers: { 'X-Tenure-Console': '1', ...body ? { 'Content-Type': 'application/json' } : {} } })).headers.get('x-request-id'), [method, path, body]);

// Two clicks at one place, wherever the first leads.
async function twice(page, button) {
	const { x, y, width, height } = await button.boundingBox();
	await page.mouse.click(x + width / 2, y + height / 2);
	await page.mouse.click(x + width / 2, y + height / 2);
}

// ---- forms

async function token(page) {
	await go(page, '#/t/acme/tokens');
	await page.getByRole('button', { name: 'New token' }).click();
	const dialog = page.getByRole('dialog'), secret = dialog.getByLabel('Secret');
	await dialog.getByLabel('User').fill('carl');
	const cancel = await dialog.getByRole('button', { name: 'Cancel' }).boundingBox(), held = await hold(page, 'POST', '/v2.0/acme/tokens');
	await twice(page, dialog.getByRole('button', { name: 'Make' }));
	for (let i = 0; i < 3; i++)
		await page.keyboard.press('Escape');
	await page.mouse.click(cancel.x + cancel.width / 2, cancel.y + cancel.height / 2);
	await eventually(() => held.count() > 0, 'a token is being made');
	await held.release();
	await eventually(() => secret.isVisible(), 'what would close the dialog does not keep its secret from being shown');
	is(held.count(), 1, 'nor is another one made');
	for (let i = 0; i < 3; i++)
		await page.keyboard.press('Escape');
	await eventually(() => secret.isVisible(), 'the secret is shown until somebody says that he has it');
	await dialog.getByRole('button', { name: 'Done' }).click();
	await settled(page);
	await page.getByRole('button', { name: 'New token' }).click();
	await page.keyboard.press('Escape');
	await eventually(async () => await dialog.count() === 0, 'a dialog that sends nothing is left by Escape');
}

async function webhooks(page) {
	await go(page, '#/t/acme/new-webhook');
	await page.getByLabel('Name').fill('late');
	await page.getByLabel('Address').fill('https://late.invalid/');
	const held = await hold(page, 'PUT', '/v2.0/acme/webhooks/late'), dialog = page.getByRole('dialog');
	await twice(page, page.getByRole('button', { name: 'Save' }));
	await eventually(() => held.count() > 0, 'a webhook is being made');
	await go(page, '#/t/acme/changes');
	await held.release();
	await eventually(() => dialog.getByLabel('Secret').isVisible(), 'its secret is shown on whatever screen');
	is(held.count(), 1, 'one was made');
	await toast(page, 'Saved.');
	await dialog.getByRole('button', { name: 'Done' }).click();
	await eventually(async () => await dialog.count() === 0, 'once');
	is(await hash(page), '#/t/acme/changes', 'and the user stays where he went');

	await go(page, '#/t/acme/webhooks/chat');
	is(await page.getByLabel('Users').inputValue(), 'Ann Smith\nCN=bob,O=acme', 'users of a webhook, one in each line');
	await page.getByLabel('Description').fill('what others do');
	await page.getByRole('button', { name: 'Save' }).click();
	await toast(page, 'Saved.');
}

async function tenantsAndTiers(page) {
	await go(page, '#/tenants');
	await page.getByRole('button', { name: 'New tenant' }).click();
	await page.getByLabel('Name').fill('wonka');
	let held = await hold(page, 'PUT', '/v2.0/wonka');
	await twice(page, page.getByRole('button', { name: 'Create' }));
	await eventually(() => held.count() > 0, 'a tenant is being made');
	await page.keyboard.press('Escape');
	await held.release();
	await until(page, () => location.hash === '#/t/wonka');
	is(held.count(), 1, 'by one request');
	await settled(page);
	await go(page, '#/new-tier');
	await page.getByLabel('Name').fill('slow');
	held = await hold(page, 'PUT', '/v2.0/all/tiers/slow');
	await twice(page, page.getByRole('button', { name: 'Save' }));
	await eventually(() => held.count() > 0, 'a tier is being made');
	await held.release();
	await until(page, () => location.hash === '#/tiers/slow');
	is(held.count(), 1, 'by one request, too');
	await settled(page);
}

// ---- the editor

async function editor(page) {
	const sent = '{ "data": { "color": "blue" } }';
	await go(page, '#/t/acme/r/namespaces/default/configmaps/app');
	await area(page).fill(sent);
	const held = await hold(page, 'PUT', map('app'));
	await twice(page, page.getByRole('button', { name: 'Save' }));
	await eventually(() => held.count() > 0, 'a document is being saved');
	await page.evaluate(() => document.querySelector('textarea.document').focus());
	await page.keyboard.type('more');
	is(await area(page).inputValue(), sent, 'meanwhile nothing can be typed that would be lost');
	await held.release();
	await toast(page, 'Saved.');
	await settled(page);
	is(held.count(), 1, 'it was saved once');
	await area(page).fill('{ "data": { "color": "green" } }');

	await change(page, 'PUT', map('app'), { data: { color: 'blue', size: 'large' } });
	await page.getByRole('button', { name: 'Save' }).click();
	await page.locator('.conflict').waitFor();
	await area(page).fill('{ "data": { "color": "green", ');
	await page.getByRole('button', { name: 'Take both changes' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'Not taken together' }).isVisible(), 'what is no JSON can’t be taken together with another change');
	await area(page).fill('{ "data": { "color": "green", "place": "here" } }');
	await page.getByRole('button', { name: 'Take both changes' }).click();
	is(JSON.stringify(JSON.parse(await area(page).inputValue()).data), '{"color":"green","size":"large","place":"here"}', 'both changes have what was typed since, too');
	await page.getByRole('button', { name: 'Revert' }).click();
}

async function question(page) {
	const app = '#/t/acme/r/namespaces/default/configmaps/app';
	await go(page, app);
	await area(page).fill('{}');
	await page.evaluate(() => location.hash = '#/t/acme/changes');
	await page.getByRole('dialog').first().waitFor();
	await page.evaluate(() => location.hash = '#/t/acme/trash');
	await until(page, (here) => location.hash === here, app);
	is(await page.getByRole('dialog').count(), 1, 'one question, however often somebody wants to leave');
	await page.getByRole('button', { name: 'Leave it' }).click();
	await until(page, () => document.querySelector('main').dataset.screen === '#/t/acme/trash');
	check(true, 'about where he wanted to last');
	await settled(page);
}

async function newResource(page) {
	await go(page, '#/new/acme/configmaps');
	await page.getByLabel('Name', { exact: true }).fill('one');
	const held = await hold(page, 'PUT', map('one'));
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => held.count() > 0, 'a resource is being made');
	await page.getByLabel('Name', { exact: true }).fill('two');
	await held.release();
	await until(page, () => location.hash.startsWith('#/t/acme/r/'));
	is(await hash(page), '#/t/acme/r/namespaces/default/configmaps/one', 'it is shown under the name that it has');
	await settled(page);
}

async function trash(page) {
	const failing = (route) => route.fulfill({ status: 503, body: '' });
	await page.route((address) => address.pathname === '/v2.0/acme/persistentvolumes', failing);
	await go(page, '#/t/acme/trash');
	await eventually(() => page.getByRole('alert').isVisible(), 'what of the trash can’t be read is told');
	is(await page.locator('.list-status').textContent(), '1 deleted, and not purged yet', 'and how much there is of the rest');
	await page.unrouteAll();
}

// ---- undo and move

async function undo(page) {
	const request = await change(page, 'PUT', map('web'), { data: { color: 'pink' } }), path = `/v2.0/acme/changes/${request}/undo`;
	await go(page, `#/undo/acme/${request}`);
	let held = await hold(page, 'POST', path);
	await page.getByRole('button', { name: 'Take it back' }).click();
	await eventually(() => held.count() > 0, 'a change is being taken back');
	await go(page, '#/t/acme/trash');
	await held.release();
	await toast(page, 'It was taken back.');
	is(await hash(page), '#/t/acme/trash', 'and who is elsewhere meanwhile stays there');

	// In the background, and for a while nobody knows how far it is.
	const again = await change(page, 'PUT', map('web'), { data: { color: 'black' } });
	await go(page, `#/undo/acme/${again}`);
	held = await hold(page, 'POST', `/v2.0/acme/changes/${again}/undo`, { status: 202, headers: { Location: `${service}/v2.0/acme/status-of-it` }, body: '' });
	let answer = { status: 503, body: '' };
	await page.route((address) => address.pathname === '/v2.0/acme/status-of-it', (route) => route.fulfill(answer));
	await page.getByRole('button', { name: 'Take it back' }).click();
	await eventually(() => held.count() > 0, 'it goes on in the background');
	await held.release();
	await eventually(() => page.getByText('can’t be read at the moment').isVisible(), 'that its status can’t be read is no failure');
	answer = { status: 200, contentType: 'application/json', body: '{"move":{"state":"running","moved":7}}' };
	await eventually(() => page.getByText('running, 7 done').isVisible(), 'it is followed again');
	answer = { status: 200, contentType: 'application/json', body: '{"move":{"state":"failed","detail":"for a test"}}' };
	await eventually(() => page.getByRole('alert').filter({ hasText: 'for a test' }).isVisible(), 'until it ends');
	await page.unrouteAll();

	// When it is done, its status leads to where things are; somebody has deleted them since.
	await go(page, '#/t/acme/changes');
	await go(page, `#/undo/acme/${again}`);
	held = await hold(page, 'POST', `/v2.0/acme/changes/${again}/undo`, { status: 202, headers: { Location: `${service}/v2.0/acme/status-of-it` }, body: '' });
	await page.route((address) => address.pathname === '/v2.0/acme/status-of-it', (route) => route.fulfill({ status: 303, headers: { Location: `${service}${map('old')}` }, body: '' }));
	await page.getByRole('button', { name: 'Take it back' }).click();
	await held.release();
	await toast(page, 'It was taken back.');
	await page.unrouteAll();
	await settled(page);
}

async function moves(page) {
	await go(page, '#/move/acme');
	const late = await hold(page, 'GET', '/v2.0/acme/action/move?dest=globex'), preview = page.getByRole('button', { name: 'Preview' });
	await page.getByLabel('To the tenant').fill('globex');
	await preview.click();
	await eventually(() => late.count() > 0, 'a preview takes long');
	await page.getByLabel('To the tenant').fill('initech');
	await preview.click();
	const move = page.getByRole('button', { name: /^Move \d+ resources to/ });
	await move.waitFor();
	await Promise.all([page.waitForResponse((response) => response.url().includes('dest=globex')).then((response) => response.finished()), late.release()]);
	await change(page, 'GET', '/v2.0/acme'); // the page has had the answer by the time it has this one
	is(await page.locator('.blockers').count(), 0, 'the newest preview is shown, in which nothing is in the way, whichever comes last');

	await page.getByLabel('To the tenant').fill('globex');
	await change(page, 'PUT', map('late'), { data: {} });
	await move.click();
	await page.locator('.changed').waitFor();
	check(/to initech$/.test(await move.textContent()), 'what changed is that of the same move, whatever is typed by then', await move.textContent());
	check(/configmaps\/late came to it/.test(await page.locator('.changed').textContent()), 'with the difference');
	is(await page.locator('.route strong').last().textContent(), 'initech', 'and its tenant');
}

// ---- the session

async function leaving(page) {
	await page.route((address) => address.pathname === '/session', (route) => route.request().method() === 'DELETE' ? route.fulfill({ status: 503, body: '' }) : route.continue());
	await page.locator('header.top .account button').last().click();
	await page.getByRole('button', { name: 'Sign out everywhere' }).click();
	await eventually(() => page.getByRole('dialog').getByRole('alert').filter({ hasText: 'You are not signed out everywhere' }).isVisible(), 'whoever is not signed out is told');
	await page.unrouteAll();
	await page.context().clearCookies();
	await page.getByRole('button', { name: 'Sign out everywhere' }).click();
	const again = page.getByRole('dialog', { name: 'Sign in again' });
	await again.getByLabel('Token').fill(settings.boss);
	await again.getByRole('button', { name: 'Sign in' }).click();
	await page.locator('.welcome').getByLabel('Token').waitFor();
	check(true, 'and can try again; if this session has ended, the others are ended by a new one');
	await page.getByLabel('Token').fill('“abc”');
	await page.getByRole('button', { name: 'Sign in' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'This is not a token' }).isVisible(), 'a token with other quotes about it is none');
}

await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.boss);
	for (const play of [token, webhooks, editor, question, newResource, trash, undo, leaving])
		await play(window);
});
await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, url, settings.operator);
	for (const play of [tenantsAndTiers, moves])
		await play(window);
});
