// SPDX-License-Identifier: Apache-2.0
// Resources from a file; tiers; counts by type.
import { browse, check, eventually, go, is, picture, settings, settled, signIn, until } from './harness.mjs';

const { url, service } = settings;
const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const facts = async (page) => (await page.locator('dl.facts div').allTextContents()).join(' ').toLowerCase();
const refusals = (page) => page.locator('table.plain tbody tr').allTextContents();
const get = (page, path) => page.evaluate(async (address) => (await fetch(address, { headers: { 'X-Tenure-Console': '1', Accept: 'application/json' } })).json(), path);

async function preview(page, chosen) {
	await page.getByLabel('File').setInputFiles(chosen);
	await page.getByRole('button', { name: 'See what it would do' }).click();
}

// A large file takes a while to be read: until it is, no other can be chosen.
async function whileItIsRead(page) {
	await page.evaluate(() => {
		const text = File.prototype.text ?? Blob.prototype.text;
		File.prototype.text = function () {
			File.prototype.text = text;
			return new Promise((resolve) => globalThis.readOn = () => resolve(text.call(this)));
		};
	});
	await preview(page, file('slow.csv', 'name,name\na,b\n'));
	for (const what of ['File', 'Type', 'If it is there already'])
		check(await page.getByLabel(what).isDisabled(), `while a file is read, nothing else is chosen: ${what}`);
	check(await page.getByRole('button', { name: 'See what it would do' }).isDisabled(), 'nor is it read twice');
	await page.evaluate(() => readOn());
	await eventually(() => page.getByText(/slow.csv: .*“metadata.name” is there twice/).isVisible(), 'then it is told');
	check(await page.getByRole('button', { name: 'Import' }).isDisabled(), '... and not imported');
	await preview(page, file('rows.csv', 'name,data.color\nblue,blue\n'));
	await eventually(() => page.getByText('1 rows were compared').isVisible(), 'and another one is read');
	await preview(page, file('rows.csv', 'name,data.color\nblue,blue\nbrown,\n'));
	await eventually(() => page.getByText('2 rows were compared').isVisible(), 'as it is now');
}

async function fromCsv(page) {
	await page.getByRole('link', { name: 'Import' }).click();
	await settled(page);
	await page.getByRole('button', { name: 'See what it would do' }).click();
	await eventually(() => page.getByText('Choose a file first').isVisible(), 'without a file that is said');
	await preview(page, file('empty.csv', ''));
	await eventually(() => page.getByText('empty.csv: the file is empty').isVisible(), 'an empty file is told');
	await preview(page, file('twice.csv', 'name,name\na,b\n'));
	await eventually(() => page.getByText('column “metadata.name” is there twice').isVisible(), 'and a first line that makes no sense');
	const csv = '\ufeffname,data.color,data.n:,labels\r\nred,"a ""red"", one","""7""","{""app"":""web""}"\r\n\r\nblue,blue,,\nweb-1,green,,\nsame,,"""1""",\nbad,x,{,\nshort,x\n,x,,\n'
		+ '"<img src=x onerror=alert(1)>",x,,\n';
	await preview(page, file('rows.csv', csv));
	await page.getByText('which type?').first().waitFor();
	await page.getByLabel('Type').selectOption('configmaps');
	is(await page.locator('table.plain tbody tr').count(), 0, 'another choice forgets the preview');
	check(await page.getByRole('button', { name: 'Import' }).isDisabled(), 'nothing is imported unseen');
	await page.getByRole('button', { name: 'See what it would do' }).click();
	await eventually(() => page.getByText('8 rows were compared').isVisible(), 'a preview');
	const told = await facts(page), why = (await refusals(page)).join('\n');
	check(/to be created3.*to be replaced0.*there already1.*refused4/.test(told), 'what would be done', told);
	check(/5.*web-1.*already, with other content/.test(why) && /7.*column data\.n/.test(why) && /8.*the row has 2 cells/.test(why) && /9.*no “name”/.test(why), 'each row that is refused, with its line and the reason', why);
	is(Object.keys((await get(page, '/v2.0/acme/namespaces/default/configmaps/red')).data ?? {}).length, 0, 'nothing was done');
	await picture(page, 'import');
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(() => page.getByText('8 rows were imported or refused').isVisible(), 'then it is done');
	check(/created3.*replaced0.*there already1.*refused4/.test(await facts(page)), 'as it was shown', await facts(page));
	const red = await get(page, '/v2.0/acme/namespaces/default/configmaps/red');
	is(JSON.stringify([red.data, red.metadata.labels]), '[{"color":"a \\"red\\", one","n":"7"},{"app":"web"}]', 'what the file says');
	is(await page.locator('img').count(), 0, 'a name with markup is text');
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(async () => /created0.*there already4/.test(await facts(page)), 'imported again nothing changes');
	await whileItIsRead(page);
}

