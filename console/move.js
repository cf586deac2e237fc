// SPDX-License-Identifier: Apache-2.0
// The move wizard: what would move and what is in its way; the move itself, on that very preview; then where things are now.

import { address, call, Elsewhere, local, passing, query } from './api.js';
import { alone, announce, button, field, h, icon, note, number, panel, replace } from './dom.js';
import { placeOf, screen, resourceAddress, resourceScreen, tenantScreen } from './places.js';

const SHOWN = 200; // resources that are listed by name, and old addresses that are asked for
const POLL_MS = 500;

// ---- the preview

const listed = (move) => Array.isArray(move.resources) ? move.resources : [];
const total = (move) => Array.isArray(move.resources) ? move.resources.length : Number(move.resources?.size ?? 0);

// What differs between two previews, as lines of text.
function differences(before, now) {
	const lines = [], ids = (move) => new Set(listed(move).map((one) => one.id)), tags = new Map(listed(before).map((one) => [one.id, one.tag]));
	for (const one of listed(now)) {
		if (!tags.has(one.id))
			lines.push(`${one.id} came to it`);
		else if (tags.get(one.id) !== one.tag)
			lines.push(`${one.id} was changed`);
	}
	for (const id of ids(before)) {
		if (!ids(now).has(id))
			lines.push(`${id} is there no more`);
	}
	const blockers = (move) => (move.blockers ?? []).map((one) => `${one.resource}: ${one.detail ?? one.reason}`);
	lines.push(...blockers(now).filter((line) => !blockers(before).includes(line)).map((line) => `now in the way: ${line}`),
		...blockers(before).filter((line) => !blockers(now).includes(line)).map((line) => `no longer in the way: ${line}`));
	for (const owner of now.tenants ?? []) {
		const old = (before.tenants ?? []).find((one) => one.id === owner.id);
		if (old && old.resources !== owner.resources)
			lines.push(`${owner.id} has ${number(owner.resources)} resources now, and had ${number(old.resources)}`);
		else if (old && old.etag !== owner.etag)
			lines.push(`tenant ${owner.id} was changed`);
	}
	if (total(before) !== total(now) && lines.length === 0)
		lines.push(`${number(total(now))} resources are affected now, and were ${number(total(before))}`);
	return lines.length > 0 ? lines : ['a resource that is affected, or one of the tenants, was changed'];
}

function blockerTable(blockers) {
	return h('div.scroll', null, h('table.plain.blockers', null, h('caption', null, `In the way (${number(blockers.length)})`),
		h('thead', null, h('tr', null, ['Resource', 'Reason', 'What it is'].map((title) => h('th', { scope: 'col' }, title)))),
		h('tbody', null, blockers.map((one) => h('tr', null, h('th', { scope: 'row' }, one.resource ?? 'the tenant'), h('td', null, one.reason), h('td', null, one.detail ?? ''))))));
}

function countTable(move, from) {
	const counts = (move.counts ?? []).filter((one) => one.tenant === from && one.resources > 0);
	return counts.length === 0 ? null : h('div.scroll', null, h('table.plain.narrow', null, h('caption', null, `What ${from} has`),
		h('tbody', null, counts.map((one) => h('tr', null, h('th', { scope: 'row' }, one.type), h('td.number', null, number(one.resources)))))));
}

function resourceTable(move, from) {
	const all = listed(move);
	if (all.length === 0)
		return null;
	return h('details', { open: all.length <= 12 }, h('summary', null, `The ${number(all.length)} resources by name`), h('ul.names', null,
		all.slice(0, SHOWN).map((one) => h('li', null, h('a', { href: resourceScreen(from, one.id) }, one.id)))),
	all.length > SHOWN ? h('p.muted', null, `and ${number(all.length - SHOWN)} more`) : null);
}

// The resource is another tenant's by now: the address of its move action leads to the one of that tenant.
class Moved extends Error {
	constructor(what, path) {
		const { tenant, parts } = placeOf(path.replace(/\/action\/move(\?.*)?$/, ''));
		super(`${what} has moved to ${tenant} already.`);
		this.screen = screen('move', tenant, ...parts);
	}
}

// Says why there is no preview.
const why = (error) => note('bad', error.message, error instanceof Moved ? [' ', h('a', { href: error.screen }, 'Move it from there')] : null);

// ---- afterwards

// Follows the old addresses: the service answers where each resource is now.
async function oldAddresses(from, resources) {
	const rows = await Promise.all(resources.slice(0, 20).map(async (one) => {
		const old = resourceAddress(from, one.id);
		try {
			const answer = await call('HEAD', old);
			return [old, answer.redirected ? local(answer.url) : 'still here'];
		} catch (error) {
			return [old, error.message];
		}
	}));
	return h('div.scroll', null, h('table.plain.addresses', null, h('caption', null, 'Old addresses lead to the new ones'),
		h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Old address'), h('th', { scope: 'col' }, 'Answers with'))),
		h('tbody', null, rows.map(([old, now]) => h('tr', null, h('th', { scope: 'row' }, h('code', null, old)), h('td', null, h('code', null, now)))))));
}

