// SPDX-License-Identifier: Apache-2.0
// Compiles checks into trees of nodes, and evaluates them (auth/policy/oslo_rules.h).
#include "base/base.h"

#include "auth/core/authenticator.h"
#include "auth/policy/oslo_rules.h"

enum node_kind { NODE_TRUE, NODE_FALSE, NODE_NOT, NODE_AND, NODE_OR, NODE_RULE, NODE_ROLE, NODE_EQUAL };

enum term_kind { TERM_TEXT, TERM_TARGET_PROJECT, TERM_TARGET_USER, TERM_USER, TERM_PROJECT, TERM_SCOPE, TERM_ROLES, TERM_ADMIN };

struct term {
	enum term_kind kind;
	struct str text;
};

struct node {
	enum node_kind kind;
	const struct node *left, *right; // NOT: left alone
	size_t rule;                     // RULE: its index
	struct term attribute, value;    // ROLE: the value alone; EQUAL: both
};

struct oslo_rules {
	const struct node **checks; // one for each rule
	size_t n;
};

// ---- reading a check

struct reader {
	struct pool *pool;
	const struct oslo_rule *rules;
	size_t n;
	struct str rest;   // what is not read yet
	struct str word;   // the current one; p NULL: the end
	size_t closing;    // parentheses that close behind the word, each a word of its own
	unsigned depth;
	size_t n_terms;    // of all rules so far, OSLO_MAX_TERMS at most
	const char *wrong; // the first fault; NULL: none
	struct str about;  // the word that it is about
};

