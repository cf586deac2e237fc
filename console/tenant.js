// SPDX-License-Identifier: Apache-2.0
// One tenant: its resources by type, what is in the trash, what happened, its own document.

import { address, call, get, isMine, isOperator, local, offers, query, takes, typePermits } from './api.js';
import { announce, button, confirm, h, icon, note, number, panel, replace, time } from './dom.js';
import { Editor } from './editor.js';
import { parse, without } from './json.js';
import { pagedList } from './list.js';
import { movesOf } from './forwards.js';
import { changeColumns, changeTarget, reload, resourceOf, resourceScreen, screen, tenantScreen, typesOf } from './places.js';
import { recover } from './resource.js';
import { tokensOf } from './tokens.js';
import { usageOf } from './usage.js';
import { webhooksOf } from './webhooks.js';

const PAGE = 1000, SAMPLE = 100, AT_ONCE = 4;

// ---- the frame of all its screens

const tabs = [
	{ name: 'Resources', at: [], offered: () => offers('listResources') },
	{ name: 'Trash', at: ['trash'], offered: () => offers('listResources') },
	{ name: 'Changes', at: ['changes'], offered: () => offers('listChanges') },
	{ name: 'Usage', at: ['usage'], offered: () => offers('listUsage') },
	{ name: 'Moves', at: ['moves'], offered: () => offers('listMoves') },
	{ name: 'Tokens', at: ['tokens'], offered: () => offers('listTokens') },
	{ name: 'Webhooks', at: ['webhooks'], offered: () => offers('listWebhooks') },
	{ name: 'Tenant', at: ['tenant'], offered: () => offers('getTenant') },
];

function frame(tenant, current, content, tools = []) {
	return {
		title: tenant, crumbs: isOperator() && offers('listTenants') ? [['Tenants', screen('tenants')]] : [],
		tools: [...tools, offers('postMoveAll') ? h('a.button', { href: screen('move', tenant) }, icon('move'), 'Move all') : null],
		tabs: tabs.filter((tab) => tab.offered()).map((tab) => ({ name: tab.name, href: tenantScreen(tenant, ...tab.at), current: tab.name === current })),
		content,
	};
}

const newLink = (tenant, type) => isMine(tenant) && offers('putResource') && typePermits(type, 'create')
	? h('a.button.primary', { href: screen('new', tenant, ...type ? [type] : []) }, 'New resource') : null;
const importLink = (tenant) => isMine(tenant) && offers('putResource') ? h('a.button', { href: screen('import', tenant) }, 'Import') : null;

// ---- resources by type

// How many there are of each type, as the service counts them: Map of type to number. It leaves out the namespace "default", which each
// tenant has, and which the list of namespaces shows.
async function counts(tenant) {
	const all = new Map((await get(address(tenant, 'counts'))).counts.map((count) => [count.type, count.resources]));
	return all.set('namespaces', (all.get('namespaces') ?? 0) + 1);
}

// How many there are of a type, as far as one small page tells, where the endpoint offers no counts.
async function countOf(tenant, type) {
	const answer = await get(query(address(tenant, type), { limit: SAMPLE }));
	return answer.next ? { n: answer.resources.length, more: true } : { n: answer.resources.length, more: false };
}

// Runs work for each item, some at a time.
async function each(items, work) {
	const waiting = [...items];
	await Promise.all(Array.from({ length: AT_ONCE }, async () => {
		while (waiting.length > 0)
			await work(waiting.shift());
	}));
}

// A kind may be broken before each of its words.
const breakable = (kind) => kind.split(/(?<=[a-z])(?=[A-Z])/).flatMap((word) => [h('wbr'), word]);

export async function tenant(name) {
	const types = await typesOf(name);
	const cards = new Map(types.map((type) => [type.type, h('span.number', null, '…')]));
	const grid = h('ul.types', null, types.map((type) => h('li', null, h('a', { href: tenantScreen(name, 'type', type.type) }, h('strong', null, breakable(type.kind)),
		h('span.muted', null, type.type), cards.get(type.type)))));
	const counted = offers('listCounts') ? counts(name) : null;
	each(types, async (type) => {
		const place = cards.get(type.type);
		try {
			const { n, more } = counted ? { n: (await counted).get(type.type) ?? 0, more: false } : await countOf(name, type.type);
			replace(place, `${number(n)}${more ? '+' : ''}`);
			place.closest('li').classList.toggle('none', n === 0);
		} catch {
			replace(place, '–');
		}
	});
	return frame(name, 'Resources', [panel('Resources by type', grid)], [importLink(name), newLink(name)]);
}

