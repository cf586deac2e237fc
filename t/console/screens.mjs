// SPDX-License-Identifier: Apache-2.0
// Each screen once, for each who may see it.
import { browse, check, eventually, go, is, picture, settings, settled, signIn, until } from './harness.mjs';

const { url, service } = settings;
const title = (page) => page.locator('h1').textContent();
const texts = (locator) => locator.allTextContents();

// ---- an operator

async function signingIn(page) {
	await page.goto(`${url}/console/`);
	await page.getByLabel('Token').waitFor();
	await picture(page, 'sign-in');
	await page.getByLabel('Token').fill('no:such:token:at:all');
	await page.getByRole('button', { name: 'Sign in' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'not valid' }).isVisible(), 'a wrong token is told');
	await signIn(page, url, settings.operator);
	is(await page.evaluate(() => document.cookie), '', 'scripts can’t read the cookie');
	is(await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)].join()), 'tenure-theme', 'nothing of the token is kept');
}

async function lookAtDashboard(page) {
	await go(page, '#/');
	is(await title(page), 'Dashboard', 'the dashboard');
	const tiles = (await texts(page.locator('.tile'))).join('\n');
	check(/Tenants\s*4/.test(tiles) && /well/.test(tiles), 'tells of tenants and health', tiles);
	check(await page.locator('.chart rect.bar').count() > 0, 'has a chart of what happened');
	check((await texts(page.locator('.events li'))).some((line) => /updated|created/.test(line)), 'and the last changes');
	await picture(page, 'dashboard');
}

async function lookAtTenants(page) {
	await page.getByRole('link', { name: 'Tenants', exact: true }).click();
	await settled(page);
	const names = () => texts(page.locator('.list-space .list-row > :first-child'));
	is((await names()).join(), 'acme,globex,initech,umbrella', 'all tenants');
	await page.getByLabel('Filter tenants').fill('köln');
	is((await names()).join(), 'umbrella', 'are found by what their metadata say');
	await page.getByLabel('Filter tenants').fill('');
	await picture(page, 'tenants');
	await page.getByRole('button', { name: 'New tenant' }).click();
	await page.getByLabel('Name').fill('acme');
	await page.getByRole('button', { name: 'Create' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'already' }).isVisible(), 'a name that is taken is told');
	await page.getByLabel('Name').fill('wonka');
	await page.getByRole('button', { name: 'Create' }).click();
	await eventually(async () => await title(page) === 'wonka', 'a new tenant');
	await settled(page);
	await go(page, '#/t/wonka/tenant');
	await page.getByRole('button', { name: 'Delete tenant' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await eventually(async () => await title(page) === 'Tenants', 'is deleted');
	await settled(page);
	await page.getByLabel('Which tenants').selectOption('deleted');
	await settled(page);
	is((await names()).join(), 'wonka', 'and stands among the deleted');
	await go(page, '#/t/wonka');
	await page.getByRole('button', { name: /Bring it back/ }).click();
	await eventually(() => page.getByText('Resources by type').isVisible(), 'from where it comes back');
}

async function lookAtTenant(page) {
	await go(page, '#/t/acme');
	const card = page.locator('.types li', { hasText: 'configmaps' }).first();
	check(/14/.test(await card.textContent()), 'resources by type, with counts', await card.textContent());
	await picture(page, 'tenant');
	await card.getByRole('link').click();
	await settled(page);
	is(await page.locator('.list-space .list-row').count(), 14, 'those of a type');
	await page.getByLabel('Filter configmaps').fill('web-1');
	is(await page.locator('.list-space .list-row').count(), 5, 'filtered');
	await go(page, '#/t/acme/changes');
	check(await page.locator('.list-space .list-row').count() > 10, 'its changes');
	check(/^\d+ changes$/.test(await page.locator('.list-status').textContent()), 'how many they are');
	await page.getByRole('link', { name: 'Undo: deleted namespaces/default/configmaps/web-14' }).click();
	await eventually(async () => /web-14 is brought back/.test(await page.locator('.undone').textContent()), 'each leads to its undo');
	await go(page, '#/t/umbrella/tenant');
	check(/gold/.test(await page.getByLabel('Document of tenant umbrella').inputValue()), 'its document');
}

async function lookInTheTrash(page) {
	await go(page, '#/t/acme/trash');
	check((await page.getByRole('table', { name: 'Deleted resources' }).textContent()).includes('configmaps/web-14'), 'the trash has what was deleted');
	await picture(page, 'trash');
	await page.getByRole('button', { name: 'Bring back namespaces/default/configmaps/web-14' }).click();
	await eventually(() => page.getByText('The trash is empty').isVisible(), 'which comes back');
}

async function lookAtResource(page) {
	await go(page, '#/t/acme/r/namespaces/default/configmaps/app');
	const area = page.getByLabel(/^Document of/);
	check((await area.inputValue()).includes('9007199254740993'), 'a document');
	check(!(await area.inputValue()).includes('resourceVersion'), 'without what is the service’s');
	check(await page.getByRole('button', { name: 'Save' }).isDisabled(), 'nothing to save yet');
	await area.fill('{ "data": { "color": "blue" ');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'line 1' }).isVisible(), 'what is no JSON is told, with its place');
	await area.fill('{ "metadata": { "labels": 7 } }');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.getByRole('alert').filter({ hasText: 'Not saved' }).isVisible(), 'what the service refuses is told');
	await area.fill('{ "data": { "color": "teal", "size": "small" } }');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.locator('.toast', { hasText: 'Saved' }).isVisible(), 'a change is saved');
	await settled(page);
	is(await page.locator('.facts dd').nth(1).textContent(), '2', 'its revision is shown');
	const versions = page.locator('.versions .verb');
	await eventually(async () => (await texts(versions)).join() === 'updated,created', 'and stands in the history');
	await versions.first().click();
	await eventually(async () => /data › big.*not there/.test(await page.locator('.version .differences').first().textContent()), 'with what it altered');
	await picture(page, 'resource');
	await area.fill('{ "data": {} }');
	await page.evaluate(() => location.hash = '#/');
	await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
	is(await area.inputValue(), '{ "data": {} }', 'nobody loses what was typed by a click');
	await page.getByRole('button', { name: 'Revert' }).click();
	await page.getByRole('link', { name: 'Undo' }).first().click();
	await eventually(async () => /data › color.*"teal".*"blue"/.test(await page.locator('.undone').textContent()), 'an undo shows what is and what would be restored');
	await picture(page, 'undo');
	await page.evaluate(() => fetch('/v2.0/acme/namespaces/default/configmaps/app', { method: 'PUT', body: '{"data":{"color":"pink"}}', headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } }));
	await page.getByRole('button', { name: 'Take it back' }).click();
	await eventually(async () => /updated by admin/.test(await page.locator('.note-bad').last().textContent()) && await page.getByRole('button', { name: 'Take it back' }).isDisabled(), 'what was changed since is told, and nothing is taken back');
	await go(page, '#/t/acme/r/namespaces/default/configmaps/app');
	await versions.first().click();
	await page.getByRole('link', { name: 'Undo' }).first().click();
	await page.getByRole('button', { name: 'Take it back' }).click();
	await eventually(async () => /teal/.test(await area.inputValue()), 'what nothing is in the way of is taken back');
	await settled(page);
}

