// SPDX-License-Identifier: Apache-2.0
// Webhooks of a tenant, or the operators' own ("all"): what they are told of, how they do, and what could not be delivered.

import { address, call, isOperator, offers, query } from './api.js';
import { announce, button, confirm, field, h, note, number, panel, replace, requestForm, time } from './dom.js';
import { guard } from './editor.js';
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

// What the form sets, as a text: two that are alike were set alike.
const settingsOf = (webhook) => JSON.stringify([webhook.url, webhook.description, webhook.paused, webhook.verbs, webhook.types, webhook.actors]);

// The form of a webhook. read: the webhook as it was read, { known, etag }; null: a new one, whose name is asked.
function form(owner, read) {
	const known = read?.known;
	const inputs = {
		name: h('input', { required: true, maxlength: 255, autocomplete: 'off' }),
		url: h('input', { type: 'url', required: true, value: known?.url ?? '', placeholder: 'https://…', autocomplete: 'off' }),
		description: h('textarea', { rows: 2, value: known?.description ?? '', autocomplete: 'off' }),
		types: h('input', { value: (known?.types ?? []).join(' '), placeholder: 'configmaps secrets', autocomplete: 'off' }),
		actors: h('textarea', { rows: 2, value: (known?.actors ?? []).join('\n'), autocomplete: 'off', spellcheck: 'false' }),
		paused: h('input', { type: 'checkbox', checked: known?.paused ?? false }),
	};
	const boxes = verbs.map((name) => h('input', { type: 'checkbox', value: name, checked: known?.verbs?.includes(name) ?? false }));
	const described = inputs.description.value; // with line breaks as the browser has them
	const body = () => {
		const told = boxes.filter((box) => box.checked).map((box) => box.value);
		return JSON.stringify({ url: inputs.url.value, description: inputs.description.value === described ? known?.description : inputs.description.value || undefined,
			paused: inputs.paused.checked, verbs: told.length > 0 ? told : undefined, types: words(inputs.types).length > 0 ? words(inputs.types) : undefined,
			actors: lines(inputs.actors).length > 0 ? lines(inputs.actors) : undefined });
	};
	let saved = body();
	const save = async () => {
		const name = known?.name ?? inputs.name.value, sent = body();
		const answer = await call('PUT', addressOf(owner, name), { body: sent, headers: known ? { 'If-Match': read.etag } : { 'If-None-Match': '*' } });
		saved = sent;
		announce('Saved.');
		if (known)
			return reload;
		// wherever the user is by now
		await secret('The webhook’s secret', JSON.parse(answer.text).secret, 'The receiver needs it to verify the signatures. If it is lost, have another one made.');
		return () => location.hash = screenOf(owner, name);
	};
	const element = requestForm(save, (error) => error.status !== 412 ? `Not saved: ${error.message}`
		: known ? 'Not saved: it was changed since you read it. Load it again and look.' : 'Not saved: there is one of that name already.',
	[h('div.fields', null, known ? null : field('Name', inputs.name), field('Address', inputs.url), field('Description', inputs.description),
		field('Types', inputs.types, 'Separated by blanks; none: all'), field('Users', inputs.actors, 'One in each line; only their changes count; none: everybody’s')),
	h('fieldset.boxes', null, h('legend', null, 'Told of what was (none: of everything)'), boxes.map((box) => h('label', null, box, box.value))),
	h('fieldset.boxes', null, h('legend', null, 'For now'), h('label', null, inputs.paused, 'paused: nothing is sent; it goes on later where it stopped')),
	], h('button.primary', { type: 'submit' }, 'Save'));
	guard(element, () => !element.inert && body() !== saved); // what is being sent is not asked about
	return element;
}

export function newWebhook(owner) {
	return { title: 'A new webhook', crumbs: owner === 'all' ? [['Webhooks', screen('webhooks')]] : [[owner, tenantScreen(owner)], ['Webhooks', screenOf(owner)]],
		content: [panel('Webhook', form(owner, null))] };
}

const firstDeliveries = (owner, name) => query(addressOf(owner, name, 'deliveries'), { limit: PAGE });

// A list of them. revive(message): has one sent again; a ping is sent once.
function deliveries(owner, name, revive) {
	return pagedList({ label: 'deliveries', of: ['delivery', 'deliveries'], key: 'deliveries', first: firstDeliveries(owner, name),
		nothing: 'Nothing is being sent, and nothing was given up.',
		columns: [
			{ title: 'Message', class_: '.grow', cell: (one) => one.message },
			{ title: 'What', cell: (one) => one.kind === 'ping' ? 'ping' : `changes ${one.after + 1} to ${one.upto}` },
			{ title: 'State', cell: (one) => one.state === 'dead' ? h('span.bad', null, 'given up') : one.state },
			{ title: 'Attempts', class_: '.number', cell: (one) => number(one.attempts) },
			{ title: 'Error', wide: true, class_: '.grow', cell: (one) => one.error ?? (one.status ? `answered ${one.status}` : '') },
			{ title: '', cell: (one) => one.state === 'dead' && one.kind === 'changes' && may(owner, 'reviveWebhook')
				? button('Send again', () => revive(one.message), { class_: 'small', 'aria-label': `Send ${one.message} again` }) : '' },
		] });
}

