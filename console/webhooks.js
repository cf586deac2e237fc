// SPDX-License-Identifier: Apache-2.0
// Webhooks of a tenant, or the operators' own ("all"): what they are told of, how they do, and what could not be delivered.

import { address, call, isOperator, offers, query } from './api.js';
import { announce, button, confirm, field, h, note, number, panel, replace, requestForm, time } from './dom.js';
import { pagedList } from './list.js';
import { reload, screen, tenantScreen } from './places.js';
import { secret } from './secret.js';

const PAGE = 1000;
const verbs = ['created', 'updated', 'deleted', 'recovered', 'moved', 'purged'];

// The operators' own have methods of other names: getAllWebhook.
const may = (owner, what) => offers(owner === 'all' ? what.replace('Webhook', 'AllWebhook').replace('Deliveries', 'AllDeliveries') : what);
const addressOf = (owner, ...parts) => address(owner, 'webhooks', ...parts);
const screenOf = (owner, ...parts) => owner === 'all' ? screen('webhooks', ...parts) : tenantScreen(owner, 'webhooks', ...parts);
const words = (input) => input.value.split(/[\s,]+/).filter((word) => word !== '');
const lines = (input) => input.value.split('\n').filter((line) => line !== ''); // a user's name may have blanks and commas

const stateOf = (webhook) => webhook.state === 'active' ? h('span.good', null, 'active') : webhook.state === 'paused' ? 'paused' : h('span.bad', null, webhook.state);

export function webhooksOf(owner) {
	return {
		tools: [may(owner, 'putWebhook') ? h('a.button.primary', { href: owner === 'all' ? screen('new-webhook') : tenantScreen(owner, 'new-webhook') }, 'New webhook') : null],
		content: [pagedList({ label: 'webhooks', of: ['webhook', 'webhooks'], key: 'webhooks', first: query(addressOf(owner), { limit: PAGE }), nothing: 'No webhooks.',
			columns: [
				{ title: 'Name', cell: (webhook) => webhook.name },
				{ title: 'Address', class_: '.grow', cell: (webhook) => webhook.url },
				{ title: 'State', cell: stateOf },
				{ title: 'Given up', class_: '.number', cell: (webhook) => number(webhook.dead) },
			],
			href: (webhook) => screenOf(owner, webhook.name),
			matches: (webhook, text) => `${webhook.name}\n${webhook.url}\n${webhook.state}\n${webhook.description ?? ''}`.toLowerCase().includes(text) })],
	};
}

// ---- one

// The form of a webhook. known: the webhook as it was read; null: a new one, whose name is asked.
function form(owner, known, etag) {
	const inputs = {
		name: h('input', { required: true, maxlength: 255, autocomplete: 'off' }),
		url: h('input', { type: 'url', required: true, value: known?.url ?? '', placeholder: 'https://…', autocomplete: 'off' }),
		description: h('input', { value: known?.description ?? '', autocomplete: 'off' }),
		types: h('input', { value: (known?.types ?? []).join(' '), placeholder: 'configmaps secrets', autocomplete: 'off' }),
		actors: h('textarea', { rows: 2, value: (known?.actors ?? []).join('\n'), autocomplete: 'off', spellcheck: 'false' }),
		paused: h('input', { type: 'checkbox', checked: known?.paused ?? false }),
	};
	const boxes = verbs.map((name) => h('input', { type: 'checkbox', value: name, checked: known?.verbs?.includes(name) ?? false }));
	const save = async () => {
		const name = known?.name ?? inputs.name.value, told = boxes.filter((box) => box.checked).map((box) => box.value);
		const body = { url: inputs.url.value, description: inputs.description.value || undefined, paused: inputs.paused.checked, verbs: told.length > 0 ? told : undefined,
			types: words(inputs.types).length > 0 ? words(inputs.types) : undefined, actors: lines(inputs.actors).length > 0 ? lines(inputs.actors) : undefined };
		const answer = await call('PUT', addressOf(owner, name), { body: JSON.stringify(body), headers: known ? { 'If-Match': etag } : { 'If-None-Match': '*' } });
		announce('Saved.');
		if (known)
			return reload;
		// wherever the user is by now
		await secret('The webhook’s secret', JSON.parse(answer.text).secret, 'The receiver needs it to verify the signatures. If it is lost, have another one made.');
		return () => location.hash = screenOf(owner, name);
	};
	return requestForm(save, (error) => error.status !== 412 ? `Not saved: ${error.message}`
		: known ? 'Not saved: it was changed since you read it. Load it again and look.' : 'Not saved: there is one of that name already.',
	[h('div.fields', null, known ? null : field('Name', inputs.name), field('Address', inputs.url), field('Description', inputs.description),
		field('Types', inputs.types, 'Separated by blanks; none: all'), field('Users', inputs.actors, 'One in each line; only their changes count; none: everybody’s')),
	h('fieldset.boxes', null, h('legend', null, 'Told of what was (none: of everything)'), boxes.map((box) => h('label', null, box, box.value))),
	h('fieldset.boxes', null, h('legend', null, 'For now'), h('label', null, inputs.paused, 'paused: nothing is sent; it goes on later where it stopped')),
	], h('button.primary', { type: 'submit' }, 'Save'));
}

