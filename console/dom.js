// SPDX-License-Identifier: Apache-2.0
// Building the page. Whatever comes from the service becomes text nodes and attributes, never HTML: no name can be a script.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, properties, children) {
	for (const [name, value] of Object.entries(properties ?? {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (name.startsWith('on'))
			element.addEventListener(name.slice(2), value);
		else if (name === 'style') // one property at a time, which the policy allows; an attribute it does not
			for (const [key, text] of Object.entries(value))
				element.style.setProperty(key, text);
		else if (name === 'value' || name === 'checked' || name === 'disabled')
			element[name] = value;
		else
			element.setAttribute(name === 'class_' ? 'class' : name, value === true ? '' : String(value));
	}
	element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
		.map((child) => child instanceof Node ? child : document.createTextNode(String(child))));
	return element;
}

// An element. Properties: attributes; on…: listeners; style: an object of CSS properties. Children: nodes, texts, arrays of these.
export function h(tag, properties, ...children) {
	const [name, ...classes] = tag.split('.');
	const element = document.createElement(name);
	if (classes.length > 0)
		element.className = classes.join(' ');
	return fill(element, properties, children);
}

// The same in an SVG.
export function svg(tag, properties, ...children) {
	return fill(document.createElementNS(SVG, tag), properties, children);
}

const icons = {
	home: 'M3 11 12 3l9 8M5 10v10h14V10',
	tenants: 'M4 21V7l8-4 8 4v14M9 21v-5h6v5M8 10h.01M12 10h.01M16 10h.01',
	audit: 'M5 3h14v18H5zM9 8h6M9 12h6M9 16h4',
	move: 'M4 12h15M13 6l6 6-6 6',
	sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5',
	out: 'M10 4H5v16h5M15 8l4 4-4 4M9 12h10',
	box: 'M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8',
	trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
	key: 'M8 15a4 4 0 1 1 3.5-2L20 13v3h-3v2h-3v-3',
	chart: 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
	hook: 'M12 3v10a4 4 0 1 1-4-4M12 13h6',
	find: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M20 20l-4-4',
	undo: 'M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
};

