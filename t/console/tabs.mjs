// SPDX-License-Identifier: Apache-2.0
// The tabs of a tenant beside its resources.
import { readFileSync } from 'node:fs';
import { browse, check, eventually, go, is, picture, settings, settled, signIn, until } from './harness.mjs';

const { url, service } = settings;
const title = (page) => page.locator('h1').textContent();
const tabs = async (page) => (await page.locator('nav.tabs a').allTextContents()).join();
const rows = (page, label) => page.getByRole('table', { name: label, exact: true }).locator('.list-space .list-row');
const texts = async (locator) => (await locator.allTextContents()).join('\n');

async function lookAtUsage(page) {
	await go(page, '#/t/acme/usage');
	await page.locator('.chart').waitFor();
	const table = await page.locator('.chart table').textContent();
	check(/configmaps/.test(table) && /persistentvolumes/.test(table), 'usage by type', table);
	is(await page.locator('.chart rect.bar-part-1').count(), 21, 'as a chart, with a bar for each day on which there was something');
	check(await page.locator('.chart tbody tr').count() >= 22, 'and a place for the day on which there was nothing', await page.locator('.chart tbody tr').count());
	await picture(page, 'usage');
	check(/never change/.test(await page.locator('main').textContent()), 'with the end of what is closed');
	await page.getByLabel('Shown').selectOption('hours');
	await eventually(async () => /Resource-hours/.test(await page.locator('.chart caption').textContent()), 'in resource-hours');
	await page.getByLabel('Time').selectOption('day');
	await eventually(async () => /configmaps/.test(await page.locator('.chart table').textContent()), 'of the last day');
	const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as CSV' }).click()]);
	const csv = readFileSync(await download.path(), 'utf8');
	check(/^"?tenant"?,/.test(csv) && /acme,.*configmaps/.test(csv), 'and exported as CSV', csv.slice(0, 200));
	await go(page, '#/tenants');
	await page.locator('.ranks').waitFor();
	check(/acme/.test(await page.locator('.ranks').textContent()), 'the tenants’ screen tells who had most');
}

async function moveOneAway(page) {
	await page.evaluate(async () => {
		const path = '/v2.0/acme/persistentvolumes/disk-1/action/move?dest=globex', headers = { 'X-Tenure-Console': '1', Accept: 'application/json' };
		const preview = await fetch(path, { headers });
		await fetch(path, { method: 'POST', headers: { ...headers, 'If-Match': preview.headers.get('etag') } });
	});
	await go(page, '#/t/acme/moves');
	await settled(page);
	check(/acme.*globex.*disk-1.*done/.test(await texts(rows(page, 'moves of acme'))), 'moves of a tenant', await texts(rows(page, 'moves of acme')));
	check(/disk-1.*globex.*never/.test(await texts(rows(page, 'old addresses'))), 'and the old addresses that they left', await texts(rows(page, 'old addresses')));
	await page.getByRole('button', { name: 'Set when persistentvolumes/disk-1 ends' }).click();
	await page.getByRole('dialog').getByLabel('Ends').fill('2099-01-02T03:04');
	await page.getByRole('dialog').getByRole('button', { name: 'Set' }).click();
	await eventually(async () => /in 7\d years/.test(await texts(rows(page, 'old addresses'))), 'an old address may end at a time');
	await page.getByRole('button', { name: 'End persistentvolumes/disk-1' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'End it' }).click();
	await eventually(async () => await page.getByText('No resource moved away.').isVisible(), 'or at once');
	await page.getByRole('link', { name: /^Undo move/ }).first().click();
	await eventually(async () => /moves back/.test(await page.locator('.undone').textContent()), 'a move is shown as its undo would take it back');
	await page.getByRole('button', { name: 'Take it back' }).click();
	await eventually(async () => /disk-1/.test(await title(page)) || /Changes/.test(await page.locator('nav.tabs [aria-current]').textContent()), 'and is taken back');
	is(await page.evaluate(() => fetch('/v2.0/acme/persistentvolumes/disk-1', { headers: { 'X-Tenure-Console': '1' }, redirect: 'manual' }).then((answer) => answer.status)), 200, 'the resource is where it was');
}

// Leaves a screen on which something was typed.
async function leaveIt(page, to) {
	await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave it' }).click();
	await until(page, (hash) => document.querySelector('main').dataset.screen === hash, to);
	await settled(page);
}