export function ofType(name, type) {
	return {
		...frame(name, 'Resources', [pagedList({
			label: type, of: ['resource', 'resources'], key: 'resources', first: query(address(name, type), { limit: PAGE }), nothing: `No ${type} here.`,
			columns: [
				{ title: 'Name', class_: '.grow', cell: (document) => document.metadata.name },
				{ title: 'Namespace', cell: (document) => document.metadata.namespace ?? '' },
				{ title: 'Revision', class_: '.number', wide: true, cell: (document) => document.metadata.resourceVersion ?? '' },
				{ title: 'Created', wide: true, cell: (document) => document.metadata.creationTimestamp ? time(document.metadata.creationTimestamp) : '' },
			],
			href: (document) => resourceScreen(name, resourceOf(document, type)),
			search: takes('listResources', 'labels') ? (wanted) => query(address(name, type), { limit: PAGE, ...wanted }) : undefined,
			matches: (document, text) => `${document.metadata.name}\n${document.metadata.namespace ?? ''}\n${document.metadata.uid}`.toLowerCase().includes(text),
		})], [newLink(name, type)]),
		sub: type, crumbs: [...isOperator() && offers('listTenants') ? [['Tenants', screen('tenants')]] : [], [name, tenantScreen(name)]], title: type,
	};
}

// ---- the trash