export function icon(name) {
	return svg('svg', { class_: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' }, svg('path', { d: icons[name] }));
}

export function replace(element, ...children) {
	element.replaceChildren();
	return fill(element, null, children);
}

// ---- texts

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const units = [['year', 31536000], ['month', 2592000], ['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];

// A moment as people say it, with the exact time for the pointer and for machines.
export function time(text) {
	const seconds = (Date.parse(text) - Date.now()) / 1000;
	const [unit, length] = units.find(([, n]) => Math.abs(seconds) >= n) ?? units.at(-1);
	return h('time', { datetime: text, title: text }, relative.format(Math.round(seconds / length), unit));
}

export const number = (n) => new Intl.NumberFormat('en').format(n);
export const counted = (n, one, several) => `${number(n)} ${n === 1 ? one : several}`;

export function bytes(n) {
	const sizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
	let i = 0;
	while (n >= 1024 && i < sizes.length - 1) {
		n /= 1024;
		i++;
	}
	return `${i === 0 ? n : n.toFixed(1)} ${sizes[i]}`;
}

// ---- what many screens have

export function button(label, run, { icon: picture, ...properties } = {}) {
	return h('button', { type: 'button', onclick: run, ...properties }, picture ? icon(picture) : null, label);
}

let lastId = 0;
export const newId = (stem) => `${stem}-${++lastId}`;

// A labelled input, select or textarea: { label, input }, and both in one element.
export function field(label, input, hint) {
	input.id ||= newId('field');
	if (hint)
		input.setAttribute('aria-describedby', `${input.id}-hint`);
	return h('div.field', null, h('label', { for: input.id }, label), input, hint ? h('p.hint', { id: `${input.id}-hint` }, hint) : null);
}

export function select(options, value, properties) {
	const element = h('select', properties, options.map((option) => {
		const [key, label] = Array.isArray(option) ? option : [option, option];
		return h('option', { value: key }, label);
	}));
	element.value = value ?? '';
	return element;
}

// A field for a moment, and that moment as the service takes it; undefined where none is chosen.
export const moment = (properties) => h('input', { type: 'datetime-local', ...properties });
export const instant = (input) => input.value ? new Date(input.value).toISOString().replace(/\.\d+Z$/, 'Z') : undefined;

export function verb(name) {
	return h(`span.verb.verb-${/^[a-z]+$/.test(name) ? name : 'other'}`, null, name);
}

export function note(kind, ...children) {
	return h(`div.note.note-${kind}`, { role: kind === 'bad' ? 'alert' : 'status' }, ...children);
}

export function panel(title, ...children) {
	const id = newId('panel');
	return h('section.panel', { 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

export const empty = (text) => h('p.empty', null, text);

// Says something that was done to those who see it and to those who hear it.
export function announce(text) {
	const region = document.getElementById('announce');
	const toast = h('div.toast', null, text);
	region.append(toast);
	setTimeout(() => toast.remove(), 6000);
}

// ---- one request at a time

// Runs work(). Until it has ended, the element takes no click and no key, and a dialog that it is in can't be left; if work() of that element
// is under way already, nothing happens. Rejects with what work() threw.
export async function alone(element, work) {
	if (element.inert)
		return;
	const focused = document.activeElement;
	element.inert = true;
	try {
		await work();
	} finally {
		element.inert = false;
		// the focus was lost to what is around the element, unless the user went elsewhere
		if (element.contains(focused) && document.activeElement?.contains(element))
			focused.focus();
	}
}

// A form that sends one request at a time, as alone() does it. send() does what the form is for; it may resolve with a function, what comes
// next on this screen, which is not called if the user has left the form meanwhile. What send() throws is told in the words of wrong(error):
// above the actions, or wherever the user is by then.
export function requestForm(send, wrong, fields, ...actions) {
	const problem = h('div');
	const element = h('form', { onsubmit: async (event) => {
		event.preventDefault();
		let next = null;
		try {
			await alone(element, async () => {
				replace(problem);
				next = await send();
			});
		} catch (error) {
			if (element.isConnected)
				replace(problem, note('bad', wrong(error)));
			else
				announce(wrong(error));
		}
		if (element.isConnected)
			next?.();
	} }, fields, problem, h('div.actions', null, actions));
	return element;
}

// ---- dialogs

// A modal dialog. body: function of close() that returns its children. stays: it ends by close() alone; else it can be left, but not while
// alone() runs in it. Resolves with what close() was given; undefined: it was left.
export function dialog(title, body, { stays = false } = {}) {
	return new Promise((resolve) => {
		const id = newId('dialog'), before = document.activeElement;
		let result, answered = false;
		const element = h('dialog', { 'aria-labelledby': id });
		const close = (value) => {
			result = value;
			answered = true;
			element.close();
		};
		const held = () => !answered && (stays || element.querySelector('[inert]') !== null);
		fill(element, null, [h('h2', { id }, title), body(close)]);
		element.addEventListener('cancel', (event) => {
			if (held())
				event.preventDefault();
		});
		element.addEventListener('close', () => {
			if (held()) { // at the second Escape a browser closes it, whatever became of the first
				element.showModal();
				return;
			}
			element.remove();
			if (before instanceof HTMLElement && before.isConnected)
				before.focus();
			resolve(result);
		});
		document.body.append(element);
		element.showModal();
	});
}

// Asks whether to do what can't be undone at once. Resolves with true or false.
export async function confirm(title, text, label, kind = 'primary') {
	return await dialog(title, (close) => [h('p', null, text), h('div.actions', null,
		button('Cancel', () => close(false)), button(label, () => close(true), { class_: kind, autofocus: true }))]) === true;
}