async function fromJson(page) {
	await go(page, '#/import/acme');
	const { etag } = (await get(page, '/v2.0/acme/namespaces/default/configmaps/web-1')).metadata;
	const rows = [{ kind: 'ConfigMap', metadata: { name: 'web-1', etag }, data: { big: 'changed' } }, { kind: 'ConfigMap', metadata: { name: 'red', etag }, data: {} },
		{ kind: 'ConfigMap', metadata: { name: 'new', labels: { a: 7 } } }, 5];
	await page.getByLabel('If it is there already').selectOption('guarded');
	await preview(page, file('rows.json', JSON.stringify({ items: rows })));
	await eventually(async () => /to be created0.*to be replaced1.*there already0.*refused3/.test(await facts(page)), 'a list of JSON, with etags', await facts(page));
	check((await refusals(page)).some((line) => /red.*changed since the row’s etag/.test(line)), 'a stale one is refused', (await refusals(page)).join('\n'));
	check((await refusals(page)).some((line) => /3.*new.*label/i.test(line)), 'and what the service would refuse', (await refusals(page)).join('\n'));
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(() => page.getByText('4 rows were imported or refused').isVisible(), 'then it is done');
	check(/^created0.*replaced1.*refused3/.test(await facts(page)), 'what the service refuses is counted', await facts(page));
	check((await refusals(page)).some((line) => /3.*new.*label/i.test(line)), 'with what it says', (await refusals(page)).join('\n'));
	is((await get(page, '/v2.0/acme/namespaces/default/configmaps/web-1')).data.big, 'changed', 'the guarded one was replaced');
	const made = ['{"kind":"ConfigMap","metadata":{"name":"made","generation":4,"traits":["HW_CPU_X86_VMX"]}}',
		'{"metadata":{"name":"hammer","namespace":"default","type":"tools.example.com"},"spec":{"color":"red","unknown":1}}'].join('\n');
	await page.getByLabel('Type').selectOption('');
	for (const [rule, counts] of [['create', /^created2.*replaced0.*there already0.*refused0/], ['guarded', /^created0.*there already2.*refused0/], ['create', /^created0.*there already2.*refused0/],
		['replace', /^created0.*replaced0.*there already2.*refused0/]]) {
		await page.getByLabel('If it is there already').selectOption(rule);
		await preview(page, file('made.ndjson', made));
		await eventually(() => page.getByText('2 rows were compared').isVisible(), `what the service completes and prunes: ${rule}`);
		if (!await page.getByRole('button', { name: 'Import' }).isDisabled()) {
			await page.getByRole('button', { name: 'Import' }).click();
			await eventually(() => page.getByText('2 rows were imported or refused').isVisible(), '... is imported');
			check(await page.getByText('The traits of 1 row are left out').isVisible(), '... and that traits are left out is told', await page.locator('.list-status').textContent());
		}
		check(counts.test((await facts(page)).replace(/to be /g, '')), '... or there already', await facts(page));
	}
	const hammer = '{"metadata":{"name":"hammer","namespace":"default","type":"tools.example.com"},"spec":{"color":"blue"}}';
	await page.getByLabel('If it is there already').selectOption('create');
	await preview(page, file('hammer.ndjson', hammer));
	await eventually(async () => (await refusals(page)).some((line) => /hammer.*already, with other content/.test(line)), '... but not other content', await facts(page));
	const below = ['{"kind":"Namespace","metadata":{"name":"later"}}', '{"kind":"ConfigMap","metadata":{"name":"in","namespace":"later"}}',
		'{"kind":"ConfigMap","metadata":{"name":"in","namespace":"later"},"data":{"a":"1"}}', '{"kind":"ConfigMap","metadata":{"name":"in","namespace":"never"}}'].join('\n');
	await page.getByLabel('Type').selectOption('');
	await page.getByLabel('If it is there already').selectOption('create');
	await preview(page, file('below.ndjson', below));
	await eventually(async () => /to be created2.*to be replaced0.*there already0.*refused2/.test(await facts(page)), 'what a row needs, one above makes', await facts(page));
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(() => page.getByText('4 rows were imported or refused').isVisible(), 'and then has made');
	check(/^created2.*replaced0.*there already0.*refused2/.test(await facts(page)), 'as it was told', await facts(page));
	await page.getByLabel('If it is there already').selectOption('replace');
	const lines = Array.from({ length: 300 }, (_, i) => JSON.stringify({ kind: 'ConfigMap', metadata: { name: `many-${i}` }, data: { i: `${i}` } })).join('\n');
	await preview(page, file('rows.ndjson', `${lines}\n{"kind":"ConfigMap","metadata":{"name":"red"},"data":{}}\n{"nonsense`));
	await eventually(() => page.getByText('302 rows were compared').isVisible(), 'a document on each line');
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(async () => /created300.*replaced1.*there already0.*refused1/.test(await facts(page)), 'many, and one that replaces', await facts(page));
	await go(page, '#/t/acme');
	const card = page.locator('.types li', { hasText: 'configmaps' }).first();
	await eventually(async () => /307/.test(await card.textContent()), 'the tenant’s screen counts all of them', await card.textContent());
	await eventually(async () => /namespaces2$/.test(await page.locator('.types li', { hasText: 'namespaces' }).first().textContent()), 'and the namespace that each tenant has');
}