// A node and a provider of one uid: each has its own history.
async function lookAtNamesakes(page) {
	for (const type of ['nodes.baremetal.openstack.org', 'resourceproviders']) {
		await go(page, `#/t/system/r/${type}/${settings.both}`);
		await eventually(async () => (await texts(page.locator('.versions .verb'))).join() === 'created', `${type} has its history, though another type has a resource of its uid`);
		is(await page.getByRole('alert').count(), 0, 'and nothing is wrong');
	}
}

// They stand beside the document, which has what its PUT sets.
async function lookAtTraits(page) {
	const have = (...traits) => page.evaluate((body) => fetch('/v2.0/acme/namespaces/default/configmaps/web-2/traits', { method: 'PUT', body,
		headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } }), JSON.stringify({ traits }));
	const area = page.getByLabel(/^Document of/);
	await have('HW_CPU_X86_VMX', 'HW_CPU_X86_AVX');
	await go(page, '#/t/acme/r/namespaces/default/configmaps/web-2');
	check(/TraitsHW_CPU_X86_AVX, HW_CPU_X86_VMX/.test(await page.locator('dl.facts').textContent()), 'traits are shown', await page.locator('dl.facts').textContent());
	check(!(await area.inputValue()).includes('HW_CPU'), 'not in the document');
	await have('HW_CPU_X86_VMX');
	await area.fill('{ "data": { "color": "gray" } }');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(() => page.getByText('What was changed is not in the document').isVisible(), 'a change of the traits alone is told as such');
	await page.getByRole('button', { name: 'Take both changes' }).click();
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(async () => /TraitsHW_CPU_X86_VMX$/.test(await page.locator('dl.facts').textContent()), 'and then both are there');
	await settled(page);
}

