// SPDX-License-Identifier: Apache-2.0
// Many resources from a file, as `tenure import` does it: each row is a request of its own, and a row that is refused keeps no other from being
// imported. First what would be done is shown; then it is done.

import { address, call, isMine, offers, passing, typePermits } from './api.js';
import { announce, button, field, h, note, number, panel, replace, select } from './dom.js';
import { guard } from './editor.js';
import { equal, parse, text, without } from './json.js';
import { tenantScreen, typeCalled, typeOfKind, typesOf } from './places.js';
import { strip } from './resource.js';
import { rowsOf } from './rows.js';

const AT_ONCE = 4, TRIES = 10, SHOWN = 200;
const definitions = 'customresourcedefinitions.apiextensions.k8s.io';
const results = ['created', 'replaced', 'unchanged', 'refused'];

class Refused extends Error {
}

// ---- a row's parts

// The members that a client sets, without those that every document of the type has alike.
function own(document) {
	const rest = without(strip(document), ['kind', 'apiVersion']), metadata = rest.get('metadata');
	if (metadata === undefined)
		return rest;
	const left = without(metadata, ['type']);
	return left.size > 0 ? new Map([...rest].map(([name, value]) => [name, name === 'metadata' ? left : value])) : without(rest, ['metadata']);
}

// Has a row traits? The service ignores them in a PUT of the document: a call of their own sets them.
function hasTraits(metadata) {
	const traits = metadata.get('traits');
	return Array.isArray(traits) && traits.length > 0;
}

// { path, label, etag, own, traits, needs } of a document. Throws Refused.
function prepare(choice, document) {
	const metadata = document.get('metadata'), member = (name) => {
		const value = metadata instanceof Map ? metadata.get(name) : undefined;
		return typeof value === 'string' && value !== '' ? value : undefined;
	};
	const name = member('name'), said = member('type') === undefined ? typeOfKind(document.get('kind')) : typeCalled(member('type'));
	const wanted = choice.type || said, type = choice.types.find((one) => one.type === wanted);
	if (!wanted)
		throw new Refused('which type? Choose one above, or give a column “type” or a “kind” that is built in');
	if (!type)
		throw new Refused(`there is no type “${wanted}” here`);
	if (name === undefined)
		throw new Refused('there is no “name” in its “metadata”');
	const parts = type.namespaced ? ['namespaces', member('namespace') ?? 'default', type.type, name] : [type.type, name];
	if (parts.some((part) => part === '.' || part === '..' || part.includes('/')))
		throw new Refused('that can’t be the address of a resource');
	// What has to be there before: rows that make it may stand above.
	const needs = [...type.namespaced ? [address(choice.tenant, 'namespaces', parts[1])] : [], address(choice.tenant, definitions, type.type)];
	return { path: address(choice.tenant, ...parts), label: parts.join('/'), etag: member('etag'), own: own(document), traits: hasTraits(metadata), needs };
}

// ---- deciding

