// SPDX-License-Identifier: Apache-2.0
// For operators: the moves from and to a tenant, and the addresses that moved resources left there.

import { address, call, offers, partsOf, query } from './api.js';
import { announce, button, confirm, dialog, field, h, icon, instant, moment, note, number, panel, replace, time } from './dom.js';
import { pagedList } from './list.js';
import { reload, resourceScreen, screen, tenantScreen } from './places.js';

const PAGE = 500;

const addressOf = (tenant, resource) => address(tenant, 'forwards', ...partsOf(resource));

async function expire(tenant, forward, problem) {
	const ends = await dialog('When the old address ends', (close) => {
		const at = moment({ autofocus: true });
		return [h('form', { method: 'dialog', onsubmit: (event) => {
			event.preventDefault();
			close(instant(at) ?? null);
		} }, field('Ends', at, 'Without a time it lasts as long as its resource'), h('div.actions', null, button('Cancel', () => close()), h('button.primary', { type: 'submit' }, 'Set')))];
	});
	if (ends === undefined)
		return;
	try {
		await call('PUT', addressOf(tenant, forward.resource), { body: JSON.stringify({ forward: ends === null ? {} : { expires_at: ends } }) });
		announce('Set.');
		reload();
	} catch (error) {
		replace(problem, note('bad', error.message));
	}
}

async function revoke(tenant, forward, problem) {
	if (!await confirm('End this old address?', `${forward.resource} is answered 404 in ${tenant} from then on. This can’t be undone.`, 'End it', 'danger'))
		return;
	try {
		await call('DELETE', addressOf(tenant, forward.resource));
		announce('The old address has ended.');
		reload();
	} catch (error) {
		replace(problem, note('bad', error.message));
	}
}

// Where the resource of a forward is now: the path behind the tenant in its address.
function present(forward) {
	const [, tenant, ...rest] = new URL(forward.location, location.href).pathname.split('/').slice(1).map(decodeURIComponent);
	return { tenant, resource: rest.join('/') };
}

function forwards(tenant, problem) {
	const changes = offers('putForward', 'deleteForward');
	return panel('Old addresses', pagedList({ label: 'old addresses', of: ['old address', 'old addresses'], key: 'forwards', first: query(address(tenant, 'forwards'), { limit: PAGE }), nothing: 'No resource moved away.',
		columns: [
			{ title: 'Old address', class_: '.grow', cell: (forward) => forward.resource },
			{ title: 'Leads to', cell: (forward) => forward.state === 'gone' ? h('span.muted', null, `${forward.dest}, deleted`) : forward.dest },
			{ title: 'Moved', wide: true, class_: '.when', cell: (forward) => time(forward.moved_at) },
			{ title: 'Ends', class_: '.when', cell: (forward) => forward.expires_at ? time(forward.expires_at) : 'never' },
			{ title: '', cell: (forward) => changes ? [button('Set end', () => expire(tenant, forward, problem), { class_: 'small', 'aria-label': `Set when ${forward.resource} ends` }), ' ',
				button('End', () => revoke(tenant, forward, problem), { class_: 'small', 'aria-label': `End ${forward.resource}` })] : '' },
		],
		href: (forward) => {
			const now = present(forward);
			return forward.state === 'gone' ? null : resourceScreen(now.tenant, now.resource);
		},
		matches: (forward, text) => `${forward.resource}\n${forward.dest}`.toLowerCase().includes(text) }));
}

function moves(tenant) {
	return panel('Moves', pagedList({ label: `moves of ${tenant}`, of: ['move', 'moves'], key: 'moves', first: query(address(tenant, 'moves'), { limit: PAGE }), nothing: 'Nothing moved, as far back as moves are kept.',
		columns: [
			{ title: 'When', class_: '.when', cell: (move) => time(move.created_at) },
			{ title: 'From', cell: (move) => move.source },
			{ title: 'To', cell: (move) => move.dest },
			{ title: 'What', class_: '.grow', cell: (move) => move.undo_of && move.source === move.dest ? `${move.resource ?? 'all'} (undo)` : move.resource ?? 'all' },
			{ title: 'Moved', class_: '.number', cell: (move) => number(move.moved) },
			{ title: 'State', cell: (move) => move.state === 'done' ? 'done' : h('span', null, move.state) },
			{ title: 'Who', wide: true, cell: (move) => move.actor },
			{ title: '', cell: (move) => move.state === 'done' && offers('getUndo', 'postUndo')
				? h('a.button.small', { href: screen('undo', tenant, move.id), 'aria-label': `Undo move ${move.id}` }, icon('undo'), 'Undo …') : '' },
		] }));
}

export function movesOf(tenant) {
	const problem = h('div');
	return { content: [problem, offers('listMoves') ? moves(tenant) : null, offers('listForwards') ? forwards(tenant, problem) : null] };
}
