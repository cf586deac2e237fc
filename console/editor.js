// SPDX-License-Identifier: Apache-2.0
// The editor of a document. It saves only onto what was read (If-Match). If somebody else was quicker, it shows the differences of three
// documents: what was read, yours, and theirs.

import { call, local } from './api.js';
import { alone, announce, button, h, note, replace, time } from './dom.js';
import { equal, merge, parse, shown, text } from './json.js';
import { placeOf, screenOf } from './places.js';

// What the user types in that is on the screen, and some that was: the element, a function that says whether it has unsaved changes, and what is asked then.
const open = new Map();

const unsavedQuestion = { title: 'Leave without saving?', text: 'What you typed has not been saved.' };

// Nobody leaves the screen with the element without being asked the question, while changed() returns true.
export const guard = (element, changed, question = unsavedQuestion) => open.set(element, { changed, question });

// The question to be asked before the screen is left, if anything on it has unsaved changes; else undefined.
export function unsaved() {
	for (const element of open.keys()) {
		if (!element.isConnected)
			open.delete(element);
	}
	return [...open.values()].find(({ changed }) => changed())?.question;
}

const whose = { clash: 'both changed it', mine: 'you changed it', other: 'they changed it' };

function differenceTable(differences) {
	const cell = (value, className) => h(`td.${className}`, null, value === null ? h('span.muted', null, 'not there') : h('pre', null, value));
	return h('div.scroll', null, h('table.differences', null, h('thead', null, h('tr', null, ['Member', 'As you read it', 'Yours', 'Theirs', ''].map((title) =>
		h('th', { scope: 'col' }, title)))), h('tbody', null, differences.map((one) => h(`tr${one.clash ? '.clash' : ''}`, null,
		h('th', { scope: 'row' }, one.path.length > 0 ? one.path.join(' › ') : 'the whole document'), cell(shown(one.base), 'base'), cell(shown(one.yours), 'yours'),
		cell(shown(one.theirs), 'theirs'), h('td', null, whose[one.clash ? 'clash' : one.mine ? 'mine' : 'other']))))));
}

// Says that the document could not be saved, because it is at that address of the API now.
const moved = (path) => note('bad', 'Not saved: it has moved to ', h('strong', null, placeOf(path).tenant), '. What you typed is still here, and nothing was changed. ',
	h('a', { href: screenOf(path) }, 'See it there'));

// options:
//   path      of the document in the API; a function of the document where it is new
//   etag      of what was read; null: the document is new
//   document  what was read, a Map without the members that the service sets
//   strip     (parsed answer) => such a Map
//   wrap      (text of a document) => body of the request
//   label     of the text area
//   saved     (answer, path) => after it was saved, if it is still on the screen
export class Editor {
	constructor(options) {
		this.options = options;
		this.base = options.document;
		this.etag = options.etag;
		this.area = h('textarea.document', { 'aria-label': options.label, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off',
			oninput: () => this.look() });
		this.problem = h('div.problem');
		this.save = button('Save', () => this.store(), { class_: 'primary' }); // while it saves, nothing can be typed that its answer would undo
		this.revert = button('Revert', () => this.show(this.base));
		this.element = h('div.editor', null, this.area, this.problem, h('div.actions', null, this.revert, this.save));
		guard(this.area, () => this.changed());
		this.show(this.base);
	}

	show(document) {
		this.area.value = text(document);
		this.area.rows = Math.min(32, Math.max(8, this.area.value.split('\n').length + 1));
		replace(this.problem);
		this.look();
	}

	read() {
		const value = parse(this.area.value);
		if (!(value instanceof Map))
			throw new SyntaxError('the document must be an object: { … }');
		return value;
	}

	changed() {
		try {
			return !equal(this.read(), this.base);
		} catch {
			return true;
		}
	}

	look() {
		const changed = this.changed();
		this.save.disabled = !changed && this.etag !== null;
		this.revert.disabled = !changed;
	}

	async store() {
		let yours;
		try {
			yours = this.read();
		} catch (error) {
			replace(this.problem, note('bad', `Not saved: ${error.message}.`));
			this.area.focus();
			return;
		}
		const path = typeof this.options.path === 'function' ? this.options.path(yours) : this.options.path;
		let next = null;
		await alone(this.element, async () => {
			replace(this.problem);
			next = await this.send(path, yours);
		});
		if (this.element.isConnected)
			next?.();
	}

	// Resolves with a function, what comes next if the editor is still on the screen.
	async send(path, yours) {
		try {
			const answer = await call('PUT', path, { body: this.options.wrap(text(yours)),
				headers: this.etag === null ? { 'If-None-Match': '*' } : { 'If-Match': this.etag } });
			this.accept(answer.etag, answer.text === '' ? yours : this.options.strip(parse(answer.text)));
			announce('Saved.');
			return () => this.options.saved?.(answer, path);
		} catch (error) {
			if (error.status === 412 && this.etag !== null)
				return await this.compare(path, yours, error);
			return () => replace(this.problem, note('bad', error.status === 412 ? 'Not saved: there is one of that name already.' : `Not saved: ${error.message}`));
		}
	}

	accept(etag, document) {
		this.base = document;
		this.etag = etag;
		this.show(document);
	}

	// Somebody else changed the document after it was read. Resolves as send() does.
	async compare(path, yours, stale) {
		let answer, theirs;
		try {
			answer = await call('GET', path);
			if (answer.redirected)
				return () => replace(this.problem, moved(local(answer.url)));
			theirs = this.options.strip(parse(answer.text));
		} catch (error) {
			return () => replace(this.problem, note('bad', `Not saved: it was changed since you read it, and can’t be read again: ${error.message}`));
		}
		const merged = merge(this.base, yours, theirs);
		const by = stale.body.changed_by ? [' by ', h('strong', null, stale.body.changed_by), stale.body.changed_at ? [', ', time(stale.body.changed_at)] : null] : null;
		const go = (document, what) => {
			this.base = theirs;
			this.etag = answer.etag;
			this.show(document);
			replace(this.problem, note('info', what));
			this.area.focus();
		};
		const unclear = h('div');
		const both = () => {
			try { // with what was typed since
				const all = merge(this.base, this.read(), theirs);
				go(all.result, all.clash ? 'These are both changes together, with yours where both changed. Look at them, then save.'
					: 'These are both changes together. Look at them, then save.');
			} catch (error) {
				replace(unclear, note('bad', `Not taken together: ${error.message}.`));
				this.area.focus();
			}
		};
		const panel = h('section.conflict', { tabindex: '-1', 'aria-label': 'It was changed meanwhile' },
			note('bad', h('p', null, 'Not saved: it was changed since you read it', by, '. Nothing was overwritten.')),
			merged.differences.some((one) => one.other) ? null : h('p', null, 'What was changed is not in the document, as traits are not.'),
			differenceTable(merged.differences),
			h('div.actions', null,
				button('Drop mine', () => go(theirs, 'This is theirs, as it is stored now.')),
				button(merged.clash ? 'Take both; mine where both changed' : 'Take both changes', both, { class_: 'primary' })), unclear);
		return () => {
			replace(this.problem, panel);
			panel.focus();
		};
	}
}
