// SPDX-License-Identifier: Apache-2.0
// What the scripts here share: a headless Chromium, checks, and what must hold of every page: no error of a script, nothing that the
// policy of the page had to stop, no other origin.
//
// A script gets its settings as JSON in TENURE_CONSOLE (lib/Tenure/Browser.pm) and prints a line of JSON for each check.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const settings = JSON.parse(process.env.TENURE_CONSOLE);
const { chromium } = createRequire(join(settings.modules, 'x.js'))('playwright-core');

const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export function check(ok, name, more) {
	console.log(JSON.stringify({ ok: Boolean(ok), name, more: ok || more === undefined ? undefined : String(more) }));
}

export const is = (got, wanted, name) => check(got === wanted, name, `got ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);

// Waits until the function returns something true, and says so; asserts no time.
export async function eventually(run, name) {
	let last;
	for (let i = 0; i < 300; i++) {
		try {
			last = await run();
			if (last)
				return check(true, name);
		} catch (error) {
			last = error.message;
		}
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	return check(false, name, last);
}

const wrong = [];

function watch(page) {
	page.on('pageerror', (error) => wrong.push(`script error: ${error.message}`));
	page.on('console', (message) => {
		// Chromium writes each answer of 400 and above there itself, and what it keeps from another origin.
		if (message.type() === 'error' && !/^Failed to load resource|blocked by CORS policy/.test(message.text()))
			wrong.push(`console: ${message.text()}`);
	});
	page.on('dialog', (dialog) => {
		if (dialog.type() === 'beforeunload')
			return dialog.accept();
		wrong.push(`a ${dialog.type()} says: ${dialog.message()}`);
		return dialog.dismiss();
	});
	page.on('request', (request) => {
		if (!request.url().startsWith(new URL(settings.url).origin) && !settings.origins?.some((origin) => request.url().startsWith(origin)))
			wrong.push(`another origin was asked: ${request.url()}`);
	});
	page.setDefaultTimeout(30000);
}

// Runs work with a browser of its own: { context, page(): a new window }. options: those of a browser's context.
export async function browse(options, work) {
	const folder = mkdtempSync(join(tmpdir(), 'tenure-browser-'));
	const context = await chromium.launchPersistentContext(folder, { executablePath: settings.chromium, headless: true, args: flags,
		viewport: { width: 1280, height: 800 }, locale: 'en-GB', timezoneId: 'UTC', ...options });
	try {
		await context.addInitScript(() => addEventListener('securitypolicyviolation', (event) =>
			console.error(`the policy stopped ${event.violatedDirective}: ${event.blockedURI}`)));
		const page = async () => {
			const window = await context.newPage();
			watch(window);
			return window;
		};
		await work({ context, page });
	} catch (error) {
		check(false, 'the script goes through', error.stack);
	} finally {
		await context.close();
		rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
	}
	check(wrong.length === 0, 'no script error, nothing for the policy to stop, no other origin', wrong.join('\n'));
	wrong.length = 0;
}

// Opens the console and signs in.
export async function signIn(page, url, token, hash = '') {
	await page.goto(`${url}/console/${hash}`);
	await page.getByLabel('Token').fill(token);
	await page.getByRole('button', { name: 'Sign in' }).click();
	await page.locator('header.top').waitFor();
	await settled(page);
}

// Waits until a function in the page returns something true. The page's policy forbids playwright's own way to wait, which is eval().
export async function until(page, run, argument) {
	for (let i = 0; i < 600; i++) {
		if (await page.evaluate(run, argument).catch(() => false))
			return;
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
	throw new Error(`the page never came to: ${run}`);
}

// Waits until nothing on the screen is loading.
export async function settled(page) {
	await until(page, () => document.querySelector('main h1') && !document.querySelector('[aria-busy], .loading') &&
		![...document.querySelectorAll('.list-status')].some((one) => /^(Loading|Looking)/.test(one.textContent)) &&
		![...document.querySelectorAll('.types .number')].some((one) => one.textContent === '…'));
}

// Follows a link or goes to a screen, and waits for it.
export async function go(page, hash) {
	await page.evaluate((to) => location.hash = to, hash);
	await until(page, (to) => document.querySelector('main').dataset.screen === to || location.hash !== to, hash);
	await settled(page);
}

// The picture of a screen, if pictures are wanted.
export async function picture(page, name) {
	if (!settings.pictures)
		return;
	await page.evaluate(() => document.querySelectorAll('.toast').forEach((toast) => toast.remove())); // of earlier steps
	await page.screenshot({ path: join(settings.pictures, `${name}.png`) });
}
