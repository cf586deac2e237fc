// SPDX-License-Identifier: Apache-2.0
// Where things are: addresses of the console's screens (behind the "#"), of the API, and the types that a tenant has.

import { address, get, isAdmin, isMine, isOperator, offers, partsOf, typePermitsUndo } from './api.js';
import { h, icon, time, verb } from './dom.js';

export const screen = (...parts) => `#/${parts.map(encodeURIComponent).join('/')}`;
export const tenantScreen = (tenant, ...more) => screen('t', tenant, ...more);
export const resourceScreen = (tenant, resource) => screen('t', tenant, 'r', ...partsOf(resource));

// Shows the present screen anew.
export const reload = () => dispatchEvent(new HashChangeEvent('hashchange'));

// The address of a resource, given its name as the change log has it: "namespaces/prod/configmaps/web".
export const resourceAddress = (tenant, resource) => address(tenant, ...partsOf(resource));

// The tenant and the parts of the resource's name in an address of the API.
export function placeOf(path) {
	const [tenant, ...parts] = path.split('?')[0].split('/').slice(2).map(decodeURIComponent);
	return { tenant, parts };
}

// The screen of the resource at that address of the API.
export function screenOf(path) {
	const { tenant, parts } = placeOf(path);
	return screen('t', tenant, 'r', ...parts);
}

// How the change log calls the resource of a document, whose type is known from its list.
export function resourceOf(document, type) {
	const { name, namespace } = document.metadata;
	return namespace === undefined ? `${type}/${name}` : `namespaces/${namespace}/${type}/${name}`;
}

// ---- types

// The built-in types that `tenure resource` and `tenure import` know by name; t/503-console-import.t compares them with src/base/builtin_types.def.
export const builtIn = [
	{ type: 'configmaps', kind: 'ConfigMap', namespaced: true, shortNames: ['cm'] },
	{ type: 'namespaces', kind: 'Namespace', namespaced: false, shortNames: ['ns'] },
	{ type: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false, shortNames: ['pv'] },
	{ type: 'pods', kind: 'Pod', namespaced: true, shortNames: ['po'] },
	{ type: 'secrets', kind: 'Secret', namespaced: true, shortNames: [] },
	{ type: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true, shortNames: ['sa'] },
	{ type: 'services', kind: 'Service', namespaced: true, shortNames: ['svc'] },
];
const elsewhere = ['events', 'tenants']; // types of the spaces dialect that have no address in this one

// The types of resources that the tenant has definitions of.
export async function typesOf(tenant) {
	if (!offers('listTypes'))
		return builtIn;
	const answer = await get(`/spaces/${encodeURIComponent(tenant)}/types`);
	return answer.types.filter((type) => !elsewhere.includes(type.type));
}

// The type that people call so: a built-in one by its singular name, which is its kind in lower case, or by a short one; any by its own name.
export const typeCalled = (word) => builtIn.find((one) => one.kind.toLowerCase() === word || one.shortNames.includes(word))?.type ?? word;
// The built-in type whose documents have that kind; undefined: none.
export const typeOfKind = (kind) => builtIn.find((one) => one.kind === kind)?.type;

// ---- changes

// The columns of a list of changes. tenant: whose they are; undefined: of all, and each says so.
export function changeColumns(tenant) {
	const owner = (change) => tenant ?? change.tenant;
	return [
		{ title: 'When', class_: '.when', cell: (change) => time(change.at) },
		{ title: 'What', class_: '.what', cell: (change) => [verb(change.verb), change.moved ? ` ${change.moved}` : null] },
		...tenant === undefined ? [{ title: 'Tenant', class_: '.short', cell: (change) => change.tenant
			? [change.from_tenant ? [change.from_tenant, ' ', icon('move'), ' '] : null, h('a', { href: tenantScreen(change.tenant), tabindex: '-1' }, change.tenant)] : '' }] : [],
		{ title: 'Resource', class_: '.grow', cell: (change) => change.resource && owner(change)
			? h('a', { href: resourceScreen(owner(change), change.resource), tabindex: '-1' }, change.resource) : change.resource ?? 'the tenant itself' },
		{ title: 'Fields', wide: true, cell: (change) => (change.fields ?? []).join(' ') },
		{ title: 'Who', class_: '.short', cell: (change) => change.actor },
		...offers('getUndo', 'postUndo') ? [{ title: '', class_: '.act', cell: (change) => undoLink(owner(change), change) }] : [],
	];
}

// Is it a change of what a tenant's admin sets of it, as far as the names of the fields tell? That is its policy for types, of which the first is all
// of "spec"; `kubectl apply` notes it among the annotations. Where others were changed with it, the service says so.
const ofAdmins = /^\/(?:spec(?:\/multiTenancyCRDPolicy)?|annotations(?:\/kubectl\.kubernetes\.io~1last-applied-configuration)?)$/;
const isOfAdmins = ({ verb, fields = [] }) => verb === 'updated' && fields.some((field) => field.startsWith('/spec')) && fields.every((field) => ofAdmins.test(field));

// Where the change is taken back; null: this user does not do that. What was purged never comes back.
function undoLink(tenant, change) {
	if (!tenant || !isMine(tenant) || change.verb === 'purged')
		return null;
	if (!isOperator() && (change.verb === 'moved' || (!change.resource && !(isAdmin() && isOfAdmins(change)))))
		return null;
	if (change.resource && !typePermitsUndo(partsOf(change.resource).at(-2), change.verb))
		return null;
	return h('a.button.small', { href: screen('undo', tenant, change.request_id), 'aria-label': `Undo: ${change.verb} ${change.resource ?? 'the tenant'}` },
		icon('undo'), h('span.wide', null, 'Undo …'));
}

export function changeTarget(tenant) {
	return (change) => {
		const owner = tenant ?? change.tenant;
		return owner ? change.resource ? resourceScreen(owner, change.resource) : tenantScreen(owner) : null;
	};
}
