// SPDX-License-Identifier: Apache-2.0
// Documents, without loss: numbers stay as they were written (JSON.parse would round 9007199254740993), members keep their order and
// any name. An object is a Map, a number a Num.

export class Num {
	constructor(text) {
		this.text = text;
	}
}

// More than max_depth of any service, and what its answers have around a document. It bounds the recursion here; what may be stored is the service's
// to say.
const DEPTH_MAX = 512;

const token = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null))/y;

class Reader {
	constructor(text) {
		this.text = text;
		this.at = 0;
		this.next();
	}

	fail(what) {
		const before = this.text.slice(0, this.start).split('\n');
		throw new SyntaxError(`line ${before.length}, column ${before.at(-1).length + 1}: ${what}`);
	}

	next() {
		token.lastIndex = this.at;
		const found = token.exec(this.text);
		const blanks = /[ \t\n\r]*/y;
		blanks.lastIndex = this.at;
		blanks.exec(this.text);
		this.start = blanks.lastIndex;
		this.token = found;
		if (found)
			this.at = token.lastIndex;
		else if (this.start < this.text.length)
			this.fail(`“${this.text.slice(this.start, this.start + 12)}” is no JSON`);
	}

	take(mark) {
		if (this.token?.[1] !== mark)
			return false;
		this.next();
		return true;
	}

	value(depth) {
		const found = this.token;
		if (!found)
			this.fail('the document ends too early');
		if (depth > DEPTH_MAX)
			this.fail('it is nested too deeply');
		if (this.take('{'))
			return this.object(depth);
		if (this.take('['))
			return this.array(depth);
		if (found[1] !== undefined)
			this.fail(`a value must stand here, not “${found[1]}”`);
		this.next();
		if (found[2] !== undefined)
			return JSON.parse(found[2]);
		return found[3] !== undefined ? new Num(found[3]) : { true: true, false: false, null: null }[found[4]];
	}

	object(depth) {
		const map = new Map();
		if (this.take('}'))
			return map;
		do {
			if (this.token?.[2] === undefined)
				this.fail('the name of a member must stand here, in quotes');
			const name = JSON.parse(this.token[2]);
			if (map.has(name))
				this.fail(`the member ${this.token[2]} is there twice`);
			this.next();
			if (!this.take(':'))
				this.fail('“:” must stand here');
			map.set(name, this.value(depth + 1));
		} while (this.take(','));
		if (!this.take('}'))
			this.fail('“,” or “}” must stand here');
		return map;
	}

	array(depth) {
		const list = [];
		if (this.take(']'))
			return list;
		do
			list.push(this.value(depth + 1));
		while (this.take(','));
		if (!this.take(']'))
			this.fail('“,” or “]” must stand here');
		return list;
	}
}

// Throws a SyntaxError that says where and what.
export function parse(text) {
	const reader = new Reader(text);
	const value = reader.value(0);
	if (reader.token)
		reader.fail('the document has ended before');
	return value;
}

export function text(value, indent = '') {
	const inner = `${indent}  `;
	if (value instanceof Num)
		return value.text;
	if (value instanceof Map)
		return value.size === 0 ? '{}' : `{\n${[...value].map(([name, item]) => `${inner}${JSON.stringify(name)}: ${text(item, inner)}`).join(',\n')}\n${indent}}`;
	if (Array.isArray(value))
		return value.length === 0 ? '[]' : `[\n${value.map((item) => inner + text(item, inner)).join(',\n')}\n${indent}]`;
	return JSON.stringify(value);
}

export function equal(a, b) {
	if (a instanceof Num && b instanceof Num)
		return a.text === b.text;
	if (a instanceof Map && b instanceof Map)
		return a.size === b.size && [...a].every(([name, item]) => b.has(name) && equal(item, b.get(name)));
	if (Array.isArray(a) && Array.isArray(b))
		return a.length === b.length && a.every((item, i) => equal(item, b[i]));
	return a === b;
}

// A copy without these members.
export function without(map, names) {
	return new Map([...map].filter(([name]) => !names.includes(name)));
}

// ---- three-way merge, as `tenure edit` does it (src/cli/change/merge.c)

const absent = Symbol('absent');
const member = (value, name) => value instanceof Map && value.has(name) ? value.get(name) : absent;
const same = (a, b) => a === b || (a !== absent && b !== absent && equal(a, b));

function mergeValues(path, base, yours, theirs, differences) {
	if (yours instanceof Map && theirs instanceof Map && (base instanceof Map || base === absent)) {
		const result = new Map();
		const names = new Set([...theirs.keys(), ...yours.keys(), ...(base instanceof Map ? base.keys() : [])]);
		for (const name of names) {
			const value = mergeValues([...path, name], member(base, name), member(yours, name), member(theirs, name), differences);
			if (value !== absent)
				result.set(name, value);
		}
		return result;
	}
	const mine = !same(base, yours), other = !same(base, theirs);
	if (!mine && !other)
		return theirs;
	differences.push({ path, base, yours, theirs, mine, other, clash: mine && other && !same(yours, theirs) });
	return mine ? yours : theirs;
}

// Returns { result, differences, clash }: result has the changes of both, and yours where both changed the same member.
export function merge(base, yours, theirs) {
	const differences = [];
	const result = mergeValues([], base, yours, theirs, differences);
	return { result, differences, clash: differences.some((difference) => difference.clash) };
}

export const shown = (value) => value === absent ? null : text(value);
