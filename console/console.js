// SPDX-License-Identifier: Apache-2.0
// The console's frame: the session, the navigation, and which screen is shown. See doc/console.md.

import { call, get, isOperator, offers, onSignedOut, readWadl, setWho, who } from './api.js';
import { audit } from './audit.js';
import { dashboard } from './dashboard.js';
import { alone, button, confirm, dialog, field, h, icon, note, replace, requestForm } from './dom.js';
import { unsaved } from './editor.js';
import { find as findResources } from './find.js';
import { importRows } from './import.js';
import { move } from './move.js';
import { screen, tenantScreen } from './places.js';
import { newResource, resource } from './resource.js';
import { changes, moves, ofTenant, ofType, settings, tenant, tokens, trash, usage, webhooksOfTenant } from './tenant.js';
import { tenants } from './tenants.js';
import { newTier, tier, tiers } from './tiers.js';
import { undo } from './undo.js';
import { newWebhook, webhook, webhooks } from './webhooks.js';

// ---- which screen

// The first pattern that fits: ":x" stands for a part, "*" for one or more at the end.
const routes = [
	['', dashboard],
	['tenants', tenants],
	['tiers', tiers],
	['tiers/:name', tier],
	['new-tier', newTier],
	['find', findResources],
	['audit', audit],
	['webhooks', webhooks],
	['webhooks/:name', (name) => webhook('all', name)],
	['new-webhook', () => newWebhook('all')],
	['t/:t', ofTenant(tenant)],
	['t/:t/trash', ofTenant(trash)],
	['t/:t/changes', ofTenant(changes)],
	['t/:t/usage', ofTenant(usage)],
	['t/:t/moves', ofTenant(moves)],
	['t/:t/tokens', ofTenant(tokens)],
	['t/:t/webhooks', ofTenant(webhooksOfTenant)],
	['t/:t/webhooks/:name', webhook],
	['t/:t/new-webhook', newWebhook],
	['t/:t/tenant', ofTenant(settings)],
	['t/:t/type/:type', ofTenant(ofType)],
	['t/:t/r/*', resource],
	['new/:t', newResource],
	['import/:t', importRows],
	['new/:t/:type', newResource],
	['undo/:t/:request', undo],
	['move/:t', move],
	['move/:t/*', move],
].map(([pattern, show]) => ({ parts: pattern.split('/'), show }));

function fits(pattern, parts) {
	const values = [];
	for (let i = 0; i < pattern.length; i++) {
		if (pattern[i] === '*')
			return parts.length > i ? [...values, ...parts.slice(i)] : null;
		if (i >= parts.length || (!pattern[i].startsWith(':') && pattern[i] !== parts[i]))
			return null;
		if (pattern[i].startsWith(':'))
			values.push(parts[i]);
	}
	return pattern.length === parts.length ? values : null;
}

function partsOfHash() {
	try {
		return location.hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
	} catch {
		return [null];
	}
}

function find(parts) {
	for (const route of routes) {
		const values = fits(route.parts, parts);
		if (values && values.every((value) => value !== ''))
			return () => route.show(...values);
	}
	return () => ({ title: 'No such screen', content: [note('info', 'There is nothing at this address.')] });
}

// ---- the frame

const main = h('main', { id: 'main', tabindex: '-1' });
const nav = h('nav', { 'aria-label': 'Screens' });
let shownHash = null, shows = 0;

function links() {
	const all = [['Dashboard', screen(), 'home']];
	if (isOperator() && offers('listTenants'))
		all.push(['Tenants', screen('tenants'), 'tenants']);
	else if (who.tenant)
		all.push(['Resources', tenantScreen(who.tenant), 'box']);
	if (isOperator() && offers('listAllResources'))
		all.push(['Find', screen('find'), 'find']);
	if (offers(isOperator() ? 'listAllChanges' : 'listChanges'))
		all.push(['Audit', screen('audit'), 'audit']);
	if (isOperator() && offers('listAllWebhooks'))
		all.push(['Webhooks', screen('webhooks'), 'hook']);
	return all;
}

function drawNav() {
	const here = location.hash || screen();
	replace(nav, h('ul', null, links().map(([name, href, picture]) => h('li', null, h('a', { href,
		'aria-current': here === href || (href !== screen() && here.startsWith(`${href}/`)) ? 'page' : null }, icon(picture), h('span', null, name))))));
}

