// SPDX-License-Identifier: Apache-2.0
// Rules of built-in kinds that go beyond the types of members. Config maps, secrets, volumes and daemon sets are here; pods and
// services have files of their own.
#include "base/base.h"

#include <arpa/inet.h>

#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "api/spaces/kinds/rules.h"
#include "base/pool.h"

enum { DATA_MAX = 1 << 20, KEY_MAX = 253, PORT_NAME_MAX = 15 };

// ---- reading members

const struct doc *rule_member(const struct doc *object, const char *name)
{
	const struct doc *value = NULL;

	return doc_kind(object) == DOC_OBJECT && doc_get(object, str_c(name), &value) ? value : NULL;
}

struct str rule_text(const struct doc *object, const char *name)
{
	const struct doc *value = rule_member(object, name);

	return doc_kind(value) == DOC_STRING ? doc_string(value) : STR("");
}

bool rule_integer(const struct doc *object, const char *name, int64_t *value)
{
	const struct doc *number = rule_member(object, name);

	*value = 0;
	return doc_kind(number) == DOC_NUMBER && doc_i64(number, value);
}

// ---- checks of one value

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void check_port_number(struct field_faults *faults, const struct field_path *at, int64_t port)
{
	if (port >= 1 && port <= 65535)
		return;
	field_fault_add(faults, at, FIELD_INVALID, str_printf(faults->pool, "%lld", (long long)port),
		"must be between 1 and 65535, inclusive");
}