// The service goes into maintenance while rows are sent.
async function throughAnOutage(page) {
	await go(page, '#/import/acme');
	const rows = Array.from({ length: 40 }, (_, i) => JSON.stringify({ kind: 'ConfigMap', metadata: { name: `late-${i}` }, data: { i: `${i}` } })).join('\n');
	await preview(page, file('late.ndjson', rows));
	await eventually(() => page.getByText('40 rows were compared').isVisible(), 'a file is looked at');
	let sent = 0;
	const detail = 'the service is in maintenance', away = (route) => route.request().method() !== 'PUT' || ++sent <= 10 ? route.continue()
		: route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify({ detail }) });
	await page.route((address) => address.pathname.startsWith('/v2.0/acme/'), away);
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(() => page.getByText('Stopped after 10 of 40 rows').isVisible(), 'an import stops where the service is not there');
	check(sent <= 14, 'no more than what was under way is sent', sent);
	check(/^created10.*refused0/.test(await facts(page)), 'the rows that are left are not called refused', await facts(page));
	check(await page.getByRole('alert').filter({ hasText: detail }).isVisible(), 'and why is told');
	await page.unrouteAll();
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(() => page.getByText('40 rows were imported or refused').isVisible(), 'run again it goes on');
	check(/^created30.*there already10.*refused0/.test(await facts(page)), 'with those that are left', await facts(page));
}

// What the tool told of each file, and then what came of it here.
async function asTheTool(page) {
	const counts = async () => (await page.locator('dl.facts dd').allTextContents()).join(' ');
	for (const { name, text, type, rule, counts: told } of settings.files) {
		await go(page, '#/t/both');
		await go(page, '#/import/both');
		await page.getByLabel('Type').selectOption(type);
		await page.getByLabel('If it is there already').selectOption(rule);
		await preview(page, file(name, text));
		if (!told) {
			await eventually(() => page.getByRole('alert').filter({ hasText: `${name}: ` }).isVisible(), `${name}: what the tool can’t read is not read here`);
			continue;
		}
		await eventually(() => page.getByText('rows were compared').isVisible(), `${name}: is read here as well`);
		is(await counts(), told.join(' '), '... and the tool’s dry run tells the same');
		if (await page.getByRole('button', { name: 'Import' }).isDisabled())
			continue;
		await page.getByRole('button', { name: 'Import' }).click();
		await eventually(() => page.getByText('rows were imported or refused').isVisible(), '... is imported');
		is(await counts(), told.join(' '), '... and so it comes');
	}
	const { columns, types } = await page.evaluate(async () => {
		const [rows, places] = await Promise.all([import('/console/rows.js'), import('/console/places.js')]);
		return { columns: rows.shortColumns.map(({ name, path, json }) => `${name} ${path} ${json}`),
			types: places.builtIn.map(({ kind, type, namespaced, shortNames }) => [kind, type, namespaced, ...shortNames].join(' ')) };
	});
	is(columns.join('\n'), settings.columns.join('\n'), 'columns of short names are those of the tool');
	is(types.sort().join('\n'), settings.types.join('\n'), 'and so are types');
}

async function aReader(page) {
	await signIn(page, service, settings.reader, '#/t/acme');
	is(await page.getByRole('link', { name: 'Import' }).count(), 0, 'a reader is offered no import');
	await go(page, '#/import/acme');
	check(await page.getByText('or not from you').isVisible(), 'nor by its address');
	await go(page, '#/tiers');
	check(await page.getByText('has no tiers').isVisible(), 'and no tiers');
}

