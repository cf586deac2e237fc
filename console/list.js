// SPDX-License-Identifier: Apache-2.0
// A list of any length: pages are fetched as they come into sight, and only the rows in sight are elements.

import { get, local } from './api.js';
import { counted, h, number, replace, newId, button, note } from './dom.js';

const SPARE = 8; // rows above and below those in sight
const PAUSE = 300; // milliseconds without typing before the service is asked
const EMPTY_PAGES_MAX = 20; // pages in a row without a row to show, after which the user is asked whether to go on

// options:
//   first    address of the first page; its answer has the items under key, and "next"
//   columns  [{ title, cell: (item) => content, wide: shown only where there is room }]
//   href     (item) => address of its screen, or null
//   matches  (item, text) => whether it is shown where text was typed; without it there is no filter
//   search   ({ text, labels }) => address of the first page of what the service finds by these; without it only what was fetched is filtered
//   label    what the list is, for those who hear it
//   of       what its items are called: one of them, and several
//   nothing  what is said if it is empty
// Returns the element; element.reload(first) begins anew.
export function pagedList(options) {
	const list = new List(options);
	list.begin(options.first);
	return list.element;
}

class List {
	constructor(options) {
		this.options = options;
		this.id = newId('list');
		this.status = h('p.list-status', { role: 'status' });
		this.space = h('div.list-space', { role: 'rowgroup' });
		this.view = h('div.list-view', { tabindex: '0', role: 'rowgroup', 'aria-label': `${options.label}, rows`,
			onscroll: () => this.draw(), onkeydown: (event) => this.key(event), onfocus: () => this.activate(Math.max(this.active, 0), false) }, this.space);
		this.filter = options.matches ? h('input', { type: 'search', placeholder: 'Filter', 'aria-label': `Filter ${options.label}`, autocomplete: 'off',
			oninput: () => this.typed() }) : null;
		this.labels = options.search ? h('input', { type: 'search', placeholder: 'Labels: app=web,!old', 'aria-label': `Labels of ${options.label}`,
			autocomplete: 'off', onchange: () => this.reload() }) : null;
		this.table = h('div.list', { role: 'table', 'aria-label': options.label }, h('div.list-head', { role: 'rowgroup' },
			h('div.list-row', { role: 'row' }, options.columns.map((column) =>
				h(`span${column.wide ? '.wide' : ''}${column.class_ ?? ''}`, { role: 'columnheader' }, column.title)))), this.view);
		this.problem = h('div');
		this.element = h('div.list-box', null, h('div.list-bar', null, this.filter, this.labels, this.status), this.table, this.problem);
		this.element.reload = (first) => this.begin(first);
		const resized = new ResizeObserver(() => this.draw());
		resized.observe(this.view);
		resized.observe(this.element); // comes to the page, maybe with a view that has no height yet
	}

	begin(first) {
		this.first = first;
		this.asked = this.options.search ? this.text() : '';
		this.reload();
	}

	text() {
		return this.filter?.value.trim() ?? '';
	}

	// What was fetched is filtered at once. If that is not all, the service is asked, when nothing was typed for a moment.
	typed() {
		this.choose();
		clearTimeout(this.waiting);
		if (this.options.search && (this.next || this.asked !== ''))
			this.waiting = setTimeout(() => this.ask(), PAUSE);
	}

	ask() {
		if (this.text() === this.asked)
			return;
		this.asked = this.text();
		this.reload();
	}

	address() {
		const labels = this.labels?.value.trim() ?? '';
		return this.asked === '' && labels === '' ? this.first : this.options.search({ text: this.asked, labels });
	}

	reload() {
		this.items = [];
		this.chosen = [];
		this.next = this.address();
		this.failed = false;
		this.vain = 0;
		this.active = -1;
		this.run = (this.run ?? 0) + 1;
		this.loading = false;
		this.view.scrollTop = 0;
		replace(this.problem);
		this.draw();
		this.load();
	}

	// A list that is on no page, as its screen was left, loads nothing; but its first page is asked for before it is there.
	async load() {
		if (this.loading || !this.next || (this.begun && !this.element.isConnected))
			return;
		const run = this.run;
		this.begun = true;
		this.loading = true;
		this.tell();
		try {
			const answer = await get(this.next);
			if (run !== this.run)
				return;
			this.next = answer.next ? local(answer.next) : null;
			this.append(answer[this.options.key]);
		} catch (error) {
			if (run !== this.run)
				return;
			this.failed = true;
			replace(this.problem, note('bad', h('p', null, error.message), button('Try again', () => {
				this.failed = false;
				replace(this.problem);
				this.load();
			})));
		} finally {
			if (run === this.run) {
				this.loading = false;
				this.draw();
			}
		}
	}

