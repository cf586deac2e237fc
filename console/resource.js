// SPDX-License-Identifier: Apache-2.0
// A resource: its document, what happened to it, and what can be done with it. A new one as well.

import { address, call, isMine, isOperator, local, offers, query, typePermits, typePermitsUndo } from './api.js';
import { announce, button, confirm, field, h, icon, note, panel, replace, select, time, verb } from './dom.js';
import { Editor } from './editor.js';
import { merge, parse, shown, text, without } from './json.js';
import { changeColumns, reload, resourceAddress, screen, screenOf, tenantScreen, typesOf } from './places.js';
import { pagedList } from './list.js';

// Members of metadata that are the service's (src/cli/change/merge.c).
const owned = ['name', 'namespace', 'tenant', 'uid', 'resourceVersion', 'etag', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'purgeTimestamp', 'selfLink',
	'traits', 'generation', 'managedFields', 'hashKey'];

export function strip(document) {
	const metadata = document.get('metadata');
	const own = metadata instanceof Map ? without(metadata, owned) : new Map();
	const rest = without(document, ['metadata']);
	return own.size > 0 ? new Map([['metadata', own], ...rest]) : rest;
}

// what: put, delete, recover.
const may = (tenant, parts, what) => isMine(tenant) && offers(parts.length === 4 ? `${what}NamespacedResource` : `${what}Resource`) && typePermits(parts.at(-2), what);