// A colleague moves resources whose screens are open: nothing is done to what they are now.
async function movedMeanwhile(page) {
	const api = (...call) => page.evaluate(([method, path, body]) => fetch(`/v2.0/${path}`, { method, body, redirect: 'manual',
		headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json', Prefer: 'return=minimal' } }).then((answer) => answer.status), call);
	const moveAway = async (name) => is(await api('POST', `acme/persistentvolumes/${name}/action/move?dest=globex`), 204, `${name} moves to another tenant`);
	const alert = (what) => page.getByRole('alert').filter({ hasText: what });
	for (const name of ['deleted', 'stepped', 'edited'])
		await api('PUT', `acme/persistentvolumes/${name}`, '{}');

	await go(page, '#/t/acme/r/persistentvolumes/deleted');
	await moveAway('deleted');
	await page.getByRole('button', { name: 'Delete' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await eventually(() => alert('Not deleted').isVisible(), 'whoever wants to delete it is told');
	check(/moved to another tenant/.test(await alert('Not deleted').textContent()), 'why not', await alert('Not deleted').textContent());
	is(await api('GET', 'globex/persistentvolumes/deleted'), 200, 'it is still there');

	await go(page, '#/move/acme/persistentvolumes/stepped');
	await page.getByLabel('To the tenant').fill('initech');
	await page.getByRole('button', { name: 'Preview' }).click();
	const go_ = page.getByRole('button', { name: 'Move 1 resource to initech' });
	await go_.waitFor();
	await moveAway('stepped');
	await go_.click();
	await eventually(() => alert('persistentvolumes/stepped has moved to globex already').isVisible(), 'so is who wants to move it on');
	is(await page.getByRole('heading', { name: '3. Moved' }).count(), 0, 'and not that it was moved');
	is(await api('GET', 'initech/persistentvolumes/stepped'), 404, 'as it was not');
	await page.getByRole('button', { name: 'Preview' }).click();
	await eventually(() => alert('has moved to globex already').isVisible(), 'there is no preview of it');
	await page.getByRole('link', { name: 'Move it from there' }).click();
	await until(page, () => document.querySelector('main').dataset.screen === '#/move/globex/persistentvolumes/stepped');
	check(true, 'but a way to the one of where it is');
	await page.getByLabel('To the tenant').fill('initech');
	await page.getByRole('button', { name: 'Preview' }).click();
	await go_.click();
	await eventually(() => page.getByRole('heading', { name: '3. Moved' }).isVisible(), 'which moves it');
	is(await api('GET', 'initech/persistentvolumes/stepped'), 200, 'really');

	await go(page, '#/t/acme/r/persistentvolumes/edited');
	await page.getByLabel(/^Document of/).fill('{"metadata": {"labels": {"typed": "yes"}}}');
	await moveAway('edited');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => alert('Not saved: it has moved to globex').isVisible(), 'who has changed its document is told where it is');
	is(await page.locator('.conflict').count(), 0, 'and nothing of differences');
	await page.getByRole('link', { name: 'See it there' }).click();
	await leaveIt(page, '#/t/globex/r/persistentvolumes/edited');
	check(!(await page.getByLabel(/^Document of/).inputValue()).includes('typed'), 'there it is as it was');
}

// A definition may be nested deeper than any other document, up to max_depth of the service, and its history and undo have it within others.
async function deepDocument(page) {
	await go(page, '#/t/globex/r/customresourcedefinitions.apiextensions.k8s.io/deeps.example.com');
	check((await page.getByLabel(/^Document of/).inputValue()).includes('deepest'), 'a document that is nested deeply is shown');
	await eventually(async () => await page.locator('.versions summary').count() === 2, 'so is its history');
	await page.locator('.versions summary').first().click();
	await eventually(async () => /after: the deepest/.test(await page.locator('.versions .differences').first().textContent()), 'with what was changed');
	await page.locator('.versions').getByRole('link', { name: 'Undo' }).first().click();
	await eventually(async () => /before: the deepest/.test(await page.locator('.undone').textContent()), 'and its undo');
}

// What a change replaced is kept for a while.
async function unknownContent(page) {
	await go(page, `#/undo/acme/${settings.unkept}`);
	await eventually(() => page.locator('.undone').getByText('What it was is not kept any more.').isVisible(), 'what can’t be restored any more is told so');
	is(await page.locator('.undone .differences').count(), 0, 'and not shown as if nothing would be left');
	check(await page.getByRole('button', { name: 'Take it back' }).isDisabled(), 'nor is it taken back');
}

// A namespace with very much in it was deleted by mistake.
async function takeMuchBack(page) {
	await go(page, `#/undo/initech/${settings.deletion}`);
	await eventually(async () => /namespaces\/big is brought back/.test((await page.locator('.undone').first().textContent()).replace(/\s+/g, ' ')), 'what went with a namespace is shown after it');
	is(await page.locator('.undone').count(), 100, 'as far as it is shown');
	await page.getByRole('button', { name: 'Take it back' }).click();
	await eventually(() => page.getByText(/It goes on in the background: (queued|running)/).isVisible(), 'an undo of much is followed while it goes on');
	await eventually(() => page.locator('.toast', { hasText: 'It was taken back.' }).isVisible(), 'to its end');
	is(await page.evaluate(() => fetch('/v2.0/initech/namespaces/big', { headers: { 'X-Tenure-Console': '1' } }).then((answer) => answer.status)), 200, 'and all is back');
}

async function tokens(page) {
	await go(page, '#/t/acme/tokens');
	await page.getByRole('button', { name: 'New token' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('User').fill('bill');
	await dialog.getByLabel('Description').fill('<b>reports</b>');
	await dialog.getByRole('button', { name: 'Make' }).click();
	await dialog.getByLabel('Secret').waitFor();
	const secret = await dialog.getByLabel('Secret').inputValue();
	check(/^[0-9a-f]{12}\..{20,}$/.test(secret), 'a new token is shown once', secret);
	is(await page.evaluate((token) => fetch('/v2.0/acme/configmaps', { headers: { 'X-Auth-Token': token }, credentials: 'omit' }).then((answer) => answer.status), secret), 200, 'and opens the service');
	await dialog.getByRole('button', { name: 'Done' }).click();
	await settled(page);
	check(!(await page.content()).includes(secret.split('.')[1]), 'then never again');
	const list = rows(page, 'tokens');
	check(/bill.*reader.*valid.*<b>reports<\/b>/.test(await texts(list)), 'the list has it, with markup as text', await texts(list));
	await page.getByRole('button', { name: `Revoke ${secret.split('.')[0]}` }).click();
	await dialog.getByRole('button', { name: 'Revoke' }).click();
	await eventually(async () => /bill.*revoked/.test(await texts(list)), 'it is revoked');
	await page.getByRole('button', { name: 'New token' }).click();
	await dialog.getByLabel('User').fill('x'.repeat(255));
	await dialog.getByLabel('Ends').fill('2001-01-01T00:00');
	await dialog.getByRole('button', { name: 'Make' }).click();
	await eventually(() => dialog.getByRole('alert').isVisible(), 'what the service refuses is told');
	await dialog.getByRole('button', { name: 'Cancel' }).click();
}

async function webhooks(page) {
	await go(page, '#/t/acme/webhooks');
	check(/chat.*receiver\.invalid/.test(await texts(rows(page, 'webhooks'))), 'webhooks of a tenant');
	await page.getByRole('link', { name: 'New webhook' }).click();
	await page.getByLabel('Name').fill('billing');
	await page.getByLabel('Address').fill('https://billing.invalid/tenure');
	await page.getByLabel('moved', { exact: true }).check();
	await page.getByLabel('Types').fill('configmaps secrets');
	await page.getByRole('button', { name: 'Save' }).click();
	const dialog = page.getByRole('dialog');
	await dialog.getByLabel('Secret').waitFor();
	check(/^whsec_/.test(await dialog.getByLabel('Secret').inputValue()), 'a new one shows its secret once');
	await dialog.getByRole('button', { name: 'Done' }).click();
	await eventually(async () => await title(page) === 'billing', 'then itself');
	await settled(page);
	const now = () => page.evaluate(() => fetch('/v2.0/acme/webhooks/billing', { headers: { 'X-Tenure-Console': '1', Accept: 'application/json' } }).then((answer) => answer.json()));
	is(JSON.stringify([(await now()).verbs, (await now()).types, (await now()).paused]), '[["moved"],["configmaps","secrets"],false]', 'as it was filled in');
	await page.getByLabel(/^paused/).check();
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(async () => /State\s*paused/.test(await page.locator('.facts').textContent()), 'it pauses');
	is(JSON.stringify((await now()).verbs), '["moved"]', 'and stays as it was else');
	await page.evaluate(() => fetch('/v2.0/acme/webhooks/billing', { method: 'PUT', body: '{"url":"https://other.invalid/"}', headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } }));
	await page.getByLabel('Description').fill('mine');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'changed since you read it' }).isVisible(), 'what somebody else changed is not overwritten');
	is((await now()).url, 'https://other.invalid/', 'but stays');
	await go(page, '#/t/acme/webhooks/chat');
	await leaveIt(page, '#/t/acme/webhooks/chat');
	check(true, 'what was typed and not saved is not left unasked');
	is(await page.getByLabel('Description').inputValue(), 'two\nlines', 'a description of several lines');
	await page.getByLabel('Address').fill('https://typed.invalid/');
	await page.getByRole('button', { name: 'Ping' }).click();
	await eventually(async () => /ping/.test(await texts(rows(page, 'deliveries'))), 'a ping stands among the deliveries');
	await page.getByRole('button', { name: 'New secret' }).click();
	await dialog.getByRole('button', { name: 'Make it' }).click();
	await dialog.getByLabel('Secret').waitFor();
	check(/^whsec_/.test(await dialog.getByLabel('Secret').inputValue()), 'another secret');
	await dialog.getByRole('button', { name: 'Done' }).click();
	await eventually(async () => /old secret counts until/.test(await page.locator('.facts').textContent()), 'beside which the old one counts for a while');
	is(await page.getByLabel('Address').inputValue(), 'https://typed.invalid/', 'what was typed before is still there');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.locator('.toast', { hasText: 'Saved.' }).isVisible(), 'and is saved');
	const chat = await page.evaluate(() => fetch('/v2.0/acme/webhooks/chat', { headers: { 'X-Tenure-Console': '1', Accept: 'application/json' } }).then((answer) => answer.json()));
	is(JSON.stringify([chat.url, chat.description]), '["https://typed.invalid/","two\\nlines"]', 'with the description as it was');
	const dead = () => page.evaluate(() => fetch('/v2.0/acme/webhooks/chat', { headers: { 'X-Tenure-Console': '1', Accept: 'application/json' } }).then((answer) => answer.json()).then(({ dead }) => dead));
	await eventually(async () => await dead() === 1, 'the ping is given up');
	await go(page, '#/t/acme/webhooks');
	await go(page, '#/t/acme/webhooks/chat');
	await eventually(async () => /ping\s*given up/.test(await texts(rows(page, 'deliveries'))), 'which is shown');
	is(await page.getByRole('button', { name: /^Send [0-9a-f-]+ again$/ }).count(), 0, '... without a button, as a ping is sent once');
	await page.getByRole('button', { name: 'Send all again' }).click();
	await eventually(() => page.locator('.toast', { hasText: 'Nothing that was given up can be sent again: a ping is sent once.' }).isVisible(), 'nor is it said to be sent again');
	await go(page, '#/t/acme/webhooks/billing');
	await page.getByRole('button', { name: 'Delete' }).click();
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await eventually(async () => !/billing/.test(await texts(rows(page, 'webhooks'))) && /chat/.test(await texts(rows(page, 'webhooks'))), 'it is deleted');
}

async function webhooksOfAll(page) {
	await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
	await eventually(async () => await title(page) === 'Webhooks' && await page.getByText('No webhooks.').isVisible(), 'operators have webhooks of their own');
	await page.getByRole('link', { name: 'New webhook' }).click();
	await page.getByLabel('Name').fill('everything');
	await page.getByLabel('Address').fill('http://insecure.invalid/');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'https' }).isVisible(), 'an address without TLS is refused');
	await page.getByLabel('Address').fill('https://all.invalid/');
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
	await eventually(async () => await title(page) === 'everything', 'one that is told of all tenants');
	await settled(page);
}

await browse({ acceptDownloads: true }, async ({ page }) => {
	const window = await page();
	await signIn(window, url, settings.operator);
	for (const look of [lookAtUsage, moveOneAway, movedMeanwhile, deepDocument, unknownContent, webhooksOfAll])
		await look(window);
});
await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.boss, '#/t/acme');
	is(await tabs(window), 'Resources,Trash,Changes,Usage,Tokens,Webhooks', 'a tenant’s admin has the tabs of his endpoint');
	for (const look of [tokens, webhooks])
		await look(window);
});
await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.member, '#/t/initech');
	await takeMuchBack(window);
});
await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.reader, '#/t/acme');
	check(!/Tokens|Webhooks|Moves/.test(await tabs(window)), 'a reader has none that need more than a reader’s role', await tabs(window));
	await go(window, '#/t/acme/tokens');
	check(/needs the role/.test(await window.locator('main').textContent()), 'nor gets at them by their addresses', await window.locator('main').textContent());
});