function factsOf(webhook) {
	const rows = [['State', stateOf(webhook)], ['Told up to change', number(webhook.upto)], ['Given up', number(webhook.dead)],
		['Failing since', webhook.failing_since ? time(webhook.failing_since) : null], ['Attempts', webhook.attempts || null],
		['Next attempt', webhook.next_attempt_at ? time(webhook.next_attempt_at) : null], ['Last error', webhook.error ?? (webhook.status ? `answered ${webhook.status}` : null)],
		['The old secret counts until', webhook.old_secret_until ? time(webhook.old_secret_until) : null]];
	return h('dl.facts', null, rows.filter(([, value]) => value !== null).map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

const toldOfAll = ({ revived }) => revived > 0 ? 'They are sent again.' : 'Nothing that was given up can be sent again: a ping is sent once.';

export async function webhook(owner, name) {
	const get = async () => {
		const answer = await call('GET', addressOf(owner, name));
		return { known: JSON.parse(answer.text), etag: answer.etag };
	};
	const read = await get(), { known } = read, problem = h('div'), about = h('div', null, factsOf(known));
	const action = (what, message) => call('POST', query(addressOf(owner, name, 'action', what), { message }));
	// Shows what became of it, and leaves the form as it is, with what was typed. If the settings are those that the form began with, what is saved
	// next is based on what is there now; else saving it says that somebody has changed them.
	const refresh = async () => {
		const now = await get();
		if (settingsOf(now.known) === settingsOf(known))
			read.etag = now.etag;
		replace(about, factsOf(now.known));
		if (reviveAll)
			reviveAll.hidden = now.known.dead === 0;
		list?.reload(firstDeliveries(owner, name));
	};
	// Does what a button says, tells it, and shows what became of it. told: a text, or a function that makes it of the answer's document.
	const act = async (run, told) => {
		replace(problem);
		try {
			const answer = await run();
			announce(typeof told === 'function' ? told(JSON.parse(answer.text)) : told);
			if (problem.isConnected)
				await refresh();
		} catch (error) {
			replace(problem, note('bad', error.message));
		}
	};
	const rotate = async () => {
		if (!await confirm('Make another secret?', 'For a while messages carry a signature by each of the two, so that the receiver can be changed without a loss.', 'Make it'))
			return;
		try {
			await secret('The webhook’s new secret', JSON.parse((await action('rotate')).text).secret, 'Give it to the receiver before the old one ends.');
			if (problem.isConnected)
				await refresh();
		} catch (error) {
			replace(problem, note('bad', error.message));
		}
	};
	const remove = async () => {
		if (!await confirm('Delete this webhook?', `${known.url} is told of nothing more, and what was not sent yet is not sent.`, 'Delete', 'danger'))
			return;
		try {
			await call('DELETE', addressOf(owner, name), { headers: { 'If-Match': read.etag } });
			announce(`Webhook ${name} was deleted.`);
			location.hash = screenOf(owner);
		} catch (error) {
			replace(problem, note('bad', error.status === 412 ? 'Not deleted: it was changed since you read it. Load it again and look.' : `Not deleted: ${error.message}`));
		}
	};
	const reviveAll = may(owner, 'reviveWebhook') ? button('Send all again', () => act(() => action('revive'), toldOfAll), { hidden: known.dead === 0 }) : null;
	const list = may(owner, 'listDeliveries') ? deliveries(owner, name, (message) => act(() => action('revive', message), 'It is sent again.')) : null;
	return {
		title: name, sub: known.url, crumbs: owner === 'all' ? [['Webhooks', screen('webhooks')]] : [[owner, tenantScreen(owner)], ['Webhooks', screenOf(owner)]],
		tools: [
			may(owner, 'pingWebhook') ? button('Ping', () => act(() => action('ping'), 'A ping is on its way.')) : null,
			reviveAll,
			may(owner, 'rotateWebhook') ? button('New secret', rotate, { icon: 'key' }) : null,
			may(owner, 'deleteWebhook') ? button('Delete', remove, { class_: 'danger', icon: 'trash' }) : null,
		],
		content: [problem, about, may(owner, 'putWebhook') ? panel('Webhook', form(owner, read)) : null, list ? panel('Deliveries', list) : null],
	};
}

export function webhooks() {
	if (!isOperator() || !offers('listAllWebhooks'))
		return { title: 'Not offered here', content: [note('info', 'This endpoint has no webhooks of operators, or not for you.')] };
	return { title: 'Webhooks', sub: 'told of the changes of all tenants', ...webhooksOf('all') };
}
