// SPDX-License-Identifier: Apache-2.0
// Files of rows, each of which is a resource's document, as `tenure import` reads them (src/cli/core/rows.c): CSV, whose first line names
// the columns by paths; a JSON list; or a JSON document on each line.

import { parse } from './json.js';

const COLUMNS_MAX = 1000;
// Names that lists give to members of the metadata, so that what they print as CSV can be imported; t/503-console-import.t compares them with those
// of `tenure import`.
export const shortColumns = [
	{ name: 'namespace', path: 'metadata.namespace', json: false }, { name: 'name', path: 'metadata.name', json: false },
	{ name: 'type', path: 'metadata.type', json: false }, { name: 'etag', path: 'metadata.etag', json: false },
	{ name: 'revision', path: 'metadata.resourceVersion', json: false }, { name: 'created', path: 'metadata.creationTimestamp', json: false },
	{ name: 'uid', path: 'metadata.uid', json: false }, { name: 'tenant', path: 'metadata.tenant', json: false },
	{ name: 'labels', path: 'metadata.labels', json: true }, { name: 'locked', path: 'metadata.locked', json: true },
	{ name: 'deleted', path: 'metadata.deletionTimestamp', json: false }, { name: 'purge', path: 'metadata.purgeTimestamp', json: false },
];

// ---- CSV (RFC 4180)

// The records of the text: { line, cells: [{ text, quoted }], wrong }.
function* records(text) {
	let at = 0, line = 1;
	while (at < text.length) {
		const record = { line, cells: [], wrong: null };
		for (let more = true; more;) {
			const cell = { text: '', quoted: text[at] === '"' };
			if (cell.quoted) {
				for (at++;; at++) {
					if (at >= text.length) {
						record.wrong = 'a quoted cell has no end';
						break;
					}
					if (text[at] === '"' && text[at + 1] !== '"')
						break;
					if (text[at] === '"')
						at++;
					if (text[at] === '\n')
						line++;
					cell.text += text[at];
				}
				at++;
			}
			const from = at;
			while (at < text.length && text[at] !== ',' && text[at] !== '\n')
				at++;
			const rest = text.slice(from, at).replace(text[at] === ',' ? '' : /\r$/, '');
			if (cell.quoted && rest !== '')
				record.wrong = 'something follows the end of a quoted cell; double the quotes in it';
			else if (rest.includes('"'))
				record.wrong = 'a quote stands amid a cell that does not begin with one';
			else if (rest.includes('\r'))
				record.wrong = 'a carriage return stands amid a line; quote the cell';
			cell.text += rest;
			record.cells.push(cell);
			more = text[at] === ',';
			at++;
		}
		line++;
		yield record;
	}
}

function columnOf(name) {
	const written = name.trim(), fromTop = written.startsWith('.'); // a path that begins with a dot is one from the document's top, whatever else it would mean
	const known = fromTop ? undefined : shortColumns.find((column) => column.name === written || column.path === written);
	if (known)
		return known;
	const path = fromTop ? written.slice(1) : written;
	return path.endsWith(':') ? { path: path.slice(0, -1), json: true } : { path, json: false };
}

function columnsOf(record) {
	const columns = record.cells.map((cell) => columnOf(cell.text)), paths = columns.map((column) => column.path);
	const bad = paths.find((path) => path.split('.').includes('')), twice = paths.find((path, i) => paths.indexOf(path) < i);
	if (record.wrong || columns.length > COLUMNS_MAX)
		throw new SyntaxError(`line 1: ${record.wrong ?? 'there are more than 1,000 columns'}`);
	if (bad !== undefined)
		throw new SyntaxError(`line 1: “${bad}” can be no column; expected a path such as data.color, or data.size: for JSON`);
	if (twice !== undefined)
		throw new SyntaxError(`line 1: column “${twice}” is there twice`);
	if (!paths.includes('metadata.name'))
		throw new SyntaxError('line 1: no column is called “name”');
	return columns;
}

function setPath(document, path, value) {
	const names = path.split('.');
	let at = document;
	for (const name of names.slice(0, -1)) {
		if (!(at.get(name) instanceof Map))
			at.set(name, new Map());
		at = at.get(name);
	}
	at.set(names.at(-1), value);
}

function documentOf(record, columns) {
	if (record.wrong)
		throw new SyntaxError(record.wrong);
	if (record.cells.length !== columns.length)
		throw new SyntaxError(`the row has ${record.cells.length} cells, and the first line names ${columns.length} columns`);
	const document = new Map();
	record.cells.forEach((cell, i) => {
		if (cell.text === '' && !cell.quoted)
			return;
		try {
			setPath(document, columns[i].path, columns[i].json ? parse(cell.text) : cell.text);
		} catch (error) {
			throw new SyntaxError(`column ${columns[i].path}: ${error.message}`);
		}
	});
	return document;
}

function csvRows(text) {
	const rows = [];
	let columns = null;
	for (const record of records(text)) {
		if (columns === null)
			columns = columnsOf(record);
		else if (record.cells.length > 1 || record.cells[0].text !== '' || record.cells[0].quoted)
			rows.push(row(record.line, () => documentOf(record, columns)));
	}
	if (columns === null)
		throw new SyntaxError('the file is empty; the first line names the columns: name,namespace,data.color');
	return rows;
}

// ---- JSON

// A row: where it begins, and its document or what is wrong with it.
function row(line, make) {
	try {
		const document = make();
		return document instanceof Map ? { line, document } : { line, wrong: 'it is no JSON object' };
	} catch (error) {
		if (!(error instanceof SyntaxError))
			throw error;
		return { line, wrong: error.message };
	}
}

// A list as the service or kubectl gives it has its documents in a member. A document of its own may have members of these names, too: unlike a
// list it has a name. null: it is no list.
function listIn(document) {
	const metadata = document instanceof Map ? document.get('metadata') : undefined;
	if (metadata instanceof Map && metadata.has('name'))
		return null;
	const list = document instanceof Map ? document.get(document.has('items') ? 'items' : 'resources') : document;
	return Array.isArray(list) ? list : null;
}

function jsonRows(text) {
	const list = listIn(parse(text));
	if (list === null)
		throw new SyntaxError('it is no JSON list of documents, nor an object that has one as “items”');
	return list.map((document, i) => row(i + 1, () => document));
}

const lineRows = (text) => text.split('\n').map((line, i) => [line.replace(/\r$/, ''), i + 1]).filter(([line]) => line.trim() !== '')
	.map(([line, number]) => row(number, () => parse(line)));

// Text that begins with an object has a document on each line; or it is one list, as `kubectl get -o json` prints it, whose first line goes on below.
function objectRows(text) {
	const first = text.split('\n', 1)[0];
	if (/[{[,:]\s*$/.test(first))
		return jsonRows(text);
	const only = row(1, () => parse(first));
	return only.document && listIn(only.document) ? jsonRows(text) : lineRows(text);
}

// The rows of a file: { line, document } or { line, wrong }. Its form is told by its name's ending, or else by its first character. Throws a
// SyntaxError where nothing can be read of it.
export function rowsOf(name, content) {
	const text = content.replace(/^\ufeff/, ''), ending = /\.([a-z]+)$/i.exec(name)?.[1].toLowerCase();
	const form = { csv: csvRows, json: jsonRows, ndjson: lineRows, jsonl: lineRows }[ending];
	if (form)
		return form(text);
	return text.startsWith('[') ? jsonRows(text) : text.startsWith('{') ? objectRows(text) : csvRows(text);
}