async function makeOne(page) {
	await go(page, '#/new/acme/configmaps');
	await page.getByLabel('Name', { exact: true }).fill('fresh');
	await page.getByRole('button', { name: 'Save' }).click();
	await eventually(async () => await title(page) === 'fresh', 'a new resource');
	await settled(page);
	await page.getByRole('button', { name: 'Delete' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await eventually(() => page.getByText('configmaps/fresh').first().isVisible(), 'goes to the trash');
	await settled(page);
}

async function lookAtAudit(page) {
	await page.getByRole('link', { name: 'Audit', exact: true }).click();
	await settled(page);
	await picture(page, 'audit');
	await page.getByLabel('Did').selectOption('deleted');
	await page.getByRole('button', { name: 'Show' }).click();
	await settled(page);
	is([...new Set(await texts(page.locator('.list-space .verb')))].join(), 'deleted', 'changes of one kind');
	await page.getByLabel('Who').fill('ann');
	await page.getByRole('button', { name: 'Show' }).click();
	await settled(page);
	is(await page.locator('.list-space .list-row').count(), 1, 'by one user');
	await page.getByLabel('Who').fill('nobody at all');
	await page.getByRole('button', { name: 'Show' }).click();
	await settled(page);
	check(await page.getByText('No change fits').isVisible(), 'none is said as well');
}

// One resource; and a namespace with what is in it.
async function moveOne(page) {
	await page.evaluate(async () => {
		for (const path of ['namespaces/side', 'namespaces/side/configmaps/inner'])
			await fetch(`/v2.0/acme/${path}`, { method: 'PUT', body: '{}', headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } });
	});
	for (const [what, last] of [['persistentvolumes/disk-1', 'persistentvolumes/disk-1'], ['namespaces/side', 'namespaces/side/configmaps/inner']]) {
		await go(page, `#/move/acme/${what}`);
		await page.getByLabel('To the tenant').fill('globex');
		await page.getByRole('button', { name: 'Preview' }).click();
		await page.getByRole('button', { name: /^Move \d+ resources? to globex/ }).click();
		await eventually(() => page.getByRole('heading', { name: '3. Moved' }).isVisible(), `${what} alone is moved, and the page says so`);
		const addresses = await page.locator('.addresses').allTextContents();
		check(addresses.join().includes(`/v2.0/acme/${last}/v2.0/globex/${last}`), 'its old address leads to the new one', addresses.join());
	}
}

async function moveAll(page) {
	await go(page, '#/move/acme');
	await page.getByLabel('To the tenant').fill('globex');
	await page.getByRole('button', { name: 'Preview' }).click();
	await page.locator('.blockers').waitFor();
	check(/web-3/.test(await page.locator('.blockers').textContent()), 'a preview shows what is in the way', await page.locator('.blockers').textContent());
	check(await page.getByRole('button', { name: 'Can’t be moved' }).isDisabled(), 'and does not let it be moved');
	await picture(page, 'move-blocked');
	await page.getByLabel('To the tenant').fill('initech');
	await page.getByRole('button', { name: 'Preview' }).click();
	const go_ = page.getByRole('button', { name: /^Move \d+ resources to initech/ });
	await go_.waitFor();
	await page.evaluate(() => fetch('/v2.0/acme/namespaces/default/configmaps/late', { method: 'PUT', body: '{}', headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } }));
	await go_.click();
	await page.locator('.changed').waitFor();
	check(/configmaps\/late came to it/.test(await page.locator('.changed').textContent()), 'what changed since is shown, and nothing was moved', await page.locator('.changed').textContent());
	await picture(page, 'move-changed');
	await go_.click();
	await eventually(() => page.getByRole('heading', { name: '3. Moved' }).isVisible(), 'then it is moved');
	const addresses = await page.locator('.addresses').textContent();
	check(addresses.includes('/v2.0/acme/namespaces/default/configmaps/app') && addresses.includes('/v2.0/initech/namespaces/default/configmaps/app'), 'old addresses lead to the new ones', addresses);
	await picture(page, 'moved');
	await page.evaluate(() => location.hash = '#/t/acme/r/namespaces/default/configmaps/app');
	await until(page, () => location.hash === '#/t/initech/r/namespaces/default/configmaps/app');
	check(true, 'and so do the console’s');
	await settled(page);
}

// ---- names with markup, and every other character that means something to somebody

const hostile = '<img src=x onerror=alert(1)>"\'&amp;{{7*7}}${7*7}`%2e%3Cscript%3E\u202e\u0007';