async function tiers(page) {
	await go(page, '#/tenants');
	await page.getByRole('link', { name: 'Tiers' }).click();
	await settled(page);
	check((await page.locator('.list-space .list-row').allTextContents()).some((row) => /bronze1,000/.test(row)), 'the tiers');
	await picture(page, 'tiers');
	await page.getByRole('link', { name: 'New tier' }).click();
	await settled(page);
	await page.getByLabel('Name').fill('<b>"tin"');
	await page.getByLabel('Resources at most').fill('20');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(async () => await page.locator('h1').textContent() === '<b>"tin"', 'a new one');
	await settled(page);
	await page.getByLabel('Resources at most').fill('');
	await page.getByLabel('Description').fill('no end');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(async () => /no limit/.test(await facts(page)), 'is changed', await facts(page));
	await page.getByRole('button', { name: 'Delete' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await eventually(async () => await page.locator('h1').textContent() === 'Tiers', 'and deleted');
	await settled(page);
	await go(page, '#/tiers/standard');
	check(/tenants.*[1-9]/.test(await facts(page)), 'how many tenants one has', await facts(page));
	await page.getByRole('button', { name: 'Delete' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'default_tier' }).isVisible(), 'one that is needed stays, and why');
	await page.evaluate(() => fetch('/v2.0/all/tiers/silver', { method: 'PUT', body: '{"max_resources":7}', headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } }));
	await go(page, '#/tiers/silver');
	await page.evaluate(() => fetch('/v2.0/all/tiers/silver', { method: 'PUT', body: '{"max_resources":8}', headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } }));
	await page.getByLabel('Resources at most').fill('9');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'changed since you read it' }).isVisible(), 'nobody overwrites what he has not seen');
	await go(page, '#/tenants');
	await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave it' }).click();
	await until(page, () => document.querySelector('main').dataset.screen === '#/tenants');
	check(true, 'and is asked before what he typed is lost');
	await settled(page);
	await page.getByRole('button', { name: 'New tenant' }).click();
	await page.getByLabel('Name').fill('silvery');
	await page.getByLabel('Tier', { exact: true }).selectOption('silver');
	await page.getByRole('button', { name: 'Create' }).click();
	await eventually(async () => await page.locator('h1').textContent() === 'silvery', 'a new tenant gets one of them');
	await settled(page);
}

// An import ends with its screen, which nobody leaves unasked.
async function leftMeanwhile(page) {
	await go(page, '#/import/acme');
	await page.getByLabel('Type').selectOption('configmaps');
	await preview(page, file('rows.csv', `name,data.color\n${Array.from({ length: 12 }, (_, i) => `left-${i},red\n`).join('')}`));
	await eventually(() => page.getByText('12 rows were compared').isVisible(), 'twelve rows');
	const held = [], sent = /configmaps\/left-\d+$/;
	await page.route(sent, (route) => held.push(route));
	await page.getByRole('button', { name: 'Import' }).click();
	await eventually(() => held.length === 4, 'of which some are sent');
	const leave = (answer) => page.evaluate((to) => location.hash = to, '#/t/acme')
		.then(() => page.getByRole('dialog', { name: 'Leave the import?' }).getByRole('button', { name: answer }).click());
	await leave('Cancel');
	check(await page.getByRole('button', { name: 'Stop' }).isVisible(), 'who stays is where the import can be stopped');
	await leave('Leave it');
	await settled(page);
	for (const route of held)
		await route.continue();
	await eventually(() => page.locator('.toast', { hasText: '4 of 12 rows were imported' }).isVisible(), 'what was sent is imported');
	is(held.length, 4, 'and no more is sent when the screen was left');
	await page.unroute(sent);
}

await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.user, '#/t/acme');
	for (const look of [fromCsv, fromJson, throughAnOutage, leftMeanwhile])
		await look(window);
	await window.close();
});
await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.both, '#/import/both');
	await asTheTool(window);
});
await browse({}, async ({ page }) => aReader(await page()));
await browse({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: 'dark' }, async ({ page }) => {
	const window = await page();
	await signIn(window, service, settings.user, '#/import/acme');
	await window.getByLabel('Type').selectOption('configmaps');
	await window.getByLabel('File').setInputFiles(file('rows.csv', 'name,data.color\nred,other\nnobody,x\nmore\n'));
	const see = window.getByRole('button', { name: 'See what it would do' });
	await see.focus();
	await window.keyboard.press('Enter');
	await eventually(() => window.getByText('3 rows were compared').isVisible(), 'by keyboard, on a phone');
	is(await window.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, 'which it is not wider than');
	await picture(window, 'import-phone');
});
await browse({}, async ({ page }) => {
	const window = await page();
	await signIn(window, url, settings.operator);
	await tiers(window);
});
