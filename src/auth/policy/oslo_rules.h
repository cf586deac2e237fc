// SPDX-License-Identifier: Apache-2.0
// Rules in the language of OpenStack's oslo.policy, by which its services decide who may do what. A rule has a name and a check:
//   @  !                       everybody; nobody
//   role:NAME                  the user has that role, whatever the case of its letters
//   rule:NAME                  that other rule says yes
//   ATTRIBUTE:VALUE            an attribute of the user is equal to the value. ATTRIBUTE: user_id, project_id, system_scope
// ("all", or
//                              "None"), roles (one of them), is_admin ("False"), or a text in quotes. VALUE: a text, or
// %(project_id)s
//                              or %(user_id)s, which stand for the target's
//   not A   A and B   A or B   in this order of precedence, and parentheses
// A file of such rules is a YAML mapping of names to checks, as text; it replaces rules of a built-in set, and may add others.
#ifndef TENURE_AUTH_POLICY_OSLO_RULES_H
#define TENURE_AUTH_POLICY_OSLO_RULES_H

#include "auth/core/principal.h"
#include "base/pool.h"

struct oslo_rules; // compiled, and never changed again

struct oslo_rule {
	struct str name, check;
	unsigned line; // of the file; 0: built in
};

// What a rule is about: ids of a project and a user, "" if the request is about none.
struct oslo_target {
	struct str project, user;
};

// Compiles n rules, at most OSLO_MAX_ALL, each of another name, into pool. NULL: a rule is no check, names a rule that does not
// exist, or names itself, directly or through others; *error (malloc) says which rule, in which line of the file, and why.
struct oslo_rules *oslo_rules_compile(struct pool *pool, const struct oslo_rule *rules, size_t n, char **error);
// Does the rule of that index say yes?
bool oslo_rules_allow(const struct oslo_rules *rules, size_t index, const struct principal *principal,
	const struct oslo_target *target);

enum {
	OSLO_FILE_MAX = 1024 * 1024, // bytes
	OSLO_MAX_RULES = 1000,       // of a file
	OSLO_MAX_ALL = 1200,         // rules that are compiled together: of a file, and those built in
	OSLO_MAX_DEPTH = 32,         // of parentheses and "not"
	OSLO_MAX_TERMS = 10000,      // terms and operators of all rules: evaluation calls itself for each of them at most once
};

// Reads a file of rules into pool: *rules, *n. False and *error (malloc): the file can't be read, is too large, no YAML, or
// something else than a mapping of names to texts, of which each name occurs once; with the line.
bool oslo_rules_read_file(struct pool *pool, const char *path, struct oslo_rule **rules, size_t *n, char **error);

#endif
