// SPDX-License-Identifier: Apache-2.0
// The first screen: what there is, what happened lately, moves, and whether the service is well.

import { address, call, get, isOperator, offers, query, who } from './api.js';
import { bars, ranks } from './chart.js';
import { counted, empty, h, icon, note, number, panel, replace, time, verb } from './dom.js';
import { resourceScreen, tenantScreen, typesOf } from './places.js';

const SCANNED_MAX = 1000; // changes, and tenants, that the page reads at most
const verbs = ['created', 'updated', 'deleted', 'recovered', 'moved', 'purged'];

function tile(label, value, more) {
	return h('div.tile', null, h('span.tile-label', null, label), h('strong', null, value), more ? h('span.tile-more', null, more) : null);
}

// Fills a place of the screen; what fails says so there, and nothing else is held up.
function later(load) {
	const place = h('div', null, h('p.loading', null, 'Loading…'));
	load().then((content) => replace(place, content), (error) => replace(place, note('bad', error.message)));
	return place;
}

async function health() {
	const began = performance.now();
	try {
		const answer = await call('GET', '/healthz');
		const state = JSON.parse(answer.text);
		return tile('Service', state.status === 'ok' && !state.access_log ? h('span.good', null, 'well') : h('span.bad', null, state.access_log ?? state.status),
			`answered in ${Math.round(performance.now() - began)} ms`);
	} catch (error) {
		return tile('Service', h('span.bad', null, 'not well'), error.message);
	}
}

// Changes by the time that they took place in, the newest last: ever wider steps until there are at most 30.
function activity(changes) {
	const times = changes.map((change) => Date.parse(change.at));
	const first = Math.min(...times), last = Math.max(...times);
	const step = [60e3, 300e3, 900e3, 3600e3, 6 * 3600e3, 86400e3, 7 * 86400e3, 30 * 86400e3].find((length) => (last - first) / length < 30) ?? 365 * 86400e3;
	const start = Math.floor(first / step), n = Math.floor(last / step) - start + 1;
	const label = (i) => {
		const at = new Date((start + i) * step);
		return step < 86400e3 ? at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' }) : at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
	};
	const series = verbs.map((name) => ({ name, kind: name, values: Array.from({ length: n }, () => 0) }));
	changes.forEach((change, i) => {
		const one = series.find((of) => of.name === change.verb);
		if (one)
			one.values[Math.floor(times[i] / step) - start]++;
	});
	return bars('Changes over time', Array.from({ length: n }, (_, i) => label(i)), series.filter((one) => one.values.some((value) => value > 0)));
}

function happened(changes) {
	return h('ul.events', null, changes.slice(0, 12).map((change) => {
		const tenant = change.tenant ?? who.tenant;
		return h('li', null, verb(change.verb), change.resource ? h('a', { href: resourceScreen(tenant, change.resource) }, change.resource) : h('span', null, 'tenant'),
			change.tenant ? [' ', h('span.muted', null, 'in'), ' ', h('a', { href: tenantScreen(change.tenant) }, change.tenant)] : null,
			h('span.by', null, `${change.actor}, `, time(change.at)));
	}));
}

// Moves: changes of one request, together. more: are there older changes? Those of the oldest request may be among them.
function moves(changes, more) {
	const cut = more ? changes.at(-1).request_id : null, requests = new Map();
	for (const change of changes.filter((one) => one.verb === 'moved')) {
		const move = requests.get(change.request_id) ?? { ...change, n: 0 };
		move.n++;
		requests.set(change.request_id, move);
	}
	if (requests.size === 0)
		return empty('Nothing moved lately.');
	return h('ul.events', null, [...requests.values()].slice(0, 8).map((move) => h('li', null,
		move.from_tenant ? [h('a', { href: tenantScreen(move.from_tenant) }, move.from_tenant), ' ', icon('move'), ' '] : null,
		move.tenant ? h('a', { href: tenantScreen(move.tenant) }, move.tenant) : move.resource,
		h('span.number', null, move.request_id === cut ? `${number(move.n)}+ resources` : counted(move.n, 'resource', 'resources')), h('span.by', null, `${move.actor}, `, time(move.at)))));
}

function changesOf() {
	if (isOperator())
		return offers('listAllChanges') ? '/v2.0/all/changes' : null;
	return offers('listChanges') && who.tenant ? address(who.tenant, 'changes') : null;
}

function changePanels() {
	const path = changesOf();
	if (!path)
		return [];
	const answer = get(query(path, { order: 'newest', limit: SCANNED_MAX })), changes = answer.then((page) => page.changes);
	return [
		panel('What happened', later(async () => (await changes).length > 0 ? activity(await changes) : empty('Nothing was changed yet.')), later(async () => happened(await changes))),
		panel('Moves', later(async () => moves(await changes, Boolean((await answer).next)))),
	];
}

async function tenantTiles(answer) {
	const tenants = (await answer).tenants, more = (await answer).next ? '+' : '';
	return [tile('Tenants', number(tenants.length) + more),
		tile('Resources', number(tenants.reduce((sum, tenant) => sum + tenant.resources, 0)) + more, more ? `in the first ${number(tenants.length)} tenants` : 'in all tenants')];
}

function ofOperator() {
	const answer = get(query('/v2.0', { limit: SCANNED_MAX }));
	return [
		h('div.tiles', null, later(health), later(() => tenantTiles(answer))),
		...changePanels(),
		panel('Largest tenants', later(async () => {
			const { tenants, next } = await answer, largest = tenants.filter((tenant) => tenant.resources > 0).sort((a, b) => b.resources - a.resources).slice(0, 8);
			return [next ? h('p.muted', null, `Of the first ${number(tenants.length)} tenants by name.`) : null,
				largest.length === 0 ? empty(next ? 'None of them has resources yet.' : 'No tenant has resources yet.')
					: ranks('Largest tenants', largest.map((tenant) => ({ name: tenant.id, value: tenant.resources, href: tenantScreen(tenant.id) })))];
		})),
	];
}

function ofTenant() {
	if (!who.tenant)
		return [note('info', 'Your user belongs to no tenant, so there is nothing to show. Ask an operator.')];
	return [
		h('div.tiles', null, later(health), tile('Tenant', h('a', { href: tenantScreen(who.tenant) }, who.tenant), `you are ${who.role}`)),
		...changePanels(),
		panel('Types', later(async () => h('ul.chips', null, (await typesOf(who.tenant)).map((type) =>
			h('li', null, h('a', { href: tenantScreen(who.tenant, 'type', type.type) }, type.type)))))),
	];
}

export function dashboard() {
	return { title: 'Dashboard', content: isOperator() && offers('listTenants') ? ofOperator() : ofTenant(), wide: true };
}
