// SPDX-License-Identifier: Apache-2.0
// Taking back what one request changed: what is now and what would be restored, everything in the way, then the undo of that very preview.

import { address, call, local } from './api.js';
import { announce, button, counted, h, note, panel, replace, time } from './dom.js';
import { merge, parse, shown } from './json.js';
import { wait } from './move.js';
import { resourceScreen, tenantScreen } from './places.js';

const actions = { restore: 'gets back its earlier content', delete: 'is deleted', recover: 'is brought back', move: 'moves back' };

function contents(item) {
	if (!item.has('restored')) // null: it would not be there
		return note('info', 'What it was is not kept any more.');
	const now = item.get('now') ?? new Map(), restored = item.get('restored') ?? new Map();
	const { differences } = merge(now, now, restored);
	if (differences.length === 0)
		return null;
	const cell = (value) => h('td', null, value === null ? h('span.muted', null, 'not there') : h('pre', null, value));
	return h('div.scroll', null, h('table.differences', null, h('thead', null, h('tr', null, ['Member', 'Now', 'Restored'].map((title) => h('th', { scope: 'col' }, title)))),
		h('tbody', null, differences.map((one) => h('tr', null, h('th', { scope: 'row' }, one.path.join(' › ')), cell(shown(one.base)), cell(shown(one.theirs)))))));
}

function blockerList(blockers) {
	return note('bad', h('p', null, 'It can’t be taken back:'), h('ul', null, blockers.map((one) => h('li', null, one.get('resource') ? [one.get('resource'), ': '] : null,
		one.get('detail') ?? one.get('reason')))));
}

function items(tenant, undo) {
	return undo.get('items').map((item) => h('section.undone', null, h('h3', null, item.get('resource') ? h('a', { href: resourceScreen(tenant, item.get('resource')) },
		item.get('resource')) : `tenant ${tenant}`, ' ', h('span.muted', null, actions[item.get('action')] ?? item.get('action'))), contents(item)));
}

export async function undo(tenant, request) {
	const path = address(tenant, 'changes', request, 'undo'), place = h('div');
	const show = async (changed) => {
		const answer = await call('GET', path), preview = parse(answer.text);
		const blockers = preview.get('blockers') ?? [], n = Number(preview.get('changes').text);
		const go = button('Take it back', async () => {
			go.disabled = true;
			try {
				const done = await call('POST', path, { headers: { 'If-Match': answer.etag } });
				if (done.status === 202 && !await wait(local(done.location), place))
					return;
				announce('It was taken back.');
				if (!place.isConnected) // the user went elsewhere, and stays there
					return;
				const only = preview.get('items').length === 1 ? preview.get('items')[0].get('resource') : null;
				location.hash = only ? resourceScreen(tenant, only) : tenantScreen(tenant, 'changes');
			} catch (error) {
				if (!place.isConnected)
					announce(`It was not taken back: ${error.message}`);
				else if (error.status === 409 || error.status === 412)
					await show(true).catch((failure) => replace(place, note('bad', failure.message)));
				else
					replace(place, note('bad', error.message));
			}
		}, { class_: 'primary', icon: 'undo', disabled: blockers.length > 0 });
		replace(place, panel('What would change',
			changed ? note('bad', 'Nothing was changed: things are not as you saw them. This is how they are now; look again, then decide.') : null,
			h('p.muted', null, `${counted(n, 'change', 'changes')} by ${preview.get('actor')}, `, time(preview.get('at'))),
			blockers.length > 0 ? blockerList(blockers) : null, items(tenant, preview), h('div.actions', null, go)));
	};
	await show(false);
	return { title: 'Undo', sub: `request ${request}`, crumbs: [[tenant, tenantScreen(tenant)], ['Changes', tenantScreen(tenant, 'changes')]], content: [place] };
}
