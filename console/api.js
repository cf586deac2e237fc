// SPDX-License-Identifier: Apache-2.0
// Calls of the API, of the same origin. The browser sends the session's cookie; the service accepts it only beside X-Tenure-Console.

export class Problem extends Error {
	constructor(response, body) {
		super(body?.detail || body?.title || `${response.status} ${response.statusText}`);
		this.status = response.status;
		this.body = body ?? {};
		this.etag = response.headers.get('etag');
		this.redirected = response.redirected;
	}
}

export class Unreachable extends Error {
}

// A request that would change something was answered with another address. Browsers would send it there: DELETE, PUT and PATCH as they are.
export class Elsewhere extends Error {
	constructor() {
		super('The service answered with another address, as it does when a resource has moved to another tenant. Nothing was changed; load it again and look.');
	}
}

// Is it an error that passes by itself: no answer at all, or one that the service is not there for now?
export const passing = (error) => error instanceof Unreachable || [429, 502, 503, 504].includes(error.status);

// What to do when the session has ended: a function that resolves once there is a new one. Set by console.js.
let signIn = null;
export const onSignedOut = (run) => signIn = run;

// The cookie is that of all tabs: X-Tenure-Session says whose session this page is of, so that after another user has signed in in another tab
// nothing of this page is done as that user. Only what reads follows a redirect: a change is made at no other address than the one that the user
// has seen. Options: anySession (whatever session the cookie is of).
async function send(method, path, options) {
	const headers = { 'X-Tenure-Console': '1', Accept: 'application/json', ...options.headers };
	if (who?.id && !options.anySession)
		headers['X-Tenure-Session'] = who.id;
	if (options.body !== undefined)
		headers['Content-Type'] ??= options.type ?? 'application/json';
	const redirect = method === 'GET' || method === 'HEAD' ? 'follow' : 'manual';
	try {
		return await fetch(path, { method, headers, body: options.body, credentials: 'same-origin', cache: 'no-store', redirect, signal: options.signal });
	} catch (error) {
		if (error.name === 'AbortError')
			throw error;
		throw new Unreachable('The service can’t be reached. Nothing is known of what became of this; look before you repeat it.');
	}
}

// The path of the next page, where an answer that is not JSON has one.
function nextOf(response) {
	const link = /<([^>]+)>\s*;\s*rel="?next"?/.exec(response.headers.get('link') ?? '');
	return link ? local(link[1]) : null;
}

// Sends a request, and again after the user has signed in anew where the session had ended. Options: headers, body (text), type, signal,
// mayAsk (false: a 401 is the caller's), anySession. Returns { status, etag, text, url, redirected, location, next }; throws Problem, Elsewhere or
// Unreachable.
export async function call(method, path, options = {}) {
	let response = await send(method, path, options);
	while (response.status === 401 && options.mayAsk !== false && signIn) {
		await signIn();
		response = await send(method, path, options);
	}
	if (response.type === 'opaqueredirect')
		throw new Elsewhere();
	const text = await response.text();
	if (!response.ok) {
		let body = null;
		try {
			body = JSON.parse(text);
		} catch {
			// not the service's own answer, but the web server's: its status says what there is to say
		}
		throw new Problem(response, body);
	}
	return { status: response.status, etag: response.headers.get('etag'), text, url: response.url, redirected: response.redirected, location: response.headers.get('location'),
		next: nextOf(response) };
}

export async function get(path, options) {
	const answer = await call('GET', path, options);
	return answer.text === '' ? null : JSON.parse(answer.text);
}

// The path of an address that the service answered with: its host may be another name of this one.
export function local(address) {
	const url = new URL(address, location.href);
	return url.pathname + url.search;
}

// "/v2.0/acme/configmaps" of parts, each encoded.
export function address(...parts) {
	return `/v2.0${parts.map((part) => `/${encodeURIComponent(part)}`).join('')}`;
}

// The parts of "namespaces/default/configmaps/web", as the change log has it.
export const partsOf = (resource) => resource.split('/');

export function query(path, parameters) {
	const all = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== ''));
	return all.size > 0 ? `${path}${path.includes('?') ? '&' : '?'}${all}` : path;
}

// ---- what the endpoint offers

const roles = ['none', 'reader', 'member', 'admin', 'operator'];
let methods = new Map();
export let who = null;

export function setWho(session) {
	who = session;
}

// Reads the endpoint's WADL. The console shows what stands there.
export async function readWadl() {
	const answer = await call('GET', '/application.wadl', { headers: { Accept: 'application/vnd.sun.wadl+xml' } });
	const wadl = new DOMParser().parseFromString(answer.text, 'application/xml');
	const namespace = 'http://wadl.dev.java.net/2009/02';
	methods = new Map();
	for (const method of wadl.getElementsByTagNameNS(namespace, 'method')) {
		methods.set(method.getAttribute('id'), {
			role: method.getAttributeNS('urn:tenure:wadl', 'role'),
			path: method.parentElement.getAttribute('path'),
			parameters: [...method.getElementsByTagNameNS(namespace, 'param')].map((param) => param.getAttribute('name') ?? param.getAttribute('href')?.slice(1)),
		});
	}
}

// Does the endpoint offer these methods, and does the user's role suffice?
export function offers(...ids) {
	return ids.every((id) => methods.has(id) && roles.indexOf(methods.get(id).role) <= roles.indexOf(who?.role));
}

// Some types keep for a tenant's admins what their methods' role gives to members, since a method is that of all types (src/api/type_role.c).
const existence = ['create', 'delete', 'recover'];
const forAdmins = new Map([['customresourcedefinitions', [...existence, 'put']], ['nodes', existence]]);
const theirGroups = /\.(apiextensions\.k8s\.io|baremetal\.openstack\.org)$/;

// May a user of this role do that to resources of the type, as far as the type is concerned? type: with its group, or as the change log has it;
// undefined: some type. what: create, put (one that is there), delete, recover.
export const typePermits = (type, what) => !forAdmins.get(type?.replace(theirGroups, ''))?.includes(what) || isAdmin();
// The same of taking back a change of such a resource.
export const typePermitsUndo = (type, verb) => typePermits(type, verb === 'updated' ? 'put' : 'delete');

export const takes = (id, parameter) => methods.get(id)?.parameters.includes(parameter) ?? false;
export const isOperator = () => who?.role === 'operator';
// Is the user an admin of his tenant, or an operator?
export const isAdmin = () => roles.indexOf(who?.role) >= roles.indexOf('admin');
// May the user read, or change, things of that tenant?
export const isMine = (tenant) => isOperator() || who?.tenant === tenant;