export function newWebhook(owner) {
	return { title: 'A new webhook', crumbs: owner === 'all' ? [['Webhooks', screen('webhooks')]] : [[owner, tenantScreen(owner)], ['Webhooks', screenOf(owner)]],
		content: [panel('Webhook', form(owner, null, null))] };
}

// Does what the button says, tells it, and shows the screen anew.
async function act(run, told, problem) {
	replace(problem);
	try {
		await run();
		announce(told);
		if (problem.isConnected)
			reload();
	} catch (error) {
		replace(problem, note('bad', error.message));
	}
}

function deliveries(owner, name, problem) {
	const revive = (message) => act(() => call('POST', query(addressOf(owner, name, 'action', 'revive'), { message })), 'It is sent again.', problem);
	return panel('Deliveries', pagedList({ label: 'deliveries', of: ['delivery', 'deliveries'], key: 'deliveries', first: query(addressOf(owner, name, 'deliveries'), { limit: PAGE }),
		nothing: 'Nothing is being sent, and nothing was given up.',
		columns: [
			{ title: 'Message', class_: '.grow', cell: (one) => one.message },
			{ title: 'What', cell: (one) => one.kind === 'ping' ? 'ping' : `changes ${one.after + 1} to ${one.upto}` },
			{ title: 'State', cell: (one) => one.state === 'dead' ? h('span.bad', null, 'given up') : one.state },
			{ title: 'Attempts', class_: '.number', cell: (one) => number(one.attempts) },
			{ title: 'Error', wide: true, class_: '.grow', cell: (one) => one.error ?? (one.status ? `answered ${one.status}` : '') },
			{ title: '', cell: (one) => one.state === 'dead' && may(owner, 'reviveWebhook')
				? button('Send again', () => revive(one.message), { class_: 'small', 'aria-label': `Send ${one.message} again` }) : '' },
		] }));
}

function factsOf(webhook) {
	const rows = [['State', stateOf(webhook)], ['Told up to change', number(webhook.upto)], ['Given up', number(webhook.dead)],
		['Failing since', webhook.failing_since ? time(webhook.failing_since) : null], ['Attempts', webhook.attempts || null],
		['Next attempt', webhook.next_attempt_at ? time(webhook.next_attempt_at) : null], ['Last error', webhook.error ?? (webhook.status ? `answered ${webhook.status}` : null)],
		['The old secret counts until', webhook.old_secret_until ? time(webhook.old_secret_until) : null]];
	return h('dl.facts', null, rows.filter(([, value]) => value !== null).map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

export async function webhook(owner, name) {
	const answer = await call('GET', addressOf(owner, name)), known = JSON.parse(answer.text), problem = h('div');
	const action = (what) => call('POST', addressOf(owner, name, 'action', what));
	const rotate = async () => {
		if (!await confirm('Make another secret?', 'For a while messages carry a signature by each of the two, so that the receiver can be changed without a loss.', 'Make it'))
			return;
		try {
			await secret('The webhook’s new secret', JSON.parse((await action('rotate')).text).secret, 'Give it to the receiver before the old one ends.');
			if (problem.isConnected)
				reload();
		} catch (error) {
			replace(problem, note('bad', error.message));
		}
	};
	const remove = async () => {
		if (!await confirm('Delete this webhook?', `${known.url} is told of nothing more, and what was not sent yet is not sent.`, 'Delete', 'danger'))
			return;
		try {
			await call('DELETE', addressOf(owner, name), { headers: { 'If-Match': answer.etag } });
			announce(`Webhook ${name} was deleted.`);
			location.hash = screenOf(owner);
		} catch (error) {
			replace(problem, note('bad', error.status === 412 ? 'Not deleted: it was changed since you read it. Load it again and look.' : `Not deleted: ${error.message}`));
		}
	};
	return {
		title: name, sub: known.url, crumbs: owner === 'all' ? [['Webhooks', screen('webhooks')]] : [[owner, tenantScreen(owner)], ['Webhooks', screenOf(owner)]],
		tools: [
			may(owner, 'pingWebhook') ? button('Ping', () => act(() => action('ping'), 'A ping is on its way.', problem)) : null,
			known.dead > 0 && may(owner, 'reviveWebhook') ? button('Send all again', () => act(() => action('revive'), 'They are sent again.', problem)) : null,
			may(owner, 'rotateWebhook') ? button('New secret', rotate, { icon: 'key' }) : null,
			may(owner, 'deleteWebhook') ? button('Delete', remove, { class_: 'danger', icon: 'trash' }) : null,
		],
		content: [problem, factsOf(known), may(owner, 'putWebhook') ? panel('Webhook', form(owner, known, answer.etag)) : null,
			may(owner, 'listDeliveries') ? deliveries(owner, name, problem) : null],
	};
}

export function webhooks() {
	if (!isOperator() || !offers('listAllWebhooks'))
		return { title: 'Not offered here', content: [note('info', 'This endpoint has no webhooks of operators, or not for you.')] };
	return { title: 'Webhooks', sub: 'told of the changes of all tenants', ...webhooksOf('all') };
}