// A move in the background: its status, in place, until it is done: true. False: the user left the screen before; nothing is lost by that.
// Throws why it failed; that its status can't be read for a while is no such reason.
export async function wait(status, place) {
	while (place.isConnected) {
		try {
			const answer = await call('GET', status);
			if (answer.redirected)
				return true;
			const state = JSON.parse(answer.text).move ?? JSON.parse(answer.text);
			if (state.state === 'failed')
				throw new Error(state.detail ?? 'the move failed, and nothing was moved');
			replace(place, note('info', `It goes on in the background: ${state.state ?? 'queued'}${state.moved === undefined ? '' : `, ${number(state.moved)} done`}. You may leave this page.`));
		} catch (error) {
			if (error.redirected) // it was led to where that is which was moved, so all is done, whatever became of that since
				return true;
			if (!passing(error))
				throw error;
			replace(place, note('info', 'It goes on in the background; how far it is can’t be read at the moment. You may leave this page.'));
		}
		await new Promise((resolve) => setTimeout(resolve, POLL_MS));
	}
	return false;
}

export function move(tenant, ...parts) {
	const what = parts.length > 0 ? parts.join('/') : null, isSpace = parts.length === 2 && parts[0] === 'namespaces';
	const path = `${what ? resourceAddress(tenant, what) : address(tenant)}/action/move`;
	const dest = h('input', { autocomplete: 'off', required: true, maxlength: 255 });
	const place = h('div', { 'aria-live': 'polite' });
	let looks = 0;

	const read = async (name) => {
		const answer = await call('GET', query(path, { dest: name }));
		if (answer.redirected) // what it shows is a move from another tenant than this screen says
			throw new Moved(what, local(answer.url));
		return { etag: answer.etag, move: JSON.parse(answer.text).move, dest: name };
	};

	const show = (preview, changed) => {
		const { move: found } = preview, blockers = found.blockers ?? [], n = total(found);
		const go = button(blockers.length > 0 ? 'Can’t be moved' : `Move ${number(n)} ${n === 1 ? 'resource' : 'resources'} to ${preview.dest}`,
			() => alone(form, () => alone(actions, () => run(preview))), { class_: 'primary', disabled: blockers.length > 0 || n === 0, icon: 'move' });
		const actions = h('div.actions', null, button('Look again', () => look(preview.dest)), go), summary = h('h2', { tabindex: '-1' }, '2. What would move');
		replace(place, h('section.panel', null, summary,
			changed ? note('bad', h('p', null, 'Nothing was moved: things changed since you looked. This is how they are now; look again, then decide.'),
				h('ul.changed', null, changed.map((line) => h('li', null, line)))) : null,
			h('div.route', null, h('strong', null, tenant), icon('move'), h('strong', null, preview.dest), h('span.number', null, `${number(n)} ${n === 1 ? 'resource' : 'resources'}`)),
			blockers.length > 0 ? blockerTable(blockers) : n === 0 ? note('info', 'There is nothing to move.') : note('good', 'Nothing is in the way.'),
			countTable(found, tenant), resourceTable(found, tenant), actions));
		summary.focus();
	};

	// Shows the preview of a move to that tenant, or why there is none; an earlier one that comes later is not shown.
	const look = async (name) => {
		const mine = ++looks;
		replace(place, h('p.loading', null, 'Looking…'));
		try {
			const preview = await read(name);
			if (mine === looks)
				show(preview, null);
		} catch (error) {
			if (mine === looks)
				replace(place, why(error));
		}
	};

	const finish = (preview, moved) => {
		const title = h('h2', { tabindex: '-1' }, '3. Moved');
		replace(place, h('section.panel', null, title, note('good', `${number(total(preview.move))} ${total(preview.move) === 1 ? 'resource' : 'resources'} moved from ${tenant} to ${preview.dest}, in one transaction.`),
			h('div.actions.start', null, h('a.button.primary', { href: what && !isSpace ? resourceScreen(preview.dest, what) : tenantScreen(preview.dest) }, `See ${preview.dest}`)), moved));
		announce('Moved.');
		title.focus();
	};

	const run = async (preview) => {
		const again = (error) => replace(place, why(error), h('div.actions.start', null, button('Look again', () => look(preview.dest))));
		try {
			const answer = await call('POST', query(path, { dest: preview.dest }), { headers: { 'If-Match': preview.etag, Prefer: 'return=minimal' } });
			if (answer.status === 202 && !await wait(local(answer.location), place))
				return;
			if (place.isConnected)
				finish(preview, await oldAddresses(tenant, listed(preview.move)));
			else
				announce('Moved.');
		} catch (error) {
			if (!place.isConnected)
				announce(`Not moved: ${error.message}`);
			else if (error.status === 412 || error.status === 409 || error instanceof Elsewhere)
				await read(preview.dest).then((now) => show(now, differences(preview.move, now.move)), again);
			else
				again(error);
		}
	};

	const form = h('form.inline', { onsubmit: (event) => {
		event.preventDefault();
		look(dest.value);
	} }, field('To the tenant', dest), h('button.primary', { type: 'submit' }, 'Preview'));
	return {
		title: what ? `Move ${parts.at(-1)}` : `Move all of ${tenant}`, sub: what ?? undefined,
		crumbs: [[tenant, tenantScreen(tenant)], ...what ? [[parts.at(-1), screen('t', tenant, 'r', ...parts)]] : []],
		content: [h('section.panel', { 'aria-label': 'Where to' }, h('h2', null, '1. Where to'), form), place],
	};
}
