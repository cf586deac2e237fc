// SPDX-License-Identifier: Apache-2.0
// Shows a secret that nobody can read again.

import { announce, button, dialog, field, h } from './dom.js';

export async function secret(title, text, advice) {
	await dialog(title, (close) => {
		const shown = h('input', { value: text, readonly: true, autofocus: true, onfocus: () => shown.select() });
		return [field('Secret', shown, 'It is shown this once. Copy it now.'), h('p.muted', null, advice), h('div.actions', null,
			button('Copy', async () => {
				shown.select();
				try {
					await navigator.clipboard.writeText(text);
					announce('Copied.');
				} catch {
					announce('The browser does not let this page copy. The secret is selected: copy it by the keyboard.');
				}
			}), button('Done', () => close(), { class_: 'primary' }))];
	}, { stays: true });
}