// A page of what is in the trash of each type, what was made last before the others, and a button for the next page of it.
export async function trash(name) {
	const types = await typesOf(name), problem = h('div'), rows = h('tbody'), state = h('p.list-status', { role: 'status' }, 'Looking…');
	let n = 0, unread = 0, failed = null; // rows; types that have more than was read
	const tell = () => state.textContent = n > 0 ? `${number(n)} deleted, and not purged yet${unread > 0 ? '; there are more' : ''}`
		: unread > 0 ? 'There are more.' : failed ? 'Nothing was found.' : 'The trash is empty.';
	const rowOf = (type, document) => {
		const resource = resourceOf(document, type);
		const row = h('tr', null, h('th', { scope: 'row' }, resource),
			h('td', null, document.metadata.deletionTimestamp ? time(document.metadata.deletionTimestamp) : ''),
			h('td.wide', null, document.metadata.purgeTimestamp ? time(document.metadata.purgeTimestamp) : ''),
			h('td', null, isMine(name) && offers('recoverResource') && typePermits(type, 'recover') ? button('Bring back', async () => {
				if (await recover(name, resource, document.metadata.uid, problem)) {
					row.remove();
					n--;
					tell();
				}
			}, { 'aria-label': `Bring back ${resource}`, icon: 'undo' }) : null));
		n++;
		return row;
	};
	const page = async (type, path) => {
		const answer = await get(path), found = answer.resources.map((document) => rowOf(type, document));
		return answer.next ? [...found, moreRow(type, local(answer.next))] : found;
	};
	const moreRow = (type, path) => {
		const more = button(`More ${type}`, async () => {
			more.disabled = true;
			try {
				row.replaceWith(...await page(type, path));
				unread--;
				tell();
			} catch (error) {
				more.disabled = false;
				replace(problem, note('bad', error.message));
			}
		});
		const row = h('tr', null, h('td', { colspan: 4 }, more));
		unread++;
		return row;
	};
	each(types, async ({ type }) => {
		try {
			rows.append(...await page(type, query(address(name, type), { limit: SAMPLE, deleted: true, sort: 'created', order: 'desc' })));
		} catch (error) {
			failed ??= error;
		}
	}).then(() => {
		if (failed)
			replace(problem, note('bad', `Not all of the trash can be read: ${failed.message}`));
		tell();
	});
	return frame(name, 'Trash', [panel('Deleted resources', problem, state, h('div.scroll', null, h('table.middle', null, h('caption.hidden', null, 'Deleted resources'),
		h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Resource'), h('th', { scope: 'col' }, 'Deleted'), h('th.wide', { scope: 'col' }, 'Purged'), h('th', { scope: 'col' }, ''))), rows)))]);
}

// ---- changes

export function changes(name) {
	return frame(name, 'Changes', [pagedList({ label: `changes of ${name}`, of: ['change', 'changes'], key: 'changes', nothing: 'Nothing was changed yet.',
		first: query(address(name, 'changes'), { order: 'newest', limit: 500 }), columns: changeColumns(name), href: changeTarget(name),
		matches: (change, text) => `${change.resource ?? ''}\n${change.actor}\n${change.verb}\n${(change.fields ?? []).join(' ')}`.toLowerCase().includes(text) })]);
}

// ---- its usage, moves, tokens and webhooks

const tab = (name, of) => (tenant) => {
	const { content, tools } = of(tenant);
	return frame(tenant, name, content, tools);
};

export const usage = tab('Usage', usageOf);
export const moves = tab('Moves', movesOf);
export const tokens = tab('Tokens', tokensOf);
export const webhooksOfTenant = tab('Webhooks', webhooksOf);

// ---- the tenant's own document

const owned = ['id', 'state', 'resources', 'created_at', 'updated_at', 'purge_at', 'etag'];
const strip = (document) => without(document.get('tenant'), owned);

async function remove(name, etag, problem) {
	if (!await confirm(`Delete tenant ${name}?`, 'It is deleted with all its resources, and can be brought back until it is purged.', 'Delete', 'danger'))
		return;
	try {
		await call('DELETE', address(name), { headers: { 'If-Match': etag } });
		announce(`Tenant ${name} was deleted.`);
		location.hash = screen('tenants');
	} catch (error) {
		replace(problem, note('bad', `Not deleted: ${error.message}`));
	}
}

function deleted(name, error) {
	const problem = h('div');
	return { title: name, crumbs: [['Tenants', screen('tenants')]], content: [note('info', `The tenant was deleted. ${error.message}`), problem,
		offers('recoverTenant') ? h('div.actions.start', null, button('Bring it back with its resources', async () => {
			try {
				await call('POST', `${address(name)}/action/recover`);
				announce(`Tenant ${name} is back.`);
				reload();
			} catch (failure) {
				replace(problem, note('bad', failure.message));
			}
		}, { class_: 'primary', icon: 'undo' })) : null] };
}

const facts = (tenant) => h('dl.facts', null, [['State', tenant.state], ['Resources', number(tenant.resources)], ['Created', time(tenant.created_at)],
	['Changed', time(tenant.updated_at)]].map(([title, value]) => h('div', null, h('dt', null, title), h('dd', null, value))));

export async function settings(name) {
	const answer = await call('GET', address(name));
	const about = h('div', null, facts(JSON.parse(answer.text).tenant)), problem = h('div');
	let { etag } = answer;
	const editor = new Editor({ path: address(name), etag, document: strip(parse(answer.text)), strip, wrap: (text) => `{"tenant": ${text}}`,
		label: `Document of tenant ${name}`, saved: (saved) => {
			({ etag } = saved);
			if (saved.text !== '')
				replace(about, facts(JSON.parse(saved.text).tenant));
		} });
	if (!offers('putTenant')) {
		editor.area.readOnly = true;
		editor.element.lastChild.remove();
	}
	return frame(name, 'Tenant', [problem, about, panel('Document', editor.element)],
	[offers('deleteTenant') ? button('Delete tenant', () => remove(name, etag, problem), { class_: 'danger', icon: 'trash' }) : null]);
}

// A screen of a tenant; where the tenant was deleted, that is what it says.
export function ofTenant(show) {
	return async (name, ...more) => {
		if (offers('getTenant') && isOperator()) {
			try {
				await call('GET', address(name));
			} catch (error) {
				if (error.status === 410)
					return deleted(name, error);
				throw error;
			}
		}
		return show(name, ...more);
	};
}