function draw(view) {
	const heading = h('h1', { tabindex: '-1' }, view.title);
	document.title = `${view.title} · Tenure`;
	replace(main, h('header.page', null,
		view.crumbs?.length > 0 ? h('nav.crumbs', { 'aria-label': 'Where you are' }, view.crumbs.map(([name, href]) => [h('a', { href }, name), h('span', { 'aria-hidden': 'true' }, '/')])) : null,
		h('div.title', null, h('div', null, heading, view.sub ? h('p.sub', null, view.sub) : null), h('div.tools', null, view.tools ?? [])),
		view.tabs ? h('nav.tabs', { 'aria-label': `Screens of ${view.title}` }, view.tabs.map((tab) => h('a', { href: tab.href, 'aria-current': tab.current ? 'page' : null }, tab.name))) : null),
	h(`div.content${view.wide ? '.wide-content' : ''}`, null, view.content));
	return heading;
}

async function show(focus) {
	const mine = ++shows;
	shownHash = location.hash;
	drawNav();
	main.setAttribute('aria-busy', 'true');
	let view;
	try {
		view = await find(partsOfHash())();
	} catch (error) {
		const titles = { 403: 'Not for you', 404: 'Not found', 410: 'Deleted' };
		if (!(error instanceof Error) || error.name === 'TypeError')
			console.error(error);
		view = { title: titles[error.status] ?? 'That did not work', content: [note('bad', error.message), h('div.actions.start', null, button('Try again', () => show(true)))] };
	}
	if (mine !== shows || !view)
		return;
	main.removeAttribute('aria-busy');
	const heading = draw(view);
	main.setAttribute('data-screen', shownHash);
	scrollTo(0, 0);
	if (focus)
		heading.focus({ preventScroll: true });
}

const mayLeave = ({ title, text }) => confirm(title, text, 'Leave it', 'danger');

let wanted = null; // where the user goes if he answers the question whether to leave with yes; null: nobody is asked

async function leave() {
	if (wanted !== null) { // asked already: the question stays, and is about the newest address
		if (location.hash !== shownHash)
			wanted = location.hash;
		history.replaceState(null, '', shownHash || screen());
		return undefined;
	}
	const question = unsaved();
	if (question) {
		wanted = location.hash;
		history.replaceState(null, '', shownHash || screen());
		const leaves = await mayLeave(question), to = wanted;
		wanted = null;
		if (!leaves)
			return undefined;
		history.replaceState(null, '', to);
	}
	return show(true);
}

// ---- light and dark

const themes = ['auto', 'light', 'dark'];

function setTheme(theme) {
	if (theme === 'auto')
		document.documentElement.removeAttribute('data-theme');
	else
		document.documentElement.setAttribute('data-theme', theme);
	try {
		localStorage.setItem('tenure-theme', theme);
	} catch {
		// a browser that keeps nothing: the theme lasts as long as the page
	}
}

function storedTheme() {
	try {
		return themes.includes(localStorage.getItem('tenure-theme')) ? localStorage.getItem('tenure-theme') : 'auto';
	} catch {
		return 'auto';
	}
}

function themeSwitch() {
	let theme = storedTheme();
	const element = button('', () => {
		theme = themes[(themes.indexOf(theme) + 1) % themes.length];
		setTheme(theme);
		label();
	}, { class_: 'quiet theme' });
	const label = () => replace(element, icon('sun'), h('span', null, { auto: 'Automatic', light: 'Light', dark: 'Dark' }[theme]));
	element.setAttribute('title', 'Light or dark');
	label();
	return element;
}

// ---- the session

// Begins a session with a token. Throws an error if none was begun.
async function begin(token) {
	const strange = /[^\t\x20-\x7e\x80-\xff]/u.exec(token);
	if (strange) // a field of a request can't have it, and the browser's error says no more than that nothing was sent
		throw new Error(`This is not a token: none has the character ${strange[0]}.`);
	const answer = await call('POST', '/session', { headers: { 'X-Auth-Token': token }, mayAsk: false });
	return JSON.parse(answer.text);
}

function tokenForm(done, label) {
	const token = h('input', { type: 'password', autocomplete: 'current-password', required: true, autofocus: true });
	const form = requestForm(async () => done(await begin(token.value)), (error) => {
		token.select();
		token.focus();
		return error.status === 401 ? 'This token is not valid here.' : error.status === 404 ? 'This endpoint has no sessions.' : error.message;
	}, field('Token', token, 'It is sent to the service once. A cookie that scripts can’t read takes its place.'), h('button.primary', { type: 'submit' }, label));
	form.classList.add('sign-in');
	return form;
}

// The session has ended: asks to sign in again above the screen, which stays as it is, with what was typed. All calls that wait for it go on
// then. Another user gets a new page, so that nothing of the first one's is sent as the second.
let asking = null;