	append(items) {
		const before = this.chosen.length;
		for (const item of items) {
			if (this.fits(item))
				this.chosen.push(item);
			this.items.push(item);
		}
		this.vain = this.chosen.length > before ? 0 : this.vain + 1;
		if (this.vain === EMPTY_PAGES_MAX && this.next)
			replace(this.problem, note('info', h('p', null, 'Nothing that fits on the last pages.'), button('Look further', () => this.further())));
	}

	further() {
		this.vain = 0;
		replace(this.problem);
		this.load();
	}

	fits(item) {
		const text = this.text();
		return text === this.asked || text === '' || this.options.matches(item, text.toLowerCase());
	}

	choose() {
		this.chosen = this.items.filter((item) => this.fits(item));
		this.active = -1;
		this.view.scrollTop = 0;
		this.vain = 0;
		if (!this.failed)
			replace(this.problem);
		this.draw();
	}

	tell() {
		const filtered = this.chosen.length !== this.items.length;
		const n = this.items.length, loaded = `${counted(n, ...this.options.of)}${this.next ? ' so far' : ''}`;
		this.status.textContent = this.loading && n === 0 ? 'Loading…'
			: n === 0 && !this.next ? this.options.nothing ?? 'Nothing here.'
			: filtered ? `${number(this.chosen.length)} of ${loaded}` : loaded;
	}

	draw() {
		const height = this.rowHeight();
		const top = Math.floor(this.view.scrollTop / height), seen = Math.ceil(this.view.clientHeight / height);
		const from = Math.max(0, top - SPARE), to = Math.min(this.chosen.length, top + seen + SPARE);
		this.table.hidden = this.items.length === 0;
		this.table.setAttribute('aria-rowcount', this.next ? '-1' : String(this.chosen.length + 1));
		this.space.style.setProperty('height', `${this.chosen.length * height}px`);
		this.view.style.setProperty('height', `${Math.min(this.chosen.length * height, Math.max(12 * height, innerHeight * 0.62))}px`);
		this.table.style.setProperty('--gutter', `${this.view.offsetWidth - this.view.clientWidth}px`); // as wide as the scroll bar
		replace(this.space, this.chosen.slice(from, to).map((item, i) => this.row(item, from + i, height)));
		this.setActive();
		this.tell();
		if (!this.failed && this.vain < EMPTY_PAGES_MAX && to >= this.chosen.length - seen)
			this.load();
	}

	rowHeight() {
		return parseFloat(getComputedStyle(this.table).getPropertyValue('--row')) || 36;
	}

	row(item, index, height) {
		const href = this.options.href?.(item);
		return h(`div.list-row${index === this.active ? '.active' : ''}`, { role: 'row', id: `${this.id}-${index}`, 'aria-rowindex': index + 2,
			style: { transform: `translateY(${index * height}px)` } },
			this.options.columns.map((column, i) => h(`span${column.wide ? '.wide' : ''}${column.class_ ?? ''}`, { role: 'cell' },
				i === 0 && href ? h('a', { href, tabindex: '-1' }, column.cell(item)) : column.cell(item))));
	}

	setActive() {
		if (this.active >= 0 && this.active < this.chosen.length)
			this.view.setAttribute('aria-activedescendant', `${this.id}-${this.active}`);
		else
			this.view.removeAttribute('aria-activedescendant');
	}

	activate(index, scroll = true) {
		const height = this.rowHeight();
		this.active = Math.max(0, Math.min(index, this.chosen.length - 1));
		if (scroll) {
			const top = this.active * height;
			if (top < this.view.scrollTop)
				this.view.scrollTop = top;
			else if (top + height > this.view.scrollTop + this.view.clientHeight)
				this.view.scrollTop = top + height - this.view.clientHeight;
		}
		this.draw();
	}

	key(event) {
		const page = Math.max(1, Math.floor(this.view.clientHeight / this.rowHeight()) - 1);
		const to = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page,
			Home: 0, End: this.chosen.length - 1 }[event.key];
		if (event.key === 'Enter' && event.target === this.view && this.chosen[this.active]) {
			const href = this.options.href?.(this.chosen[this.active]);
			if (href)
				location.hash = href;
		} else if (to !== undefined && event.target === this.view) {
			this.activate(to);
		} else {
			return;
		}
		event.preventDefault();
	}
}
