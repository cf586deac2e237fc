// SPDX-License-Identifier: Apache-2.0
// Finding things in lists that are longer than a page: by text and by labels, of resources and tenants; and whose a resource is. What a screen says
// that looked at the first page alone.
import { browse, check, eventually, go, is, settings, settled, signIn } from './harness.mjs';

const { url, service } = settings;
const names = (page) => page.locator('.list-space .list-row > :first-child').allTextContents();
const status = (page) => page.locator('.list-status').textContent();

async function inResources(page) {
	await go(page, '#/t/acme/type/configmaps');
	await settled(page);
	check(/so far/.test(await status(page)), 'the list is longer than what is loaded', await status(page));
	await page.getByLabel('Filter configmaps').fill('C002499');
	await eventually(async () => (await names(page)).join() === 'c002499', 'the service looks through the rest of it');
	await page.getByLabel('Filter configmaps').fill('no-such-name');
	await eventually(async () => /^(?:No configmaps here\.|0 of 2,504 resources)$/.test(await status(page)), 'what is nowhere is not found, by the service or in the whole list');
	await page.getByLabel('Filter configmaps').fill('');
	await eventually(async () => (await names(page))[0] === 'app', 'without a filter all are there again');
	await page.getByLabel('Labels of configmaps').fill('app=web');
	await page.getByLabel('Labels of configmaps').press('Enter');
	await eventually(async () => (await names(page)).join() === 'app,zzz', 'by labels, wherever they stand in the list');
	await page.getByLabel('Filter configmaps').fill('zz');
	await eventually(async () => (await names(page)).join() === 'zzz', 'by both');
	await page.getByLabel('Filter configmaps').fill('');
	await page.getByLabel('Labels of configmaps').fill('app in web');
	await page.getByLabel('Labels of configmaps').press('Enter');
	await eventually(() => page.getByText('is expected behind in and notin').isVisible(), 'a mistake is told');
	await page.getByLabel('Labels of configmaps').fill('app!=web,app');
	await page.getByLabel('Labels of configmaps').press('Enter');
	await eventually(async () => (await names(page)).join() === 'db', 'and can be corrected');
}

async function inTenants(page) {
	await go(page, '#/tenants');
	await settled(page);
	await page.getByLabel('Filter tenants').fill('T-999');
	await eventually(async () => (await names(page)).join() === 't-999', 'a tenant of a later page');
	await page.getByLabel('Which tenants').selectOption('deleted');
	await eventually(async () => (await names(page)).length === 0, 'it is not among the deleted');
	await page.getByLabel('Which tenants').selectOption('active');
	await eventually(async () => (await names(page)).join() === 't-999', 'the filter stays');
}

async function inAll(page) {
	await page.getByRole('link', { name: 'Find', exact: true }).click();
	await page.getByRole('heading', { name: 'Find', level: 1 }).waitFor();
	await page.getByLabel('Name', { exact: true }).fill('c002499');
	await page.getByLabel('Name', { exact: true }).press('Enter');
	await eventually(async () => (await names(page)).join() === 'namespaces/default/configmaps/c002499', 'a resource of whatever tenant, by its name');
	is(await page.locator('.list-space .list-row > :nth-child(2)').textContent(), 'acme', '... and whose it is');
	await page.getByLabel('Name', { exact: true }).fill('nowhere');
	await page.getByLabel('Name', { exact: true }).press('Enter');
	await eventually(async () => (await status(page)) === 'No tenant has such a resource.', 'what no tenant has');
	await page.getByLabel('Name', { exact: true }).fill('');
	await page.getByLabel('Type', { exact: true }).fill('configmaps');
	await page.getByLabel('Labels', { exact: true }).fill('app=db');
	await page.getByRole('button', { name: 'Find', exact: true }).click();
	await eventually(async () => (await names(page)).join() === 'namespaces/default/configmaps/db', 'by type and labels');
	await page.locator('.list-space .list-row > :first-child a').click();
	await page.getByRole('heading', { name: 'db', level: 1 }).waitFor();
	check(true, 'the row leads to the resource');
}

// Answers each page of that path, slowly, with what the function makes of it. Returns a function: how many were asked for.
async function pages(page, path, make) {
	let asked = 0;
	await page.route((address) => address.pathname === path, async (route) => {
		const n = ++asked, answer = await route.fetch({ url: route.request().url().replace(/&n=\d+/, '') }), json = make(await answer.json(), n);
		await new Promise((resolve) => setTimeout(resolve, 50));
		await route.fulfill({ response: answer, json });
	});
	return () => asked;
}

// A list that goes on would load some twenty pages meanwhile; one may have been under way.
async function stays(asked, name) {
	const before = asked();
	await new Promise((resolve) => setTimeout(resolve, 1500));
	check(asked() <= before + 1, name, `${before}, then ${asked()}`);
}