void check_port_name(struct field_faults *faults, const struct field_path *at, struct str name)
{
	bool others = false, letter = false, doubled = false;

	for (size_t i = 0; i < name.n; i++) {
		others = others || !(is_lower_alnum(name.p[i]) || name.p[i] == '-');
		letter = letter || (name.p[i] >= 'a' && name.p[i] <= 'z');
		doubled = doubled || (i > 0 && name.p[i] == '-' && name.p[i - 1] == '-');
	}
	if (name.n > PORT_NAME_MAX)
		field_invalid_text(faults, at, name, "must be no more than 15 characters");
	if (others)
		field_invalid_text(faults, at, name, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
	if (!letter)
		field_invalid_text(faults, at, name, "must contain at least one letter (a-z)");
	if (doubled)
		field_invalid_text(faults, at, name, "must not contain consecutive hyphens");
	if (name.n > 0 && (name.p[0] == '-' || name.p[name.n - 1] == '-'))
		field_invalid_text(faults, at, name, "must not begin or end with a hyphen");
}

void check_port_or_name(struct field_faults *faults, const struct field_path *at, const struct doc *value)
{
	int64_t port;

	if (doc_kind(value) == DOC_STRING)
		check_port_name(faults, at, doc_string(value));
	else if (doc_kind(value) == DOC_NUMBER && !doc_i64(value, &port))
		field_invalid(faults, at, value, "must be between 1 and 65535, inclusive");
	else if (doc_kind(value) == DOC_NUMBER && port != 0)
		check_port_number(faults, at, port);
}

void check_one_of(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name,
	const char *const *supported)
{
	const struct field_path at = field_name(up, str_c(name));
	struct str text = rule_text(object, name);

	if (text.n == 0)
		return;
	for (size_t i = 0; supported[i] != NULL; i++) {
		if (str_eq_c(text, supported[i]))
			return;
	}
	field_not_supported(faults, &at, text, supported);
}

void check_protocol(struct field_faults *faults, const struct field_path *up, const struct doc *object)
{
	static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

	check_one_of(faults, up, object, "protocol", protocols);
}

void check_required(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name)
{
	const struct field_path at = field_name(up, str_c(name));
	const struct doc *value = rule_member(object, name);
	bool empty = value == NULL || (doc_kind(value) == DOC_STRING && doc_string(value).n == 0) ||
		(doc_kind(value) == DOC_ARRAY && doc_length(value) == 0) ||
		(doc_kind(value) == DOC_OBJECT && doc_length(value) == 0);

	if (empty)
		field_required(faults, &at, "");
}

void check_ip(struct field_faults *faults, const struct field_path *at, struct str address)
{
	uint8_t bytes[sizeof(struct in6_addr)];
	char text[INET6_ADDRSTRLEN + 1] = "";

	if (address.n < sizeof(text) && memchr(address.p, '\0', address.n) == NULL) {
		memcpy(text, address.p, address.n);
		if (inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1)
			return;
	}
	field_invalid_text(faults, at, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

// The factor of a quantity's suffix; 0: there is no such suffix.
static long double quantity_factor(struct str suffix)
{
	static const struct {
		const char *suffix;
		long double factor;
	} factors[] = {
		{ "", 1 }, { "n", 1e-9L }, { "u", 1e-6L }, { "m", 1e-3L }, { "k", 1e3L }, { "M", 1e6L }, { "G", 1e9L },
		{ "T", 1e12L }, { "P", 1e15L }, { "E", 1e18L }, { "Ki", 0x1p10L }, { "Mi", 0x1p20L }, { "Gi", 0x1p30L },
		{ "Ti", 0x1p40L }, { "Pi", 0x1p50L }, { "Ei", 0x1p60L },
	};

	for (size_t i = 0; i < COUNT_OF(factors); i++) {
		if (str_eq_c(suffix, factors[i].suffix))
			return factors[i].factor;
	}
	return 0;
}

// Reads an exponent, "e3" or "E-2", as a power of ten. False: a quantity can't have it.
static bool quantity_exponent(struct str suffix, long double *factor)
{
	struct str digits = str_part(suffix, 1, suffix.n);
	bool negative = digits.n > 0 && digits.p[0] == '-';
	uint64_t exponent;

	if (suffix.n < 2 || (suffix.p[0] != 'e' && suffix.p[0] != 'E'))
		return false;
	if (digits.p[0] == '-' || digits.p[0] == '+')
		digits = str_part(digits, 1, digits.n);
	if (!str_to_u64(digits, &exponent) || exponent > 100)
		return false;
	*factor = 1;
	for (uint64_t i = 0; i < exponent; i++)
		*factor *= negative ? 0.1L : 10;
	return true;
}

static bool quantity_parse(struct str text, long double *number)
{
	bool negative = text.n > 0 && text.p[0] == '-', digits = false;
	size_t at = text.n > 0 && (text.p[0] == '-' || text.p[0] == '+') ? 1 : 0;
	long double value = 0, place = 0, factor;

	for (; at < text.n && ((text.p[at] >= '0' && text.p[at] <= '9') || (text.p[at] == '.' && place == 0)); at++) {
		if (text.p[at] == '.') {
			place = 1;
			continue;
		}
		digits = true;
		place /= 10;
		value = place != 0 ? value + place * (text.p[at] - '0') : value * 10 + (text.p[at] - '0');
	}
	struct str suffix = str_part(text, at, text.n);
	factor = quantity_factor(suffix);
	if (!digits || (factor == 0 && !quantity_exponent(suffix, &factor)))
		return false;
	*number = (negative ? -value : value) * factor;
	return true;
}

bool check_quantity(struct field_faults *faults, const struct field_path *at, const struct doc *value, long double *number)
{
	struct buf text = buf_new(faults->pool, 32);

	if (doc_kind(value) == DOC_STRING)
		buf_add(&text, doc_string(value));
	else
		doc_write_json(value, &text);
	if (quantity_parse(buf_str(&text), number))
		return true;
	field_invalid(faults, at, value,
		"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	return false;
}

// ---- lists of names

struct str *rule_texts(struct pool *pool, const struct doc *list, const char *name)
{
	size_t n = doc_length(list);
	struct str *texts = POOL_ARRAY(pool, struct str, n + 1);

	for (size_t i = 0; i < n; i++)
		texts[i] = rule_text(doc_at(list, i), name);
	return texts;
}

struct placed_text {
	struct str text;
	size_t at;
};

static int by_text_and_place(const void *a, const void *b)
{
	const struct placed_text *x = a, *y = b;
	int order = str_cmp(x->text, y->text);

	return order != 0 ? order : x->at < y->at ? -1 : x->at > y->at;
}

const bool *repeated_texts(struct pool *pool, const struct str *texts, size_t n)
{
	struct placed_text *list = POOL_ARRAY(pool, struct placed_text, n + 1);
	bool *flags = pool_calloc(pool, n + 1, sizeof(*flags));

	for (size_t i = 0; i < n; i++)
		list[i] = (struct placed_text){ texts[i], i };
	qsort(list, n, sizeof(*list), by_text_and_place);
	for (size_t i = 1; i < n; i++)
		flags[list[i].at] = list[i].text.n > 0 && str_eq(list[i].text, list[i - 1].text);
	return flags;
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

const struct str *sorted_texts(struct pool *pool, const struct str *texts, size_t n)
{
	struct str *sorted = POOL_ARRAY(pool, struct str, n + 1);

	memcpy(sorted, texts, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_text);
	return sorted;
}

bool has_text(const struct str *sorted, size_t n, struct str text)
{
	return n > 0 && bsearch(&text, sorted, n, sizeof(*sorted), by_text) != NULL;
}

// ---- config maps and secrets

static bool is_key_text(struct str key)
{
	for (size_t i = 0; i < key.n; i++) {
		char c = key.p[i];
		if (!is_lower_alnum(c) && !(c >= 'A' && c <= 'Z') && c != '-' && c != '.' && c != '_')
			return false;
	}
	return key.n > 0;
}

static void check_key(struct field_faults *faults, const struct field_path *up, struct str key)
{
	const struct field_path at = field_key(up, key);

	if (key.n > KEY_MAX)
		field_invalid_text(faults, &at, key, "must be no more than 253 characters");
	if (!is_key_text(key))
		field_invalid_text(faults, &at, key,
			"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
			"'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')");
	if (str_eq(key, STR(".")))
		field_invalid_text(faults, &at, key, "must not be '.'");
	else if (str_eq(key, STR("..")))
		field_invalid_text(faults, &at, key, "must not be '..'");
	else if (key.n > 2 && key.p[0] == '.' && key.p[1] == '.')
		field_invalid_text(faults, &at, key, "must not start with '..'");
}

// The number of bytes that base64 stands for. Its form was checked before.
static size_t decoded_size(struct str base64)
{
	size_t padding = 0;

	while (padding < 2 && padding < base64.n && base64.p[base64.n - 1 - padding] == '=')
		padding++;
	return base64.n / 4 * 3 - padding;
}

static void check_size(struct field_faults *faults, const struct field_path *at, size_t bytes)
{
	if (bytes > DATA_MAX)
		field_fault_add(faults, at, FIELD_TOO_LONG, STR_NONE, "must have at most %d bytes", DATA_MAX);
}

static void check_config_map(struct field_faults *faults, const struct doc *body)
{
	const struct field_path of_data = field_name(NULL, STR("data")), of_binary = field_name(NULL, STR("binaryData"));
	const struct field_path whole = field_key(NULL, STR(""));
	const struct doc *data = rule_member(body, "data"), *binary = rule_member(body, "binaryData"), *other;
	size_t bytes = 0;

	for (struct doc_iter it = doc_iter(data); doc_next(&it);) {
		const struct field_path at = field_key(&of_data, it.name);
		check_key(faults, &of_data, it.name);
		if (binary != NULL && doc_get(binary, it.name, &other))
			field_invalid_text(faults, &at, it.name, "duplicate of key present in binaryData");
		bytes += doc_kind(it.value) == DOC_STRING ? doc_string(it.value).n : 0;
	}
	for (struct doc_iter it = doc_iter(binary); doc_next(&it);) {
		check_key(faults, &of_binary, it.name);
		bytes += doc_kind(it.value) == DOC_STRING ? decoded_size(doc_string(it.value)) : 0;
	}
	check_size(faults, &whole, bytes);
}

// Keys that a secret of a type must have: all of them or, if `any` is set, one of them.
static const struct {
	const char *type, *keys[2];
	bool any;     // one of them is enough
	bool filled;  // it must not be empty
	bool is_json; // it must contain a JSON document
} secret_types[] = {
	{ "kubernetes.io/dockercfg", { ".dockercfg" }, false, false, true },
	{ "kubernetes.io/dockerconfigjson", { ".dockerconfigjson" }, false, false, true },
	{ "kubernetes.io/basic-auth", { "username", "password" }, true, false, false },
	{ "kubernetes.io/ssh-auth", { "ssh-privatekey" }, false, true, false },
	{ "kubernetes.io/tls", { "tls.crt", "tls.key" }, false, false, false },
};

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : 63;
}

static struct str base64_decoded(struct pool *pool, struct str text)
{
	size_t n = decoded_size(text);
	struct buf out = buf_new(pool, n + 3);

	for (size_t i = 0; i + 4 <= text.n; i += 4) {
		uint32_t bits = 0;
		for (size_t k = 0; k < 4; k++)
			bits = bits << 6 | (text.p[i + k] == '=' ? 0 : (uint32_t)base64_digit(text.p[i + k]));
		for (size_t k = 0; k < 3 && out.n < n; k++)
			buf_addc(&out, (char)(bits >> (16 - 8 * k) & 0xff));
	}
	return buf_str(&out);
}

static void check_is_json(struct field_faults *faults, const struct field_path *at, struct str base64)
{
	const struct doc_limits limits = { .depth = 64, .nodes = DATA_MAX };
	struct doc *doc;
	struct str error = STR("");

	if (doc_parse_json(faults->pool, base64_decoded(faults->pool, base64), limits, &doc, &error))
		return;
	// Neither the secret nor the parser's error message is shown, because the message may quote the secret.
	field_fault_add(faults, at, FIELD_INVALID, STR("\"<secret contents redacted>\""), "must be a JSON document");
}

static void check_secret_type(struct field_faults *faults, size_t type, const struct field_path *up, const struct doc *data)
{
	bool found = false;

	for (size_t i = 0; i < COUNT_OF(secret_types[type].keys) && secret_types[type].keys[i] != NULL; i++) {
		const struct doc *value = rule_member(data, secret_types[type].keys[i]);
		found = found || value != NULL;
	}
	for (size_t i = 0; i < COUNT_OF(secret_types[type].keys) && secret_types[type].keys[i] != NULL; i++) {
		const struct field_path at = field_key(up, str_c(secret_types[type].keys[i]));
		struct str value = rule_text(data, secret_types[type].keys[i]);
		bool there = rule_member(data, secret_types[type].keys[i]) != NULL;
		if (secret_types[type].filled ? value.n == 0 : !there && !(secret_types[type].any && found))
			field_required(faults, &at, "");
		else if (secret_types[type].is_json)
			check_is_json(faults, &at, value);
	}
}

static void check_account_named(struct field_faults *faults, const struct doc *meta)
{
	const struct field_path metadata = field_name(NULL, STR("metadata"));
	const struct field_path annotations = field_name(&metadata, STR("annotations"));
	const struct field_path at = field_key(&annotations, STR("kubernetes.io/service-account.name"));

	if (rule_text(rule_member(meta, "annotations"), "kubernetes.io/service-account.name").n == 0)
		field_required(faults, &at, "");
}

static void check_secret(struct field_faults *faults, const struct doc *meta, const struct doc *body)
{
	const struct field_path at = field_name(NULL, STR("data"));
	const struct doc *data = rule_member(body, "data");
	struct str type = rule_text(body, "type");
	size_t bytes = 0;

	for (struct doc_iter it = doc_iter(data); doc_next(&it);) {
		check_key(faults, &at, it.name);
		bytes += doc_kind(it.value) == DOC_STRING ? decoded_size(doc_string(it.value)) : 0;
	}
	check_size(faults, &at, bytes);
	if (str_eq(type, STR("kubernetes.io/service-account-token")))
		check_account_named(faults, meta);
	for (size_t i = 0; i < COUNT_OF(secret_types); i++) {
		if (str_eq_c(type, secret_types[i].type))
			check_secret_type(faults, i, &at, data);
	}
}

// ---- volumes

static const char *const not_sources[] = { "accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity",
	"persistentVolumeReclaimPolicy", "storageClassName", "volumeAttributesClassName", "volumeMode" };

static bool is_source(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(not_sources); i++) {
		if (str_eq_c(name, not_sources[i]))
			return false;
	}
	return true;
}

static void check_sources(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	size_t n = 0;

	for (struct doc_iter it = doc_iter(spec); doc_next(&it);) {
		const struct field_path at = field_name(up, it.name);
		if (it.value == NULL || !is_source(it.name))
			continue;
		if (n++ > 0)
			field_forbidden(faults, &at, "may not specify more than 1 volume type");
		else if (str_eq(it.name, STR("hostPath")) || str_eq(it.name, STR("local")))
			check_required(faults, &at, it.value, "path");
		else if (str_eq(it.name, STR("nfs")))
			check_required(faults, &at, it.value, "server"), check_required(faults, &at, it.value, "path");
		else if (str_eq(it.name, STR("csi")))
			check_required(faults, &at, it.value, "driver"), check_required(faults, &at, it.value, "volumeHandle");
	}
	if (n == 0)
		field_required(faults, up, "must specify a volume type");
}

static void check_capacity(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	static const char *const storage[] = { "storage", NULL };
	const struct field_path at = field_name(up, STR("capacity"));
	const struct doc *capacity = rule_member(spec, "capacity");
	long double number;

	check_required(faults, up, spec, "capacity");
	for (struct doc_iter it = doc_iter(capacity); doc_next(&it);) {
		const struct field_path item = field_key(&at, it.name);
		if (!str_eq(it.name, STR("storage")))
			field_not_supported(faults, &at, it.name, storage);
		if (check_quantity(faults, &item, it.value, &number) && number <= 0)
			field_invalid(faults, &item, it.value, "must be greater than zero");
	}
}

static void check_volume(struct field_faults *faults, const struct doc *before, const struct doc *body)
{
	static const char *const modes[] = { "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", NULL };
	static const char *const policies[] = { "Delete", "Recycle", "Retain", NULL };
	static const char *const volume_modes[] = { "Block", "Filesystem", NULL };
	const struct field_path at = field_name(NULL, STR("spec")), of_modes = field_name(&at, STR("accessModes"));
	const struct field_path of_mode = field_name(&at, STR("volumeMode")), of_class = field_name(&at, STR("storageClassName"));
	const struct field_path of_nodes = field_name(&at, STR("nodeAffinity"));
	const struct doc *spec = rule_member(body, "spec"), *list = rule_member(spec, "accessModes");
	const struct doc *old = rule_member(before, "spec");
	struct str class = rule_text(spec, "storageClassName");

	check_required(faults, &at, spec, "accessModes");
	for (size_t i = 0; i < doc_length(list); i++) {
		const struct field_path item = field_index(&of_modes, i);
		struct str mode = doc_string(doc_at(list, i));
		bool known = false;
		for (size_t k = 0; modes[k] != NULL; k++)
			known = known || str_eq_c(mode, modes[k]);
		if (!known)
			field_not_supported(faults, &item, mode, modes);
		else if (str_eq(mode, STR("ReadWriteOncePod")) && doc_length(list) > 1)
			field_forbidden(faults, &of_modes, "may not use ReadWriteOncePod with other access modes");
	}
	check_capacity(faults, &at, spec);
	check_sources(faults, &at, spec);
	check_one_of(faults, &at, spec, "persistentVolumeReclaimPolicy", policies);
	check_one_of(faults, &at, spec, "volumeMode", volume_modes);
	if (class.n > 0)
		check_dns_subdomain(class, &of_class, faults);
	if (rule_member(spec, "local") != NULL && rule_member(spec, "nodeAffinity") == NULL)
		field_required(faults, &of_nodes, "Local volume requires node affinity");
	if (rule_text(old, "volumeMode").n > 0 && !str_eq(rule_text(old, "volumeMode"), rule_text(spec, "volumeMode")))
		field_invalid_text(faults, &of_mode, rule_text(spec, "volumeMode"), "field is immutable");
	for (struct doc_iter it = doc_iter(old); doc_next(&it);) {
		const struct field_path source = field_name(&at, STR("persistentvolumesource"));
		const struct doc *now = NULL;
		if (!is_source(it.name) || it.value == NULL || (doc_get(spec, it.name, &now) && now != NULL && doc_equal(now, it.value)))
			continue;
		field_forbidden(faults, &source, "spec.persistentvolumesource is immutable after creation");
		break;
	}
}

// ---- daemon sets

static void check_daemon_set(struct field_faults *faults, const struct doc *body)
{
	const struct field_path at = field_name(NULL, STR("spec")), template = field_name(&at, STR("template"));
	const struct field_path of_pod = field_name(&template, STR("spec")), meta = field_name(&template, STR("metadata"));
	const struct field_path of_labels = field_name(&meta, STR("labels")), of_policy = field_name(&of_pod, STR("restartPolicy"));
	static const char *const always[] = { "Always", NULL };
	const struct doc *spec = rule_member(body, "spec"), *pod = rule_member(spec, "template"), *value;
	const struct doc *labels = rule_member(rule_member(pod, "metadata"), "labels");
	const struct doc *wanted = rule_member(rule_member(spec, "selector"), "matchLabels");
	struct str policy = rule_text(rule_member(pod, "spec"), "restartPolicy");
	bool matches = true;

	check_required(faults, &at, spec, "selector");
	for (struct doc_iter it = doc_iter(wanted); matches && doc_next(&it);)
		matches = labels != NULL && doc_get(labels, it.name, &value) && value != NULL && doc_equal(value, it.value);
	if (!matches)
		field_invalid(faults, &of_labels, labels, "`selector` does not match template `labels`");
	check_pod_spec(faults, &of_pod, rule_member(pod, "spec"));
	if (policy.n > 0 && !str_eq(policy, STR("Always")))
		field_not_supported(faults, &of_policy, policy, always);
}

// ---- the rules of each kind

enum outcome check_builtin_rules(const struct change_of_object *change, const struct doc *before, const struct doc *meta,
	const struct doc *body)
{
	const struct definition *definition = change->target->definition;
	struct field_faults faults = field_faults_new(change->call->pool);
	const struct field_path spec = field_name(NULL, STR("spec"));

	if (!definition->builtin || (before != NULL && doc_equal(before, body)))
		return OUTCOME_OK;
	if (has_identity(definition, "", "configmaps"))
		check_config_map(&faults, body);
	else if (has_identity(definition, "", "secrets"))
		check_secret(&faults, meta, body);
	else if (has_identity(definition, "", "pods"))
		check_pod_spec(&faults, &spec, rule_member(body, "spec"));
	else if (has_identity(definition, "", "services"))
		check_service(&faults, before, body);
	else if (has_identity(definition, "", "persistentvolumes"))
		check_volume(&faults, before, body);
	else if (has_identity(definition, "apps", "daemonsets"))
		check_daemon_set(&faults, body);
	return faults.n == 0 ? OUTCOME_OK : fail_invalid(change->call, definition, change->target->name, &faults);
}