function facts(document) {
	const { metadata } = document;
	const rows = [['uid', metadata.uid], ['Revision', metadata.resourceVersion], ['Created', metadata.creationTimestamp ? time(metadata.creationTimestamp) : null],
		['Generation', metadata.generation], ['Traits', metadata.traits?.join(', ') || null]];
	return h('dl.facts', null, rows.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

async function remove(tenant, resource, path, etag, problem) {
	if (!await confirm('Delete this resource?', `${resource} of ${tenant} goes to the trash, and can be brought back until it is purged.`, 'Delete', 'danger'))
		return;
	try {
		await call('DELETE', path, { headers: { 'If-Match': etag } });
		announce(`${resource} was deleted. It is in the trash.`);
		location.hash = tenantScreen(tenant, 'trash');
	} catch (error) {
		replace(problem, note('bad', error.status === 412 ? 'Not deleted: it was changed since you read it. Load it again and look.' : `Not deleted: ${error.message}`));
	}
}

// A resource that is deleted: what is known, and how to bring it back.
export async function recover(tenant, resource, uid, problem) {
	try {
		await call('POST', query(`${resourceAddress(tenant, resource)}/action/recover`, { uid }));
		announce(`${resource} is back.`);
		return true;
	} catch (error) {
		replace(problem, note('bad', `Not brought back: ${error.message}`));
		return false;
	}
}

function gone(tenant, resource, error) {
	const problem = h('div');
	return { title: resource, crumbs: [['Tenant ' + tenant, tenantScreen(tenant)]], content: [
		note('info', `${resource} was deleted${error.body.purge_at ? ', and is kept until ' : ''}`, error.body.purge_at ? time(error.body.purge_at) : null, '.'),
		problem, may(tenant, resource.split('/'), 'recover') ? h('div.actions.start', null, button('Bring it back', async () => {
			if (await recover(tenant, resource, null, problem))
				reload();
		}, { class_: 'primary', icon: 'undo' })) : null] };
}

// ---- history with differences, where the service keeps what changes replaced

function versionDifferences(entry) {
	const [before, after] = ['before', 'after'].map((side) => entry.get(side));
	if (before === undefined || after === undefined)
		return note('info', 'What it was then is not kept any more.');
	const { differences } = merge(before ?? new Map(), before ?? new Map(), after ?? new Map());
	if (differences.length === 0)
		return note('info', 'The document stayed as it was.');
	const cell = (value) => h('td', null, value === null ? h('span.muted', null, 'not there') : h('pre', null, value));
	return h('div.scroll', null, h('table.differences', null, h('thead', null, h('tr', null, ['Member', 'Before', 'After'].map((title) => h('th', { scope: 'col' }, title)))),
		h('tbody', null, differences.map((one) => h('tr', null, h('th', { scope: 'row' }, one.path.join(' › ')), cell(shown(one.base)), cell(shown(one.theirs)))))));
}

function version(tenant, type, entry) {
	const body = h('div'), undoes = isMine(tenant) && offers('getUndo', 'postUndo') && (entry.get('verb') !== 'moved' || isOperator()) && typePermitsUndo(type, entry.get('verb'));
	return h('details.version', { ontoggle: () => replace(body, versionDifferences(entry), undoes ? h('div.actions.start', null,
		h('a.button', { href: screen('undo', tenant, entry.get('request_id')) }, icon('undo'), 'Undo …')) : null) }, h('summary', null, verb(entry.get('verb')),
		h('span', null, `revision ${text(entry.get('revision'))}`), h('span.by', null, `${entry.get('actor')}, `, time(entry.get('at')))), body);
}

// Adds a page of versions to the list, and a button for the next one.
async function addVersions(tenant, type, list, path) {
	const answer = parse((await call('GET', path)).text), next = answer.get('next');
	list.append(...answer.get('history').map((entry) => version(tenant, type, entry)));
	if (next) {
		const more = button('Earlier ones', () => {
			more.remove();
			addVersions(tenant, type, list, local(next)).catch((error) => list.append(note('bad', error.message)));
		});
		list.append(more);
	}
}

// The resource is named by its path: resources of other types may have its uid, as a node and its provider have one.
function versions(tenant, type, name) {
	const list = h('div.versions', null);
	addVersions(tenant, type, list, query(address(tenant, 'history'), { resource: name })).catch((error) => list.append(note('bad', error.message)));
	return panel('History', list);
}

// name: the resource's path in the tenant.
function history(tenant, type, name, uid) {
	if (offers('getResourceHistory'))
		return versions(tenant, type, name);
	const all = isOperator() && offers('listAllChanges'); // of all tenants that it was in
	if (!all && !offers('listChanges'))
		return null;
	// The uid finds the changes under former names as well, and those of other types that have the uid: the column of resources tells them apart.
	const columns = changeColumns(all ? undefined : tenant)
		.map((column) => column.title === 'Fields' ? { ...column, wide: false } : column);
	columns.splice(2, 0, { title: 'Revision', class_: '.number', cell: (change) => change.revision });
	return panel('History', pagedList({ label: 'changes of this resource', of: ['change', 'changes'], key: 'changes', nothing: 'The change log has nothing of it any more.', columns,
		first: query(all ? '/v2.0/all/changes' : address(tenant, 'changes'), { order: 'newest', limit: 100, resource: uid }) }));
}

export async function resource(tenant, ...parts) {
	const name = parts.join('/'), path = address(tenant, ...parts);
	let answer;
	try {
		answer = await call('GET', path);
	} catch (error) {
		if (error.status === 410)
			return gone(tenant, name, error);
		throw error;
	}
	if (answer.redirected) { // it moved: to where it is
		location.replace(screenOf(local(answer.url)));
		return null;
	}
	const document = JSON.parse(answer.text), problem = h('div'), type = parts.at(-2);
	let { etag } = answer;
	const editor = new Editor({ path, etag, document: strip(parse(answer.text)), strip, wrap: (text) => text, label: `Document of ${name}`,
		saved: (saved) => {
			({ etag } = saved);
			if (saved.text !== '')
				replace(about, facts(JSON.parse(saved.text)));
			replace(changes, history(tenant, type, name, document.metadata.uid));
		} });
	const writes = may(tenant, parts, 'put');
	if (!writes) {
		editor.area.readOnly = true;
		editor.element.lastChild.remove();
	}
	const about = h('div', null, facts(document)), changes = h('div', null, history(tenant, type, name, document.metadata.uid));
	const moves = offers(parts.length === 4 ? 'postMoveNamespaced' : parts[0] === 'namespaces' ? 'postMoveNamespace' : 'postMoveOne');
	return {
		title: parts.at(-1), sub: name, crumbs: [[tenant, tenantScreen(tenant)], [type, tenantScreen(tenant, 'type', type)]],
		tools: [moves ? h('a.button', { href: screen('move', tenant, ...parts) }, icon('move'), 'Move') : null,
			may(tenant, parts, 'delete') ? button('Delete', () => remove(tenant, name, path, etag, problem), { class_: 'danger', icon: 'trash' }) : null],
		content: [problem, about, panel('Document', editor.element), changes],
	};
}

// ---- a new one

const examples = { configmaps: '{\n  "data": {}\n}', namespaces: '{}' };

export async function newResource(tenant, chosen) {
	const types = (await typesOf(tenant)).filter((one) => typePermits(one.type, 'create'));
	const type = select(types.map((one) => one.type), types.some((one) => one.type === chosen) ? chosen : 'configmaps', { onchange: () => show() });
	const namespace = h('input', { value: 'default', autocomplete: 'off', maxlength: 255 });
	const name = h('input', { autocomplete: 'off', maxlength: 255, required: true });
	const spaced = () => types.find((one) => one.type === type.value)?.namespaced;
	const inNamespace = field('Namespace', namespace);
	const parts = () => spaced() ? ['namespaces', namespace.value, type.value, name.value] : [type.value, name.value];
	const show = () => {
		inNamespace.hidden = !spaced();
	};
	const editor = new Editor({ path: () => address(tenant, ...parts()), etag: null, document: parse(examples[type.value] ?? '{}'), strip, wrap: (text) => text,
		label: 'Document', saved: (answer, path) => location.hash = screenOf(path) });
	show();
	return {
		title: 'A new resource', crumbs: [[tenant, tenantScreen(tenant)]],
		content: [h('div.fields', null, field('Type', type), inNamespace, field('Name', name)), panel('Document', editor.element)],
	};
}