const guarded = (choice, row) => choice.rule === 'guarded' && row.etag !== undefined;
const bare = (etag) => (etag ?? '').replace(/^W\//, '').replaceAll('"', '');

function otherContent(choice, row) {
	return new Refused(guarded(choice, row) ? 'it was changed since the row’s etag was read' : 'it is there already, with other content');
}

// Does the service refuse a dry run only for want of what rows above would make? Then it can't look at the document.
const awaits = (choice, row, error) => error.status === 404 && row.needs.some((need) => choice.foreseen.has(need));

// What is there: { etag, same }; null: nothing.
async function look(row) {
	try {
		const answer = await call('GET', row.path);
		if (answer.redirected)
			throw new Refused('it has moved to another tenant');
		return { etag: answer.etag, same: equal(own(parse(answer.text)), row.own) };
	} catch (error) {
		if (error.status === 404 || error.status === 410)
			return null;
		throw error;
	}
}

// Would the row change what is there, with that etag? Documents that differ do not tell: the service fills in a type's defaults, prunes unknown members
// and completes some types by their rules. So it tries the row, and a PUT that changes nothing keeps the etag. A row that it does not take differs.
// null: it was changed meanwhile.
async function changes(row, etag) {
	try {
		const answer = await call('PUT', `${row.path}?dry_run=true`, { body: text(row.own), headers: { 'If-Match': etag } });
		return bare(answer.etag) !== bare(etag);
	} catch (error) {
		if (error.status === 412)
			return null;
		if ([400, 409, 413, 422].includes(error.status))
			return true;
		throw error;
	}
}

// dry: the service answers as if it did it, and does nothing.
async function carryOut(choice, row, dry = false) {
	const body = text(row.own), path = dry ? `${row.path}?dry_run=true` : row.path;
	let headers = guarded(choice, row) ? { 'If-Match': `W/"${bare(row.etag)}"` } : { 'If-None-Match': '*' }, before = row.etag;
	for (let tries = 0; tries < TRIES; tries++) {
		try {
			const answer = await call('PUT', path, { body, headers });
			return answer.status === 201 ? 'created' : bare(answer.etag) === bare(before) ? 'unchanged' : 'replaced';
		} catch (error) {
			if (dry && !guarded(choice, row) && awaits(choice, row, error))
				return 'created';
			if (error.status !== 412)
				throw error;
		}
		const there = await look(row);
		if (there?.same)
			return 'unchanged';
		if (there !== null && choice.rule !== 'replace') {
			const would = await changes(row, there.etag);
			if (would === null)
				continue;
			if (would)
				throw otherContent(choice, row);
			return 'unchanged';
		}
		if (there === null && guarded(choice, row))
			throw new Refused('it is not there any more');
		headers = there === null ? { 'If-None-Match': '*' } : { 'If-Match': there.etag };
		before = there?.etag;
	}
	throw new Refused('others keep changing it');
}

// Would the service take the row after one above that would have changed the same address? It knows only what was there before, so it can say no more
// than whether the document is good. If something is there, its etag is sent, as its tenant may require one for each change.
async function replaceAgain(choice, row) {
	for (let tries = 0; tries < TRIES; tries++) {
		const there = await look(row);
		try {
			await call('PUT', `${row.path}?dry_run=true`, { body: text(row.own), headers: there === null ? {} : { 'If-Match': there.etag } });
			return 'replaced';
		} catch (error) {
			if (awaits(choice, row, error))
				return 'replaced';
			if (error.status !== 412)
				throw error;
		}
	}
	throw new Refused('others keep changing it');
}

// What the row would do. The service does not know what the rows above would have done: choice.foreseen has the content that each address would have.
async function foresee(choice, row) {
	const before = choice.foreseen.get(row.path);
	let result = 'unchanged';
	if (before === undefined) {
		result = await carryOut(choice, row, true);
	} else if (!equal(before, row.own)) {
		if (choice.rule !== 'replace')
			throw otherContent(choice, row);
		result = await replaceAgain(choice, row);
	}
	if (result !== 'unchanged')
		choice.foreseen.set(row.path, row.own);
	return result;
}

// ---- the screen

// Calls do_(choice, row) for each row, some at a time: rows of one resource in their order, and after the rows that create its namespace and type.
// tell({ line, label, result, why, traits }) is called for each row that was done or refused. stopped(): returns true if no more rows may be begun. stop(error) is
// called if the service can't be reached: the row counts as not tried, and not as refused.
async function run(choice, rows, do_, tell, stopped, stop) {
	const waiting = rows.map((one) => ({ one })), last = new Map();
	const next = async () => {
		while (waiting.length > 0 && !stopped()) {
			const { one } = waiting.shift();
			let label = '', result = 'refused', why = null, traits = false;
			try {
				if (one.wrong)
					throw new Refused(one.wrong);
				const row = prepare(choice, one.document);
				({ label, traits } = row);
				const mine = Promise.allSettled([row.path, ...row.needs].map((path) => last.get(path))).then(() => do_(choice, row));
				last.set(row.path, mine);
				result = await mine;
			} catch (error) {
				if (error.name === 'TypeError')
					console.error(error);
				if (passing(error)) {
					stop(error);
					continue;
				}
				why = error.message;
			}
			tell({ line: one.line, label, result, why, traits });
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, next));
}

const outcome = (dry, result) => dry ? { created: 'To be created', replaced: 'To be replaced', unchanged: 'There already', refused: 'Refused' }[result]
	: { created: 'Created', replaced: 'Replaced', unchanged: 'There already', refused: 'Refused' }[result];

export async function importRows(tenant) {
	if (!isMine(tenant) || !offers('putResource'))
		return { title: 'Not offered here', content: [note('info', 'This endpoint takes no resources, or not from you.')] };
	const types = await typesOf(tenant);
	const file = h('input', { type: 'file', accept: '.csv,.json,.ndjson,.jsonl', required: true, onchange: () => changed() });
	const choices = types.map((one) => one.type).filter((one) => typePermits(one, 'create') || typePermits(one, 'put'));
	const type = select([['', 'As each row says'], ...choices], '', { onchange: () => changed() });
	const rule = select([['create', 'Refuse the row'], ['guarded', 'Replace if the etag fits'], ['replace', 'Replace']], 'create', { onchange: () => changed() });
	const problem = h('div'), state = h('p.list-status', { role: 'status' }), counts = h('dl.facts'), body = h('tbody'), progress = h('progress', { hidden: true, max: 1, 'aria-label': 'How far it is' });
	const table = h('div.scroll', { hidden: true }, h('table.plain', null, h('thead', null, h('tr', null, ['Line', 'Resource', 'Why not'].map((title) => h('th', { scope: 'col' }, title)))), body));
	const look_ = button('See what it would do', () => go(true)), do_ = button('Import', () => go(false), { class_: 'primary', disabled: true });
	const stop = button('Stop', () => {
		stopping = true;
	}, { hidden: true });
	const inputs = [file, type, rule, look_, do_];
	let rows = null, stopping = false, running = false, importing = false;
	guard(body, () => importing, { title: 'Leave the import?', text: 'It is not finished. The rows that were sent stay imported, and no more are sent.' });

	const changed = () => {
		rows = null;
		do_.disabled = true;
		table.hidden = true;
		replace(problem);
		replace(counts);
		replace(body);
		state.textContent = '';
	};

	const begin = (dry) => {
		running = true;
		importing = !dry;
		stopping = false;
		inputs.forEach((input) => input.disabled = true);
	};

	// importable: is there something to import, as it was shown?
	const end = (importable) => {
		running = importing = false;
		inputs.forEach((input) => input.disabled = false);
		do_.disabled = !importable;
		stop.hidden = progress.hidden = true;
	};

	const go = async (dry) => {
		if (running)
			return;
		if (!file.files[0]) {
			replace(problem, note('bad', 'Choose a file first.'));
			file.focus();
			return;
		}
		replace(problem);
		replace(body);
		begin(dry); // before the file is read, or another one could be chosen meanwhile
		try {
			rows = dry || rows === null ? rowsOf(file.files[0].name, await file.files[0].text()) : rows;
		} catch (error) {
			rows = null;
			replace(problem, note('bad', error instanceof SyntaxError ? `${file.files[0].name}: ${error.message}` : `The file can’t be read: ${error.message}`));
			end(false);
			return;
		}
		const n = Object.fromEntries(results.map((result) => [result, 0]));
		const lines = []; // of the rows in the table
		let done = 0, withoutTraits = 0;
		stop.hidden = progress.hidden = false;
		const show = () => {
			progress.value = rows.length > 0 ? done / rows.length : 1;
			replace(counts, results.map((result) => h('div', null, h('dt', null, outcome(dry, result)), h('dd', null, number(n[result])))));
		};
		show();
		await run({ tenant, types, type: type.value, rule: rule.value, foreseen: new Map() }, rows, dry ? foresee : carryOut, (told) => {
			done++;
			n[told.result]++;
			if (told.traits && told.result === 'created')
				withoutTraits++;
			if (told.result === 'refused' && n.refused <= SHOWN) {
				table.hidden = false;
				const behind = lines.findIndex((line) => line > told.line), at = behind < 0 ? lines.length : behind;
				body.insertBefore(h('tr', null, h('td', null, number(told.line)), h('th', { scope: 'row' }, told.label), h('td', null, told.why)), body.children[at] ?? null);
				lines.splice(at, 0, told.line);
			}
			show();
		}, () => stopping || !body.isConnected, (error) => {
			stopping = true;
			replace(problem, note('bad', error.message));
		});
		end(!dry || n.created + n.replaced > 0);
		const more = (n.refused > SHOWN ? ` Of the refused ones the first ${SHOWN} are shown.` : '')
			+ (withoutTraits > 0 ? ` The traits of ${number(withoutTraits)} row${withoutTraits === 1 ? '' : 's'} are left out: a PUT of the resource’s address and “/traits” sets them.` : '');
		state.textContent = done < rows.length ? `Stopped after ${number(done)} of ${number(rows.length)} rows. Run it again to go on: what is there already stays.${more}`
			: dry ? `${number(rows.length)} rows were compared with what is there. Nothing was changed yet.${more}`
			: `${number(rows.length)} rows were imported or refused.${more}`;
		if (!dry)
			announce(`${number(n.created + n.replaced)} of ${number(rows.length)} rows were imported.`);
	};
	return { title: 'Import', sub: 'resources from a file', crumbs: [[tenant, tenantScreen(tenant)]], content: [h('div.fields', null,
		field('File', file, 'CSV, whose first line names the columns (name, namespace, data.color); a JSON list; or a JSON document on each line'),
		field('Type', type), field('If it is there already', rule, 'Only where its content differs. Etags are those of the rows.')), problem, h('div.actions.start', null, look_, do_, stop), progress, panel('Rows', counts, state, table)] };
}
