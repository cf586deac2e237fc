// SPDX-License-Identifier: Apache-2.0
// Charts as SVG. Each has a table beside it for those who can't see it.

import { h, svg, number } from './dom.js';

const HEIGHT = 170, LEFT = 44, BOTTOM = 22, LABEL = 100;

// In the units of its labels, which on a phone are as large as elsewhere.
const widthNow = () => matchMedia('(max-width: 48rem)').matches ? 360 : 1080;

// The smallest of 1, 2, 5, 10, 20 … that is not below n.
function ceiling(n) {
	let scale = 1;
	while (scale * 10 < n)
		scale *= 10;
	return [1, 2, 5, 10].map((step) => step * scale).find((step) => step >= n) ?? 1;
}

function table(title, columns, series, format) {
	return h('details.chart-table', null, h('summary', null, 'As a table'), h('div.scroll', null, h('table', null, h('caption', null, title),
		h('thead', null, h('tr', null, h('th', { scope: 'col' }, ''), series.map((one) => h('th', { scope: 'col' }, one.name)))),
		h('tbody', null, columns.map((column, i) => h('tr', null, h('th', { scope: 'row' }, column), series.map((one) => h('td', null, format(one.values[i])))))))));
}

// Bars, one upon the other: columns: labels; series: [{ name, kind, values }], a value for each column.
export function bars(title, columns, series, format = number) {
	const sums = columns.map((_, i) => series.reduce((sum, one) => sum + one.values[i], 0));
	const most = ceiling(Math.max(1, ...sums));
	const whole = widthNow(), width = (whole - LEFT) / Math.max(1, columns.length), scale = (HEIGHT - BOTTOM - 8) / most;
	const shapes = [];
	for (const part of [0, most / 2, most]) {
		const y = HEIGHT - BOTTOM - part * scale;
		shapes.push(svg('line', { class_: 'grid', x1: LEFT, x2: whole, y1: y, y2: y }),
			svg('text', { class_: 'axis', x: LEFT - 6, y: y + 4, 'text-anchor': 'end' }, Number.isInteger(part) ? format(part) : ''));
	}
	columns.forEach((column, i) => {
		let y = HEIGHT - BOTTOM;
		for (const one of series) {
			const tall = one.values[i] * scale;
			y -= tall;
			if (tall > 0)
				shapes.push(svg('rect', { class_: `bar bar-${one.kind}`, x: LEFT + i * width + 1, y, width: Math.max(1, width - 2), height: tall, rx: 1 },
					svg('title', null, `${column}: ${format(one.values[i])} ${one.name}`)));
		}
		if (i % Math.ceil(columns.length * LABEL / whole) === 0)
			shapes.push(svg('text', { class_: 'axis', x: LEFT + i * width + width / 2, y: HEIGHT - 6, 'text-anchor': 'middle' }, column));
	});
	return h('figure.chart', null, svg('svg', { viewBox: `0 0 ${whole} ${HEIGHT}`, role: 'img', 'aria-label': title }, shapes),
		h('figcaption', null, series.map((one) => h('span.key', null, h(`i.swatch.bar-${one.kind}`), one.name))), table(title, columns, series, format));
}

// Lines along the other axis: rows: [{ name, value, href }], the largest first.
export function ranks(title, rows, format = number) {
	const most = Math.max(1, ...rows.map((row) => row.value));
	return h('ol.ranks', { 'aria-label': title }, rows.map((row) => h('li', null, row.href ? h('a', { href: row.href }, row.name) : h('span', null, row.name),
		h('span.rank-bar', { 'aria-hidden': 'true' }, h('i', { style: { width: `${100 * row.value / most}%` } })), h('span.number', null, format(row.value)))));
}
