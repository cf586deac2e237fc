// SPDX-License-Identifier: Apache-2.0
// Whose is it? Resources of all tenants, for operators.

import { isOperator, offers, query, takes } from './api.js';
import { field, h, note, time } from './dom.js';
import { pagedList } from './list.js';
import { resourceScreen, tenantScreen } from './places.js';

const columns = [
	{ title: 'Resource', class_: '.grow', cell: (found) => found.resource },
	{ title: 'Tenant', cell: (found) => h('a', { href: tenantScreen(found.tenant), tabindex: '-1' }, found.tenant) },
	{ title: 'Uid', wide: true, class_: '.grow', cell: (found) => found.uid },
	{ title: 'Changed', wide: true, cell: (found) => time(found.updated_at) },
];

export function find() {
	if (!isOperator() || !offers('listAllResources'))
		return { title: 'Not offered here', content: [note('info', 'This endpoint finds no resources of all tenants, or not for you.')] };
	const inputs = {
		name: h('input', { type: 'search', autocomplete: 'off' }),
		type: h('input', { autocomplete: 'off', placeholder: 'configmaps' }),
		labels: h('input', { autocomplete: 'off', placeholder: 'app=web,!old' }),
		text: h('input', { type: 'search', autocomplete: 'off' }),
	};
	const titles = {
		name: ['Name', 'A whole name or uid, a node’s or provider’s own name, a MAC address, an instance’s UUID'],
		type: ['Type'], labels: ['Labels'], text: ['Text', 'A part of the name. Without a name, all resources are looked through'],
	};
	const results = h('div');
	const show = () => {
		const asked = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value.trim()]));
		const given = Object.values(asked).some((value) => value !== '');
		results.replaceChildren(given ? pagedList({ label: 'resources', of: ['resource', 'resources'], key: 'resources', first: query('/v2.0/all/resources', { limit: 500, ...asked }),
			nothing: 'No tenant has such a resource.', columns,
			href: (found) => resourceScreen(found.tenant, found.resource) })
			: h('p.muted', null, 'Resources of all tenants are found here: whose they are, and where.'));
	};
	const form = h('form.filters', { 'aria-label': 'What is looked for', onsubmit: (event) => {
		event.preventDefault();
		show();
	} }, Object.entries(inputs).filter(([name]) => takes('listAllResources', name)).map(([name, input]) => field(titles[name][0], input, titles[name][1])),
	h('div.actions', null, h('button.primary', { type: 'submit' }, 'Find')));
	show();
	return { title: 'Find', sub: 'resources of all tenants', content: [form, results], wide: true };
}
