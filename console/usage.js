// SPDX-License-Identifier: Apache-2.0
// What a tenant had of each type over time, and which tenants had most: closed periods, which never change.

import { address, call, get, local, offers, query } from './api.js';
import { bars, ranks } from './chart.js';
import { announce, button, bytes, empty, field, h, note, number, panel, replace, select, time } from './dom.js';
import { tenantScreen } from './places.js';

const PAGE = 1000, PAGES = 10, KINDS = 5; // rows of a page; pages that a screen reads at most; types that have a colour of their own
const DAY = 86400e3;

// How far back, and in which steps.
const spans = new Map([
	['day', { label: 'The last 24 hours', length: DAY, step: 'hour' }],
	['month', { label: 'The last 30 days', length: 30 * DAY, step: 'day' }],
	['year', { label: 'The last 12 months', length: 365 * DAY, step: 'month' }],
]);

// What is counted. value: of a row that stands for so many seconds.
const measures = new Map([
	['resources', { label: 'Resources, on average', value: (row, seconds) => Number(row.resource_seconds) / seconds, format: (n) => number(Math.round(n * 100) / 100) }],
	['bytes', { label: 'Bytes, on average', value: (row, seconds) => Number(row.byte_seconds) / seconds, format: (n) => bytes(Math.round(n)) }],
	['hours', { label: 'Resource-hours', value: (row) => Number(row.resource_seconds) / 3600, format: (n) => number(Math.round(n * 100) / 100) }],
]);

const seconds = (row) => (Date.parse(row.to) - Date.parse(row.from)) / 1000;

// A step of single periods begins a day earlier: a period that began then may end within the span, and none is longer than a day. begin: where it shall
// begin instead.
function parameters(span, step = spans.get(span).step, begin = null) {
	const to = Date.now(), from = begin ?? to - spans.get(span).length - (step === 'period' ? DAY : 0);
	return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step, limit: PAGE };
}

// Does work(step) with the span's step. The service refuses steps of an hour where a period is longer; then each period is one.
async function inSteps(span, work) {
	const { step } = spans.get(span);
	try {
		return await work(step);
	} catch (error) {
		if (step !== 'hour' || error.status !== 400)
			throw error;
		return await work('period');
	}
}

// All rows of these pages, up to PAGES of them; whole tells whether there are no more.
async function rowsOf(path) {
	const rows = [];
	let next = path, closed = null;
	for (let i = 0; next && i < PAGES; i++) {
		const answer = await get(next);
		rows.push(...answer.usage);
		closed = answer.closed_until ?? closed;
		next = answer.next ? local(answer.next) : null;
	}
	return { rows, closed, whole: !next };
}

// Saves all pages as one CSV file. A link could not: it would lack the header field that makes the cookie count.
async function saveCsv(path, name) {
	const texts = [];
	for (let next = path; next;) {
		const answer = await call('GET', next, { headers: { Accept: 'text/csv' } });
		texts.push(answer.text);
		next = answer.next;
	}
	const url = URL.createObjectURL(new Blob(texts, { type: 'text/csv' }));
	h('a', { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60e3);
}

function label(begun, step) {
	const at = new Date(begun);
	return step === 'hour' ? at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' })
		: at.toLocaleDateString('en-GB', { ...step === 'day' ? { day: 'numeric' } : { year: '2-digit' }, month: 'short', timeZone: 'UTC' });
}

// When the step began that this time lies in, and when the next one does; both in UTC, as the service has them.
function beginning(at, step) {
	const date = new Date(at);
	if (step === 'period')
		return date.getTime();
	if (step === 'month')
		return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
	return step === 'day' ? date.setUTCHours(0, 0, 0, 0) : date.setUTCMinutes(0, 0, 0);
}

const following = (at, step) => step === 'month' ? beginning(at + 32 * DAY, step) : at + (step === 'day' ? DAY : DAY / 24);

// All periods from the first row's to the last one's. Where nothing was counted, they are taken to be as long as the one before.
function periodsOf(rows) {
	const ends = new Map(rows.map((row) => [beginning(row.from, 'period'), Date.parse(row.to)])), steps = [];
	let next, length;
	for (const at of [...ends.keys()].sort((a, b) => a - b)) {
		for (; next < at; next += length)
			steps.push(next);
		steps.push(at);
		next = ends.get(at);
		length = next - at;
	}
	return steps;
}

// All steps from the first row's to the last one's: in some of them nothing may have been counted.
function stepsOf(rows, step) {
	if (step === 'period')
		return periodsOf(rows);
	const begun = rows.map((row) => beginning(row.from, step)), last = Math.max(...begun), steps = [];
	for (let at = Math.min(...begun); at <= last; at = following(at, step))
		steps.push(at);
	return steps;
}

// A bar for each step, in which the types that had most stand by themselves.
function chart(rows, step, measure) {
	const steps = stepsOf(rows, step), sums = new Map();
	for (const row of rows)
		sums.set(row.type, (sums.get(row.type) ?? 0) + measure.value(row, seconds(row)));
	const types = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a) || (a < b ? -1 : 1));
	const named = types.length > KINDS ? types.slice(0, KINDS - 1) : types;
	const series = named.map((type, i) => ({ name: type, kind: `part-${i + 1}`, values: steps.map(() => 0) }));
	if (types.length > named.length)
		series.push({ name: `${types.length - named.length} other types`, kind: `part-${KINDS}`, values: steps.map(() => 0) });
	for (const row of rows)
		(series[named.indexOf(row.type)] ?? series.at(-1)).values[steps.indexOf(beginning(row.from, step))] += measure.value(row, seconds(row));
	const like = step !== 'period' ? step : steps.every((at) => at % DAY === 0) ? 'day' : 'hour';
	return bars(`${measure.label}, by type`, steps.map((at) => label(at, like)), series, measure.format);
}

