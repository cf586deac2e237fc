// SPDX-License-Identifier: Apache-2.0
// Usage in periods of two hours, and of two tenants of one name.
import { readFileSync } from 'node:fs';
import { browse, check, eventually, go, is, settings, signIn } from './harness.mjs';

async function longPeriods(page) {
	await go(page, '#/t/acme/usage');
	await page.getByLabel('Time').selectOption('day');
	const rows = page.locator('.chart tbody tr');
	await eventually(async () => await rows.count() === 12, 'where a period is longer than an hour, the last day has a bar for each');
	const shown = (await rows.allTextContents()).map((row) => row.split(':00')[1]);
	is(shown.join(), '4,4,4,4,4,4,0,4,4,4,4,4', 'of what was there on average, in one nothing');
	const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as CSV' }).click()]);
	const lines = readFileSync(await download.path(), 'utf8').trim().split(/\r?\n/).slice(1);
	is(lines.filter((line) => /acme,.*configmaps/.test(line)).length, 11, 'and what is shown is exported, and nothing before it');
}

async function oneName(page) {
	const earlier = 'eeeeeeee-0000-4000-8000-000000000000';
	let later = '';
	await page.route((address) => address.pathname === '/v2.0/all/usage', async (route) => {
		const answer = await route.fetch(), json = await answer.json(), before = json.usage.map((row) => ({ ...row, uid: earlier, resource_seconds: '7200' }));
		later = json.usage[0].uid;
		await route.fulfill({ response: answer, json: { ...json, usage: [...before, ...json.usage] } });
	});
	await go(page, '#/tenants');
	const bars = page.locator('.ranks li');
	await eventually(async () => await bars.count() === 2, 'tenants that had one name have a bar each');
	const names = await bars.locator(':scope > :first-child').allTextContents();
	is(names.join(), `acme (${later.slice(0, 8)}),acme (eeeeeeee)`, 'by their uids');
	is((await page.locator('.ranks a').allTextContents()).join(), names[0], 'and the later one alone leads to a tenant');
	await page.unrouteAll();
}

await browse({ acceptDownloads: true }, async ({ page }) => {
	const window = await page();
	await signIn(window, settings.url, settings.operator);
	await longPeriods(window);
	await oneName(window);
});
