// SPDX-License-Identifier: Apache-2.0
// All tenants: for operators.

import { address, call, offers, query, takes } from './api.js';
import { announce, button, dialog, field, h, note, number, requestForm, select, time } from './dom.js';
import { pagedList } from './list.js';
import { screen, tenantScreen } from './places.js';
import { tierNames } from './tiers.js';
import { usageOfAll } from './usage.js';

const PAGE = 1000;

async function create() {
	const names = offers('listTiers') ? await tierNames().catch(() => []) : [];
	const id = await dialog('A new tenant', (close) => {
		const name = h('input', { required: true, maxlength: 255, autocomplete: 'off', autofocus: true });
		const tier = names.includes('standard') ? select(names, 'standard') : h('input', { value: 'standard', autocomplete: 'off' });
		return requestForm(async () => {
			await call('PUT', address(name.value), { body: JSON.stringify({ tenant: { tier: tier.value } }), headers: { 'If-None-Match': '*' } });
			return () => close(name.value);
		}, (error) => error.status === 412 ? `There is a tenant “${name.value}” already.` : error.message,
		[field('Name', name), field('Tier', tier, 'The level of service, which limits how many resources it may have')],
		button('Cancel', () => close()), h('button.primary', { type: 'submit' }, 'Create'));
	});
	if (id !== undefined) {
		announce(`Tenant ${id} was created.`);
		location.hash = tenantScreen(id);
	}
}

export function tenants() {
	if (!offers('listTenants'))
		return { title: 'Not offered here', content: [note('info', 'This endpoint lists no tenants, or not for you.')] };
	const first = (state, wanted) => query('/v2.0', { limit: PAGE, state, ...wanted });
	const state = select([['active', 'Active'], ['deleted', 'Deleted, can be brought back']], 'active', { 'aria-label': 'Which tenants',
		onchange: () => list.reload(first(state.value)) });
	const list = pagedList({
		label: 'tenants', of: ['tenant', 'tenants'], key: 'tenants', first: first('active'), nothing: 'No tenants.',
		columns: [
			{ title: 'Name', class_: '.grow', cell: (tenant) => tenant.id },
			{ title: 'Tier', cell: (tenant) => tenant.tier },
			{ title: 'Resources', class_: '.number', cell: (tenant) => number(tenant.resources) },
			{ title: 'Changed', wide: true, cell: (tenant) => time(tenant.updated_at) },
		],
		href: (tenant) => tenantScreen(tenant.id),
		search: takes('listTenants', 'labels') ? (wanted) => first(state.value, wanted) : undefined,
		matches: (tenant, text) => `${tenant.id}\n${tenant.tier}\n${JSON.stringify(tenant.metadata ?? {})}`.toLowerCase().includes(text),
	});
	return {
		title: 'Tenants',
		tools: [takes('listTenants', 'state') ? state : null, offers('listTiers') ? h('a.button', { href: screen('tiers') }, 'Tiers') : null,
			offers('putTenant') ? button('New tenant', create, { class_: 'primary' }) : null],
		content: [list, usageOfAll()],
	};
}
