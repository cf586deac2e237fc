// SPDX-License-Identifier: Apache-2.0
// Who did what, with filters: of all tenants for operators, of the own tenant for others.

import { address, isOperator, offers, query, takes, who } from './api.js';
import { field, h, instant, moment, note, select } from './dom.js';
import { pagedList } from './list.js';
import { changeColumns, changeTarget } from './places.js';

const verbs = [['', 'anything'], 'created', 'updated', 'deleted', 'recovered', 'moved', 'purged'];

export function audit() {
	const all = isOperator() && offers('listAllChanges'), method = all ? 'listAllChanges' : 'listChanges';
	if (!all && !who.tenant)
		return { title: 'Audit', content: [note('info', 'Your user belongs to no tenant, so there is nothing to show.')] };
	const path = all ? '/v2.0/all/changes' : address(who.tenant, 'changes');
	const inputs = {
		actor: h('input', { autocomplete: 'off' }),
		verb: select(verbs, ''),
		type: h('input', { autocomplete: 'off', placeholder: 'configmaps' }),
		resource: h('input', { autocomplete: 'off', placeholder: 'uid or path' }),
		from: moment(),
		to: moment(),
		text: h('input', { type: 'search', autocomplete: 'off' }),
	};
	const labels = { actor: 'Who', verb: 'Did', type: 'Type', resource: 'Resource', from: 'From', to: 'Until', text: 'Text' };
	const first = () => query(path, { order: 'newest', limit: 500, actor: inputs.actor.value, verb: inputs.verb.value, type: inputs.type.value,
		resource: inputs.resource.value, from: instant(inputs.from), to: instant(inputs.to), text: inputs.text.value });
	const list = pagedList({ label: 'changes', of: ['change', 'changes'], key: 'changes', first: first(), nothing: 'No change fits.', columns: changeColumns(all ? undefined : who.tenant),
		href: changeTarget(all ? undefined : who.tenant) });
	const form = h('form.filters', { 'aria-label': 'Filters', onsubmit: (event) => {
		event.preventDefault();
		list.reload(first());
	}, onreset: () => setTimeout(() => list.reload(first())) },
	Object.entries(inputs).filter(([name]) => takes(method, name)).map(([name, input]) => field(labels[name], input)),
	h('div.actions', null, h('button', { type: 'reset' }, 'Clear'), h('button.primary', { type: 'submit' }, 'Show')));
	return { title: 'Audit', sub: all ? 'of all tenants' : `of ${who.tenant}`, content: [form, list], wide: true };
}