async function inChanges(page) {
	const asked = await pages(page, '/v2.0/acme/changes', (answer, n) =>
		({ changes: Array.from({ length: 100 }, () => answer.changes).flat(), next: `/v2.0/acme/changes?order=newest&limit=500&n=${n}` }));
	const filter = page.getByLabel('Filter changes of acme'), further = page.getByRole('button', { name: 'Look further' });
	await go(page, '#/t/acme/changes');
	await eventually(async () => /^[\d,]+ changes so far$/.test(await status(page)), 'a log of many pages');
	const before = asked();
	await filter.fill('nobody-did-that');
	await eventually(() => further.isVisible(), 'a filter that nothing fits does not load all of it');
	await stays(asked, 'but some pages');
	const some = asked() - before;
	check(some >= 10 && some <= 30, 'which are not few', some);
	await further.click();
	await eventually(() => asked() > before + some, 'and more if they are wanted');
	await filter.fill('zzz');
	await eventually(async () => (await names(page)).length > 0, 'what is there is found');
	is(await further.count(), 0, 'without asking');
	await filter.fill('nobody-did-that');
	await eventually(() => asked() > before + some + 5, 'a list loads on');
	await page.evaluate(() => location.hash = '#/tiers');
	await page.getByRole('heading', { name: 'Tiers', level: 1 }).waitFor();
	await stays(asked, 'until its screen is left');
	await page.unrouteAll({ behavior: 'wait' });
}

// Pages without a match, and always more of them.
async function withoutAnEnd(page) {
	const asked = await pages(page, '/v2.0/all/resources', (answer, n) => ({ resources: [], next: `/v2.0/all/resources?text=x&n=${n}` }));
	await go(page, '#/find');
	await page.getByLabel('Text', { exact: true }).fill('x');
	await page.getByRole('button', { name: 'Find', exact: true }).click();
	await eventually(() => asked() > 3, 'the service is asked on while it found nothing');
	await eventually(() => page.getByRole('button', { name: 'Look further' }).isVisible(), 'then the user');
	await stays(asked, 'and nothing is asked for until he answers');
	await page.unrouteAll({ behavior: 'wait' });
}

async function inTheTrash(page) {
	const there = (name) => page.getByRole('button', { name: `Bring back namespaces/default/configmaps/${name}`, exact: true }), state = page.locator('.list-status');
	await go(page, '#/t/globex/trash');
	await eventually(async () => await state.textContent() === '100 deleted, and not purged yet; there are more', 'a full trash is not said to be all');
	is(await there('g000150').count(), 1, 'what was made last is there at once');
	is(await there('gone').count(), 0, 'what was made first is not');
	await page.getByRole('button', { name: 'More configmaps' }).click();
	await eventually(async () => await state.textContent() === '151 deleted, and not purged yet', 'the rest can be read');
	is(await page.locator('tbody tr').count(), 151, 'each once');
	await there('gone').click();
	await eventually(async () => await state.textContent() === '150 deleted, and not purged yet', 'and comes back');
	await page.route((address) => address.pathname === '/v2.0/globex/configmaps' && address.searchParams.has('deleted'), async (route) => {
		const answer = await route.fetch(), json = await answer.json();
		await route.fulfill({ response: answer, json: { ...json, resources: json.resources.slice(0, 1) } });
	});
	await go(page, '#/t/acme');
	await go(page, '#/t/globex/trash');
	await there('g000150').click();
	await eventually(async () => await state.textContent() === 'There are more.', 'a trash of which there is more to read is not empty');
	await page.unrouteAll();
}

async function onTheDashboard(page) {
	await go(page, '#/');
	const panel = (name) => page.getByRole('region', { name, exact: true });
	await eventually(async () => /Of the first 1,000 tenants by name\./.test(await panel('Largest tenants').textContent()), 'the largest tenants are those of the first ones, and it says so');
	await eventually(async () => /1,000\+ resources/.test(await panel('Moves').textContent()), 'of a move that goes on behind the page at least so many resources are told', await panel('Moves').textContent());
}

await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, url, settings.operator);
	await onTheDashboard(window);
	await inTheTrash(window);
	await inResources(window);
	await inTenants(window);
	await inAll(window);
	await inChanges(window);
	await withoutAnEnd(window);
});
await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.user, '#/t/acme/type/configmaps');
	await settled(window);
	await window.getByLabel('Labels of configmaps').fill('app=db');
	await window.getByLabel('Labels of configmaps').press('Enter');
	await eventually(async () => (await names(window)).join() === 'db', 'a tenant’s user finds things, too');
	is(await window.getByLabel('Labels of configmaps').inputValue(), 'app=db', 'and sees by what');
	is(await window.getByRole('link', { name: 'Find', exact: true }).count(), 0, 'what other tenants have is found by operators alone');
});