// The session of the cookie, if another tab has begun a new one; else null.
async function newSession() {
	try {
		const session = await get('/session', { mayAsk: false, anySession: true });
		return session.id && session.id !== who?.id ? session : null;
	} catch {
		return null; // then the user is asked
	}
}

const isSame = (session) => session.user === who?.user && session.tenant === who?.tenant && session.role === who?.role;

async function askForSession() {
	const other = await newSession();
	if (other && (isSame(other) || !unsaved()))
		return other;
	const why = other ? `${other.user} has signed in in another tab${who ? `, ${who.user}` : ''}.` : `Your session has ended${who ? `, ${who.user}` : ''}.`;
	return dialog('Sign in again', (close) => [h('p', null, `${why} What you typed is still there.`), tokenForm((session) => close(session), 'Sign in')], { stays: true });
}

function signInAgain() {
	asking ??= askForSession().then((session) => {
		asking = null;
		if (!session || !isSame(session)) {
			forget();
			location.reload();
			return new Promise(() => {});
		}
		setWho(session);
		return undefined;
	});
	return asking;
}

const keep = (event) => {
	if (unsaved())
		event.preventDefault();
};
const forget = () => removeEventListener('beforeunload', keep);

// Ends this session, or if all is true every session of the user. Throws an error if that failed: sessions may exist still. If this session
// has ended already, the user has to sign in to end the others, since only a session can do that.
async function signOut(all) {
	try {
		await call('DELETE', all ? '/session?all=true' : '/session', { mayAsk: all });
	} catch (error) {
		if (error.status !== 401) // there is no session any more
			throw error;
	}
	forget();
	location.hash = '';
	location.reload();
}

async function account() {
	const problem = h('div');
	const out = (all) => alone(actions, async () => {
		replace(problem);
		const question = unsaved();
		if (!question || await mayLeave(question))
			await signOut(all);
	}).catch((error) => replace(problem, note('bad', `You are not signed out${all ? ' everywhere' : ''}: ${error.message}`)));
	let actions = null;
	await dialog('You', (close) => [h('dl.facts', null, [['User', who.user], ['Tenant', who.tenant ?? '–'], ['Role', who.role], ['Endpoint', who.endpoint]]
		.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value)))),
	who.ends_at ? h('p.muted', null, `The session ends when it was not used for ${Math.round(who.idle_seconds / 60)} minutes, and at ${new Date(who.ends_at).toLocaleTimeString('en-GB')} in any case.`)
		: h('p.muted', null, 'Your web server or certificate signs you in with each request, so there is no session to end.'),
	problem, actions = h('div.actions', null, button('Close', () => close(), { autofocus: true }), who.ends_at ? button('Sign out everywhere', () => out(true)) : null,
		who.ends_at ? button('Sign out', () => out(false), { class_: 'primary', icon: 'out' }) : null)]);
}

function frame() {
	replace(document.getElementById('app'), h('a.skip', { href: '#main', onclick: (event) => {
		event.preventDefault();
		main.focus();
	} }, 'Skip to the content'),
	h('header.top', null, h('a.brand', { href: screen() }, 'Tenure'), h('span.endpoint', null, who.endpoint), nav,
		h('div.account', null, themeSwitch(), button(who.user, account, { class_: 'quiet', 'aria-haspopup': 'dialog' }))), main);
	onSignedOut(signInAgain);
	addEventListener('hashchange', leave);
	addEventListener('beforeunload', keep);
}

async function start(session) {
	setWho(session);
	await readWadl();
	frame();
	await show(false);
}

function welcome() {
	replace(document.getElementById('app'), h('main.welcome', null, h('h1', null, 'Tenure'), h('p.sub', null, 'Tenants, their resources, and what became of them.'),
		tokenForm(start, 'Sign in'), h('p.muted', null, 'Tokens are made by ', h('code', null, 'tenure-manage token create'), ', or by your identity provider.')));
	document.title = 'Sign in · Tenure';
}

async function boot() {
	setTheme(storedTheme());
	document.body.append(h('div', { id: 'announce', role: 'status', 'aria-live': 'polite' }));
	try {
		await start(JSON.parse((await call('GET', '/session', { mayAsk: false })).text));
	} catch (error) {
		if (error.status === 401)
			welcome();
		else
			replace(document.getElementById('app'), h('main.welcome', null, h('h1', null, 'Tenure'), note('bad',
				error.status === 404 ? 'This endpoint offers no console: its WADL has no sessions.' : error.message), h('div.actions.start', null, button('Try again', boot))));
	}
}

boot();