function counted({ closed, whole }) {
	return h('p.muted', null, closed ? ['Counted until ', time(closed), '. Periods that are closed never change.'] : 'No period is closed yet.',
		whole ? null : ' There is more than is shown here: the export has all of it.');
}

// The choice of span and measure, and what it shows: draw(span, measure) resolves with the content.
function chosen(draw) {
	const place = h('div', null, h('p.loading', null, 'Loading…'));
	const span = select([...spans].map(([key, one]) => [key, one.label]), 'month', { onchange: () => show() });
	const measure = select([...measures].map(([key, one]) => [key, one.label]), 'resources', { onchange: () => show() });
	let run = 0;
	const show = async () => {
		const mine = ++run;
		place.setAttribute('aria-busy', 'true');
		let content;
		try {
			content = await draw(span.value, measures.get(measure.value));
		} catch (error) {
			content = note('bad', error.message);
		}
		if (mine !== run)
			return;
		place.removeAttribute('aria-busy');
		replace(place, content);
	};
	show();
	return { place, span, fields: h('div.fields', null, field('Time', span), field('Shown', measure)) };
}

const exporting = (save, problem) => async () => {
	replace(problem);
	try {
		await save();
		announce('The export is complete.');
	} catch (error) {
		replace(problem, note('bad', `Not exported: ${error.message}`));
	}
};

// The screen of one tenant.
export function usageOf(tenant) {
	const path = (span, step, begin) => query(address(tenant, 'usage'), parameters(span, step, begin)), problem = h('div');
	let read = null;
	// What is shown of the span: the step, its rows, and the answer they are of.
	const shown = async (span) => {
		if (read?.span !== span)
			read = { span, ...await inSteps(span, async (step) => ({ step, answer: await rowsOf(path(span, step)) })) };
		const { step, answer } = read, since = Date.now() - spans.get(span).length;
		return { step, answer, rows: step === 'period' ? answer.rows.filter((row) => Date.parse(row.to) > since) : answer.rows };
	};
	const view = chosen(async (span, measure) => {
		const { step, answer, rows } = await shown(span);
		return [rows.length > 0 ? chart(rows, step, measure) : empty('Nothing was counted in that time.'), counted(answer)];
	});
	const save = async () => {
		const span = view.span.value, { step, rows } = await shown(span);
		await saveCsv(path(span, step, step === 'period' && rows.length > 0 ? rows[0].from : null), `usage-${tenant}.csv`);
	};
	return { content: [problem, panel('Usage', view.fields, view.place)], tools: [button('Export as CSV', exporting(save, problem))] };
}

// For operators: the tenants that had most.
export function usageOfAll() {
	if (!offers('listAllUsage'))
		return null;
	const path = (span) => query('/v2.0/all/usage', parameters(span, 'month')), problem = h('div');
	let read = null;
	const view = chosen(async (span, measure) => {
		if (read?.span !== span)
			read = { span, answer: await rowsOf(path(span)) };
		const { rows } = read.answer, sums = new Map();
		const all = [...new Set(rows.map((row) => row.from))].reduce((sum, from) => sum + seconds(rows.find((row) => row.from === from)), 0);
		// Tenants that had one name, one after the other, have uids of their own; the rows of the last one come last, and it alone may be there still.
		const last = new Map(rows.map((row) => [row.tenant, row.uid])), shared = new Set(rows.filter((row) => row.uid !== last.get(row.tenant)).map((row) => row.tenant));
		for (const row of rows) {
			const sum = sums.get(row.uid) ?? { name: shared.has(row.tenant) ? `${row.tenant} (${row.uid.slice(0, 8)})` : row.tenant, value: 0,
				href: row.uid === last.get(row.tenant) ? tenantScreen(row.tenant) : null };
			sum.value += measure.value(row, all);
			sums.set(row.uid, sum);
		}
		const most = [...sums.values()].sort((a, b) => b.value - a.value).slice(0, 10);
		return [most.length > 0 ? ranks(`${measure.label}: the tenants that had most`, most, measure.format) : empty('Nothing was counted in that time.'), counted(read.answer)];
	});
	return panel('Usage', problem, view.fields, view.place, h('div.actions.start', null,
		button('Export as CSV', exporting(() => saveCsv(path(view.span.value), 'usage.csv'), problem))));
}