async function hostileNames(page) {
	const made = await page.evaluate(async (name) => {
		const send = (path, body) => fetch(path, { method: 'PUT', body: JSON.stringify(body), headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json' } }).then((answer) => answer.status);
		const part = encodeURIComponent(name);
		return [await send(`/v2.0/${part}`, { tenant: { tier: 'gold', metadata: { [name.replace(/[^a-zA-Z]/g, 'x')]: name } } }),
			await send(`/v2.0/${part}/namespaces/${part}`, {}),
			await send(`/v2.0/${part}/namespaces/${part}/configmaps/${part}`, { data: { [name.replace(/[^a-zA-Z]/g, 'x')]: name } }),
			await send(`/v2.0/${part}/persistentvolumes/${part}`, { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: name } } })];
	}, hostile);
	is(made[0], 201, 'a tenant with a hostile name');
	const part = encodeURIComponent(hostile), screens = ['', 'tenants', 'audit', `t/${part}`, `t/${part}/trash`, `t/${part}/changes`, `t/${part}/tenant`,
		`t/${part}/type/configmaps`, `t/${part}/type/namespaces`, `t/${part}/r/namespaces/${part}/configmaps/${part}`, `t/${part}/r/persistentvolumes/${part}`, `move/${part}`, `new/${part}`];
	let seen = 0;
	for (const screen of screens) {
		await go(page, `#/${screen}`);
		const { elements, shown } = await page.evaluate((name) => ({ elements: document.querySelectorAll('img, script:not([src]), main script, iframe').length,
			shown: document.querySelector('main').textContent.includes(name) }), hostile);
		check(elements === 0, `no element of a name: ${screen.slice(0, 20)}`);
		seen += shown ? 1 : 0;
	}
	check(seen >= 6, 'the name is shown as it is', seen);
	await page.evaluate((name) => location.hash = `#/move/${encodeURIComponent(name)}`, hostile);
	await settled(page);
	await page.getByLabel('To the tenant').fill(hostile);
	await page.getByRole('button', { name: 'Preview' }).click();
	await settled(page);
	is(await page.locator('img').count(), 0, 'nor in what the service says of one');
}

// What providers and their consumers are called, as a renaming, a claim and the undo of each show it.
async function hostileProviders(page) {
	const first = '<script>alert(1)</script>', second = '<img src=x onerror=alert(2)>', who = '"><iframe src=x>&lt;b&gt;';
	const provider = await page.evaluate(() => crypto.randomUUID()), consumer = await page.evaluate(() => crypto.randomUUID());
	const ask = (method, path, body) => page.evaluate(async ([method, path, body]) => {
		const answer = await fetch(`/placement${path}`, { method, body: JSON.stringify(body), headers: { 'X-Tenure-Console': '1', 'Content-Type': 'application/json', 'OpenStack-API-Version': 'placement 1.39' } });
		return { status: answer.status, request: answer.headers.get('x-request-id') };
	}, [method, path, body]);
	is((await ask('POST', '/resource_providers', { name: first, uuid: provider })).status, 200, 'a provider with a hostile name');
	const renamed = await ask('PUT', `/resource_providers/${provider}`, { name: second });
	is(renamed.status, 200, 'and another one');
	await ask('PUT', `/resource_providers/${provider}/inventories`, { resource_provider_generation: 0, inventories: { VCPU: { total: 8 } } });
	const claimed = await ask('PUT', `/allocations/${consumer}`, { allocations: { [provider]: { resources: { VCPU: 1 } } }, project_id: who, user_id: who, consumer_generation: null, consumer_type: 'INSTANCE' });
	is(claimed.status, 204, 'a consumer of a hostile project');
	const harmless = async () => await page.evaluate(() => document.querySelectorAll('img, script:not([src]), main script, iframe').length) === 0;
	const shows = async (where, ...texts) => {
		await eventually(async () => {
			const shown = await page.locator(where).allTextContents();
			return texts.every((text) => shown.join('\n').includes(text));
		}, `shows ${texts.join(' and ')}`);
		check(await harmless(), 'as text');
	};
	await go(page, `#/undo/system/${renamed.request}`);
	await shows('.undone', first, second);
	await go(page, `#/undo/system/${claimed.request}`);
	await shows('.undone', JSON.stringify(who));
	await go(page, `#/t/system/r/resourceproviders/${provider}`);
	await eventually(async () => await page.locator('.versions summary').count() === 4, 'its history');
	for (const version of await page.locator('.versions summary').all())
		await version.click();
	await shows('.versions', first, second);
	await go(page, '#/t/system/changes');
	check(await harmless(), 'nor in the list of changes');
	await go(page, '#/t/system/type/resourceproviders');
	check(await harmless(), 'nor in that of providers');
}

// ---- others

