// SPDX-License-Identifier: Apache-2.0
// The built-in types, and the words that people have for them.
#ifndef TENURE_CLI_CORE_OFFERED_TYPES_H
#define TENURE_CLI_CORE_OFFERED_TYPES_H

// The built-in types, of which `tenure resource` handles some; ends with plural NULL.
struct offered_type {
	const char *group, *kind, *plural;
	const char *short_names[2]; // NULL: no more
	bool offered;    // false: other commands handle it
	bool namespaced; // in the namespace default, if none is given
	bool owned;      // by a tenant, so that `tenure resource` takes it even if it is not offered
};
extern const struct offered_type offered_types[];
// The plural of the type that has that short or singular name; word if there is none.
const char *type_plural(const char *word);
// The plural of an offered type that differs from word by a typing mistake; NULL: there is none.
const char *type_plural_near(const char *word);

#endif
