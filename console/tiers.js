// SPDX-License-Identifier: Apache-2.0
// Tiers, for operators: how many resources the tenants of each may have.

import { address, call, get, isOperator, local, offers, query } from './api.js';
import { announce, button, confirm, field, h, note, number, panel, replace, requestForm } from './dom.js';
import { guard } from './editor.js';
import { pagedList } from './list.js';
import { reload, screen } from './places.js';

const addressOf = (...parts) => address('all', 'tiers', ...parts);
const limitOf = (tier) => tier.max_resources === undefined ? h('span.muted', null, 'no limit') : number(tier.max_resources);
const crumbs = [['Tenants', screen('tenants')], ['Tiers', screen('tiers')]];

// The names of all tiers.
export async function tierNames() {
	const names = [];
	for (let path = query(addressOf(), { limit: 1000 }); path;) {
		const answer = await get(path);
		names.push(...answer.tiers.map((tier) => tier.name));
		path = answer.next ? local(answer.next) : null;
	}
	return names;
}

export function tiers() {
	if (!isOperator() || !offers('listTiers'))
		return { title: 'Not offered here', content: [note('info', 'This endpoint has no tiers, or not for you.')] };
	return { title: 'Tiers', sub: 'how many resources a tenant may have at most', crumbs: crumbs.slice(0, 1),
		tools: [offers('putTier') ? h('a.button.primary', { href: screen('new-tier') }, 'New tier') : null],
		content: [pagedList({ label: 'tiers', of: ['tier', 'tiers'], key: 'tiers', first: query(addressOf(), { limit: 1000 }), nothing: 'No tiers.',
			columns: [
				{ title: 'Name', cell: (tier) => tier.name },
				{ title: 'At most', class_: '.number', cell: limitOf },
				{ title: 'Description', class_: '.grow', wide: true, cell: (tier) => tier.description ?? '' },
			],
			href: (tier) => offers('getTier') && !tier.name.includes('/') ? screen('tiers', tier.name) : null,
			matches: (tier, text) => `${tier.name}\n${tier.description ?? ''}`.toLowerCase().includes(text) })] };
}

// The form of a tier. known: as it was read; null: a new one, whose name is asked.
function form(known, etag) {
	const inputs = {
		name: h('input', { required: true, maxlength: 255, autocomplete: 'off' }),
		most: h('input', { inputmode: 'numeric', pattern: '[0-9]*', maxlength: 16, autocomplete: 'off', value: known?.max_resources ?? '' }),
		description: h('textarea', { rows: 2, maxlength: 1024, autocomplete: 'off', value: known?.description ?? '' }),
	};
	const described = inputs.description.value; // with line breaks as the browser has them
	const body = () => JSON.stringify({ max_resources: inputs.most.value === '' ? undefined : Number(inputs.most.value),
		description: inputs.description.value === described ? known?.description : inputs.description.value || undefined });
	let saved = body();
	const save = async () => {
		const name = known?.name ?? inputs.name.value, sent = body();
		await call('PUT', addressOf(name), { body: sent, headers: known ? { 'If-Match': etag } : { 'If-None-Match': '*' } });
		saved = sent;
		announce('Saved.');
		return known ? reload : () => location.hash = screen('tiers', name);
	};
	const element = requestForm(save, (error) => error.status !== 412 ? `Not saved: ${error.message}`
		: known ? 'Not saved: it was changed since you read it. Load it again and look.' : 'Not saved: there is one of that name already.',
	h('div.fields', null, known ? null : field('Name', inputs.name),
		field('Resources at most', inputs.most, 'Of each tenant; without a number there is no limit. Who has more keeps it, and can add none.'),
		field('Description', inputs.description)), h('button.primary', { type: 'submit' }, 'Save'));
	guard(element, () => !element.inert && body() !== saved); // what is being sent is not asked about
	return element;
}

export function newTier() {
	return { title: 'A new tier', crumbs, content: [panel('Tier', form(null, null))] };
}

export async function tier(name) {
	const answer = await call('GET', addressOf(name)), known = JSON.parse(answer.text), problem = h('div');
	const remove = async () => {
		if (!await confirm('Delete this tier?', `No tenant can be put into ${name} then.`, 'Delete', 'danger'))
			return;
		try {
			await call('DELETE', addressOf(name), { headers: { 'If-Match': answer.etag } });
			announce(`Tier ${name} was deleted.`);
			location.hash = screen('tiers');
		} catch (error) {
			replace(problem, note('bad', error.status === 412 ? 'Not deleted: it was changed since you read it. Load it again and look.' : `Not deleted: ${error.message}`));
		}
	};
	return { title: name, sub: 'tier', crumbs, tools: [offers('deleteTier') ? button('Delete', remove, { class_: 'danger', icon: 'trash' }) : null],
		content: [problem, h('dl.facts', null, [['Resources at most', limitOf(known)], ['Tenants, with deleted ones that can be brought back', number(known.tenants)]]
			.map(([title, value]) => h('div', null, h('dt', null, title), h('dd', null, value)))), offers('putTier') ? panel('Tier', form(known, answer.etag)) : null] };
}