async function user(page) {
	await signIn(page, service, settings.user);
	is((await texts(page.locator('header.top nav li'))).join(), 'Dashboard,Resources,Audit', 'a tenant’s user sees what the endpoint offers him');
	await page.getByRole('link', { name: 'Resources' }).click();
	await settled(page);
	is(await title(page), 'acme', 'his own tenant');
	is(await page.getByRole('link', { name: /Move/ }).count(), 0, 'moves nothing');
	await go(page, '#/t/globex');
	check(!/configmaps\s*\d/.test(await page.locator('main').textContent()), 'and nothing of another one');
	await go(page, '#/t/globex/r/namespaces/default/configmaps/web-3');
	is(await title(page), 'Not found', 'as if it did not exist');
	await go(page, '#/tenants');
	is(await title(page), 'Not offered here', 'nor what is not offered');
}

// What an admin of the tenant may do by the rules of a type, and a member not.
async function typesOfAdmins(page, token, isAdmin) {
	const whom = isAdmin ? 'an admin' : 'a member', definitions = 'customresourcedefinitions.apiextensions.k8s.io', nodes = 'nodes.baremetal.openstack.org';
	const offered = async (locator, wanted, name) => is(await locator.count() > 0, wanted, `${whom} ${wanted ? 'is' : 'is not'} offered ${name}`);
	const named = (name) => page.getByRole('button', { name, exact: true });
	await signIn(page, service, token, '#/t/umbrella');
	for (const [resource, changes, deletes] of [[`${definitions}/widgets.example.com`, isAdmin, isAdmin], [`${nodes}/${settings.node}`, true, isAdmin],
		['namespaces/default/configmaps/plain', true, true]]) {
		await go(page, `#/t/umbrella/r/${resource}`);
		await offered(named('Save'), changes, `to save ${resource}`);
		await offered(named('Delete'), deletes, `to delete ${resource}`);
	}
	for (const [type, makes] of [[definitions, isAdmin], [nodes, isAdmin], ['configmaps', true]]) {
		await go(page, `#/t/umbrella/type/${type}`);
		await offered(page.getByRole('link', { name: 'New resource' }), makes, `a new one of ${type}`);
	}
	await go(page, '#/new/umbrella/configmaps');
	await offered(page.getByLabel('Type').locator('option', { hasText: definitions }), isAdmin, 'a new definition');
	await go(page, '#/import/umbrella');
	await offered(page.getByLabel('Type').locator('option', { hasText: definitions }), isAdmin, 'to import definitions');
	await go(page, '#/t/umbrella/trash');
	await eventually(() => page.getByText('3 deleted, and not purged yet').isVisible(), 'the trash');
	for (const [what, recovers] of [['gears', isAdmin], ['nodes', isAdmin], ['configmaps/lost', true]])
		await offered(page.getByRole('button', { name: new RegExp(`^Bring back .*${what}`) }), recovers, `to bring back ${what}`);
	await go(page, '#/t/umbrella/changes');
	for (const [what, undoes] of [['customresourcedefinitions', isAdmin], ['nodes', isAdmin], ['namespaces/default/configmaps', true]])
		await offered(page.getByRole('link', { name: new RegExp(`^Undo: .* ${what}`) }), undoes, `the undo of changes of ${what}`);
	is(await page.getByRole('link', { name: 'Undo: updated the tenant', exact: true }).count(), isAdmin ? 3 : 0, `${whom} is offered the undo of ${isAdmin ? 'each change' : 'no change'} of the policy for types`);
}

const member = (page) => typesOfAdmins(page, settings.member, false);
const chief = (page) => typesOfAdmins(page, settings.chief, true);

async function reader(page) {
	await signIn(page, service, settings.reader, '#/t/acme');
	is(await page.getByRole('link', { name: 'New resource' }).count(), 0, 'a reader is offered no change');
}

async function stranger(page) {
	await page.goto(`${service}/console/#/t/acme`);
	await page.getByLabel('Token').waitFor();
	check(!(await page.content()).includes('configmaps'), 'somebody without a token sees nothing');
	await signIn(page, service, settings.stranger);
	check(/belongs to no tenant/.test(await page.locator('main').textContent()), 'a user without a tenant is told so');
}

await browse({}, async ({ page }) => {
	const window = await page();
	await signingIn(window);
	for (const look of [lookAtDashboard, lookAtTenants, lookAtTenant, lookInTheTrash, lookAtResource, lookAtNamesakes, lookAtTraits, makeOne, lookAtAudit, moveOne, moveAll, hostileNames, hostileProviders])
		await look(window);
	await window.close();
});
for (const play of [user, member, chief, reader, stranger])
	await browse({}, async ({ page }) => play(await page()));
