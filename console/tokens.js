// SPDX-License-Identifier: Apache-2.0
// The tokens of a tenant's users: made, shown once, revoked.

import { address, call, isMine, offers } from './api.js';
import { announce, button, confirm, dialog, field, h, instant, moment, note, replace, requestForm, select, time } from './dom.js';
import { pagedList } from './list.js';
import { reload } from './places.js';
import { secret } from './secret.js';

async function create(tenant) {
	const token = await dialog('A new token', (close) => {
		const inputs = {
			user: h('input', { required: true, maxlength: 255, autocomplete: 'off', autofocus: true }),
			role: select(tenant === 'system' ? ['operator'] : ['reader', 'member', 'admin'], tenant === 'system' ? 'operator' : 'reader'),
			description: h('input', { maxlength: 1024, autocomplete: 'off' }),
			expires: moment(),
		};
		return requestForm(async () => {
			const answer = await call('POST', address(tenant, 'tokens'), { body: JSON.stringify({ token: { user: inputs.user.value, role: inputs.role.value,
				description: inputs.description.value || undefined, expires_at: instant(inputs.expires) } }) });
			return () => close(JSON.parse(answer.text).token);
		}, (error) => error.message, [field('User', inputs.user, 'Changes by this token are logged under this name'), field('Role', inputs.role),
			field('Description', inputs.description), field('Ends', inputs.expires, 'Without it the token lasts until it is revoked')],
		button('Cancel', () => close()), h('button.primary', { type: 'submit' }, 'Make'));
	});
	if (token) {
		await secret('The token', token.secret, `It is for ${token.user}. If it is lost, revoke it and make another.`);
		reload();
	}
}

async function revoke(tenant, token, problem) {
	if (!await confirm('Revoke this token?', `${token.id}, of ${token.user}. What uses it is refused from then on, and this can’t be undone.`, 'Revoke', 'danger'))
		return;
	try {
		await call('DELETE', address(tenant, 'tokens', token.id));
		announce(`Token ${token.id} was revoked.`);
		reload();
	} catch (error) {
		replace(problem, note('bad', `Not revoked: ${error.message}`));
	}
}

export function tokensOf(tenant) {
	const problem = h('div'), changes = isMine(tenant);
	const list = pagedList({ label: 'tokens', of: ['token', 'tokens'], key: 'tokens', first: `${address(tenant, 'tokens')}?limit=1000`, nothing: 'No tokens.',
		columns: [
			{ title: 'Id', cell: (token) => token.id },
			{ title: 'User', class_: '.grow', cell: (token) => token.user },
			{ title: 'Role', cell: (token) => token.role },
			{ title: 'State', cell: (token) => token.state === 'valid' ? 'valid' : h('span.bad', null, token.state) },
			{ title: 'Description', wide: true, class_: '.grow', cell: (token) => token.description ?? '' },
			{ title: 'Used last', wide: true, cell: (token) => token.last_used_at ? time(token.last_used_at) : '' },
			{ title: 'Ends', cell: (token) => token.expires_at ? time(token.expires_at) : 'when revoked' },
			{ title: '', cell: (token) => token.state === 'valid' && changes && offers('deleteToken')
				? button('Revoke', () => revoke(tenant, token, problem), { 'aria-label': `Revoke ${token.id}`, class_: 'small' }) : '' },
		],
		matches: (token, text) => `${token.id}\n${token.user}\n${token.role}\n${token.state}\n${token.description ?? ''}`.toLowerCase().includes(text) });
	return { content: [problem, list], tools: [changes && offers('postToken') ? button('New token', () => create(tenant), { class_: 'primary' }) : null] };
}