static const struct node *fail(struct reader *reader, const char *wrong)
{
	if (reader->wrong == NULL) {
		reader->wrong = wrong;
		reader->about = reader->word.p != NULL ? reader->word : STR("the end");
	}
	return NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Words end at blanks. A "(" at the beginning of a word and each ")" at its end are words of their own; those inside, as in
// "%(name)s", belong to the word.
static void next(struct reader *reader)
{
	struct str rest = reader->rest;
	size_t n = 0;

	if (reader->closing > 0) {
		reader->closing--;
		reader->word = STR(")");
		return;
	}
	while (rest.n > 0 && is_blank(rest.p[0]))
		rest = str_part(rest, 1, rest.n);
	while (n < rest.n && !is_blank(rest.p[n]))
		n++;
	if (n > 0 && rest.p[0] == '(')
		n = 1;
	struct str word = str_part(rest, 0, n);
	reader->rest = str_part(rest, n, rest.n);
	while (word.n > 1 && word.p[word.n - 1] == ')') {
		word.n--;
		reader->closing++;
	}
	reader->word = word.n > 0 ? word : STR_NONE;
}

static struct node *new_node(struct reader *reader, enum node_kind kind)
{
	struct node *node = POOL_NEW(reader->pool, struct node);

	if (++reader->n_terms > OSLO_MAX_TERMS)
		(void)fail(reader, "the rules have too many terms");
	node->kind = kind;
	return node;
}

static bool is_word(const struct reader *reader, struct str word)
{
	return reader->word.p != NULL && str_eq_nocase(reader->word, word);
}

static bool unquote(struct str text, struct str *inner)
{
	bool quoted = text.n >= 2 && (text.p[0] == '\'' || text.p[0] == '"') && text.p[text.n - 1] == text.p[0];

	if (quoted)
		*inner = str_part(text, 1, text.n - 1);
	return quoted;
}

static bool read_attribute(struct str name, struct term *term)
{
	static const struct {
		struct str name;
		enum term_kind kind;
	} attributes[] = {
		{ STR_INIT("user_id"), TERM_USER },
		{ STR_INIT("project_id"), TERM_PROJECT },
		{ STR_INIT("tenant"), TERM_PROJECT }, // its name of before
		{ STR_INIT("system_scope"), TERM_SCOPE },
		{ STR_INIT("roles"), TERM_ROLES },
		{ STR_INIT("is_admin"), TERM_ADMIN },
	};

	for (size_t i = 0; i < COUNT_OF(attributes); i++) {
		if (str_eq(name, attributes[i].name)) {
			term->kind = attributes[i].kind;
			return true;
		}
	}
	term->kind = TERM_TEXT;
	return unquote(name, &term->text);
}

static bool read_value(struct str text, struct term *term)
{
	if (str_eq(text, STR("%(project_id)s")))
		term->kind = TERM_TARGET_PROJECT;
	else if (str_eq(text, STR("%(user_id)s")))
		term->kind = TERM_TARGET_USER;
	else
		*term = (struct term){ TERM_TEXT, text };
	return term->kind != TERM_TEXT || (text.n > 0 && str_find(text, '%', 0) == text.n);
}

static const struct node *read_reference(struct reader *reader, struct str name)
{
	struct node *node = new_node(reader, NODE_RULE);

	while (node->rule < reader->n && !str_eq(reader->rules[node->rule].name, name))
		node->rule++;
	return node->rule < reader->n ? node : fail(reader, "there is no such rule");
}

static const struct node *read_check(struct reader *reader)
{
	struct str word = reader->word;
	size_t colon = str_find(word, ':', 0);
	struct str kind = str_part(word, 0, colon), match = str_part(word, colon < word.n ? colon + 1 : word.n, word.n);

	if (str_eq(word, STR("@")))
		return new_node(reader, NODE_TRUE);
	if (str_eq(word, STR("!")))
		return new_node(reader, NODE_FALSE);
	if (colon == word.n || match.n == 0)
		return fail(reader, "a check is @, !, or KIND:VALUE");
	if (str_eq(kind, STR("rule")))
		return read_reference(reader, match);
	if (str_eq(kind, STR("http")) || str_eq(kind, STR("https")))
		return fail(reader, "checks by another server are not supported");
	struct node *node = new_node(reader, str_eq(kind, STR("role")) ? NODE_ROLE : NODE_EQUAL);
	if (node->kind == NODE_EQUAL && !read_attribute(kind, &node->attribute))
		return fail(reader,
			"it must begin with role, rule, user_id, project_id, system_scope, roles, is_admin, or a text in quotes");
	if (!read_value(match, &node->value))
		return fail(reader, "the value must be a text without %, or %(project_id)s or %(user_id)s");
	return node;
}

static const struct node *read_or(struct reader *reader);

static const struct node *read_one(struct reader *reader)
{
	const struct node *inner;

	if (reader->word.p == NULL || is_word(reader, STR(")")) || is_word(reader, STR("and")) || is_word(reader, STR("or")))
		return fail(reader, "a check is missing in front of it");
	if (!is_word(reader, STR("not")) && !is_word(reader, STR("("))) {
		inner = read_check(reader);
		next(reader);
		return inner;
	}
	if (++reader->depth > OSLO_MAX_DEPTH)
		return fail(reader, "it is nested too deep");
	if (is_word(reader, STR("not"))) {
		next(reader);
		struct node *node = new_node(reader, NODE_NOT);
		node->left = read_one(reader);
		inner = node;
	} else {
		next(reader);
		inner = read_or(reader);
		if (!is_word(reader, STR(")")))
			return fail(reader, "a parenthesis isn't closed in front of it");
		next(reader);
	}
	reader->depth--;
	return inner;
}

static const struct node *read_and(struct reader *reader)
{
	const struct node *left = read_one(reader);

	while (reader->wrong == NULL && is_word(reader, STR("and"))) {
		struct node *node = new_node(reader, NODE_AND);
		next(reader);
		node->left = left;
		node->right = read_one(reader);
		left = node;
	}
	return left;
}

static const struct node *read_or(struct reader *reader)
{
	const struct node *left = read_and(reader);

	while (reader->wrong == NULL && is_word(reader, STR("or"))) {
		struct node *node = new_node(reader, NODE_OR);
		next(reader);
		node->left = left;
		node->right = read_and(reader);
		left = node;
	}
	return left;
}

// The empty check says yes, as in oslo.policy.
static const struct node *read_whole(struct reader *reader)
{
	next(reader);
	if (reader->word.p == NULL)
		return new_node(reader, NODE_TRUE);
	const struct node *node = read_or(reader);
	if (reader->wrong == NULL && reader->word.p != NULL)
		return fail(reader, "\"and\" or \"or\" is missing in front of it");
	return node;
}

// ---- all rules

static char *describe(const struct oslo_rule *rule, const char *wrong, struct str about)
{
	struct str shown = str_part(about, 0, about.n < 80 ? about.n : 80);

	if (rule->line == 0)
		return auth_message("rule \"%.*s\": \"%.*s\": %s", STR_ARG(rule->name), STR_ARG(shown), wrong);
	return auth_message("line %u: rule \"%.*s\": \"%.*s\": %s", rule->line, STR_ARG(rule->name), STR_ARG(shown), wrong);
}

enum { UNSEEN, OPEN, DONE };

// Does a rule that the node asks about lead back to a rule that is open? Every rule is looked at once.
static bool leads_back(const struct oslo_rules *rules, const struct node *node, uint8_t *seen)
{
	if (node == NULL)
		return false;
	if (node->kind != NODE_RULE)
		return leads_back(rules, node->left, seen) || leads_back(rules, node->right, seen);
	if (seen[node->rule] != UNSEEN)
		return seen[node->rule] == OPEN;
	seen[node->rule] = OPEN;
	bool back = leads_back(rules, rules->checks[node->rule], seen);
	seen[node->rule] = DONE;
	return back;
}

struct oslo_rules *oslo_rules_compile(struct pool *pool, const struct oslo_rule *rules, size_t n, char **error)
{
	struct oslo_rules *compiled = POOL_NEW(pool, struct oslo_rules);
	uint8_t *seen = POOL_ARRAY(pool, uint8_t, n);
	size_t n_terms = 0;

	assert(n <= OSLO_MAX_ALL);
	compiled->checks = POOL_ARRAY(pool, const struct node *, n);
	compiled->n = n;
	for (size_t i = 0; i < n; i++) {
		struct reader reader = { .pool = pool, .rules = rules, .n = n, .rest = rules[i].check, .n_terms = n_terms };
		compiled->checks[i] = read_whole(&reader);
		n_terms = reader.n_terms;
		if (reader.wrong != NULL) {
			*error = describe(&rules[i], reader.wrong, reader.about);
			return NULL;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (seen[i] != UNSEEN)
			continue;
		seen[i] = OPEN;
		if (leads_back(compiled, compiled->checks[i], seen)) {
			*error = describe(&rules[i], "it asks about itself, straight or by other rules", rules[i].check);
			return NULL;
		}
		seen[i] = DONE;
	}
	return compiled;
}

// ---- evaluation

enum { UNKNOWN, ALLOWED, REFUSED };

struct question {
	const struct oslo_rules *rules;
	uint8_t *known; // of each rule, what it said: rules that name others twice would take time beyond all bounds
	const struct principal *principal;
	struct openstack_scope scope;
	const struct oslo_target *target;
};

// The text of a term; "" is equal to nothing.
static struct str text_of(const struct question *question, const struct term *term)
{
	switch (term->kind) {
	case TERM_TARGET_PROJECT:
		return question->target->project;
	case TERM_TARGET_USER:
		return question->target->user;
	case TERM_USER:
		return question->principal->user;
	case TERM_PROJECT:
		return question->scope.project;
	case TERM_SCOPE:
		return question->scope.system_scope ? STR("all") : STR("None");
	case TERM_ADMIN:
		return STR("False");
	case TERM_TEXT:
	case TERM_ROLES:
		break;
	}
	return term->text;
}

static bool is_equal(const struct question *question, const struct node *node)
{
	struct str value = text_of(question, &node->value);

	if (value.n == 0)
		return false;
	if (node->kind == NODE_ROLE || node->attribute.kind == TERM_ROLES)
		return principal_has_openstack_role(&question->scope, value);
	return str_eq(text_of(question, &node->attribute), value);
}

static bool allows(const struct question *question, const struct node *node)
{
	switch (node->kind) {
	case NODE_TRUE:
		return true;
	case NODE_FALSE:
		return false;
	case NODE_NOT:
		return !allows(question, node->left);
	case NODE_AND:
		return allows(question, node->left) && allows(question, node->right);
	case NODE_OR:
		return allows(question, node->left) || allows(question, node->right);
	case NODE_RULE:
		if (question->known[node->rule] == UNKNOWN)
			question->known[node->rule] = allows(question, question->rules->checks[node->rule]) ? ALLOWED : REFUSED;
		return question->known[node->rule] == ALLOWED;
	case NODE_ROLE:
	case NODE_EQUAL:
		break;
	}
	return is_equal(question, node);
}

bool oslo_rules_allow(const struct oslo_rules *rules, size_t index, const struct principal *principal,
	const struct oslo_target *target)
{
	uint8_t known[OSLO_MAX_ALL];
	const struct question question = { rules, known, principal, principal_openstack(principal), target };

	assert(index < rules->n);
	memset(known, UNKNOWN, rules->n);
	return allows(&question, rules->checks[index]);
}
