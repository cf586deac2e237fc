// SPDX-License-Identifier: Apache-2.0
// What of definitions needs no database: the forms v1beta1 and v1, columns, subresources and deprecations, ranges. JSON is
// written with ' for ".
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/type/definition_internal.h"
#include "repr/json/doc.h"
#include "tap.h"

static struct pool *pool;

static struct doc *read(const char *text)
{
	const struct doc_limits limits = { 64, 10000 };
	struct buf json = buf_new(pool, strlen(text));
	struct str error = STR_NONE;
	struct doc *doc = NULL;

	for (const char *c = text; *c != '\0'; c++)
		buf_addc(&json, *c == '\'' ? '"' : *c);
	if (!doc_parse_json(pool, buf_str(&json), limits, &doc, &error)) {
		diag("%s: %.*s", text, STR_ARG(error));
		bail_out("a document of the test itself is none");
	}
	return doc;
}

static void same(const struct doc *got, const char *want, const char *what)
{
	struct buf json = buf_new(pool, 256);

	doc_write_json(got, &json);
	if (!ok(doc_equal(got, read(want)), "%s", what))
		diag("got %.*s", STR_ARG(json));
}

// ---- v1beta1 and v1

static const struct {
	const char *what, *beta, *full;
} to_full[] = {
	{ "one version by its name alone", "{'kind':'K','spec':{'group':'g','version':'v1'}}",
		"{'kind':'K','spec':{'group':'g','preserveUnknownFields':true,'scope':'Namespaced',"
		"'versions':[{'name':'v1','served':true,'storage':true}]}}" },
	{ "all that stands at the top goes to the version",
		"{'spec':{'version':'v2','scope':'Cluster','preserveUnknownFields':false,'validation':{'openAPIV3Schema':{'type':'object'}},"
		"'subresources':{'status':{}},'additionalPrinterColumns':[{'name':'A','JSONPath':'.spec.a','type':'string'},"
		"{'name':'B','jsonPath':'.spec.b'}]}}",
		"{'spec':{'scope':'Cluster','preserveUnknownFields':false,'versions':[{'name':'v2','served':true,'storage':true,"
		"'schema':{'openAPIV3Schema':{'type':'object'}},'subresources':{'status':{}},"
		"'additionalPrinterColumns':[{'name':'A','jsonPath':'.spec.a','type':'string'},{'name':'B','jsonPath':'.spec.b'}]}]}}" },
	{ "to each that does not say it itself",
		"{'spec':{'scope':'Namespaced','version':'v1','validation':{'openAPIV3Schema':{'type':'object'}},'subresources':{'status':{}},"
		"'additionalPrinterColumns':[{'name':'T','JSONPath':'.t'}],'versions':[{'name':'v1','served':true,'storage':true},"
		"{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'string'}},'subresources':{},"
		"'additionalPrinterColumns':[{'name':'O','JSONPath':'.o'}]}]}}",
		"{'spec':{'scope':'Namespaced','preserveUnknownFields':true,'versions':[{'name':'v1','served':true,'storage':true,"
		"'schema':{'openAPIV3Schema':{'type':'object'}},'subresources':{'status':{}},'additionalPrinterColumns':[{'name':'T','jsonPath':'.t'}]},"
		"{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'string'}},'subresources':{},"
		"'additionalPrinterColumns':[{'name':'O','jsonPath':'.o'}]}]}}" },
	{ "what is no object is left for the rules to refuse",
		"{'spec':{'scope':'Cluster','preserveUnknownFields':true,'validation':7,'subresources':'x','versions':[7,{'name':'v1'}]}}",
		"{'spec':{'scope':'Cluster','preserveUnknownFields':true,'versions':[7,{'name':'v1'}]}}" },
	{ "columns that are no list, too",
	"{'spec':{'scope':'Cluster','preserveUnknownFields':true,'versions':[{'additionalPrinterColumns':'x'}]}}",
		"{'spec':{'scope':'Cluster','preserveUnknownFields':true,'versions':[{'additionalPrinterColumns':'x'}]}}" },
	{ "a version's name that is none makes no version",
	"{'spec':{'version':7,'scope':'Cluster','preserveUnknownFields':true}}",
		"{'spec':{'scope':'Cluster','preserveUnknownFields':true,'versions':[]}}" },
	{ "versions come before the version",
	"{'spec':{'version':'v9','scope':'Cluster','preserveUnknownFields':true,'versions':[{'name':'v1'}]}}",
		"{'spec':{'scope':'Cluster','preserveUnknownFields':true,'versions':[{'name':'v1'}]}}" },
	{ "without a spec", "{'kind':'K'}", "{'kind':'K'}" },
	{ "with one that is none", "{'spec':'x'}", "{'spec':'x'}" },
}, to_brief[] = {
	{ "what all versions have alike stands at the top",
		"{'kind':'K','spec':{'scope':'Cluster','version':'v1','preserveUnknownFields':false,'validation':{'openAPIV3Schema':{'type':'object'}},"
		"'subresources':{'status':{}},'additionalPrinterColumns':[{'name':'A','JSONPath':'.a'}],"
		"'versions':[{'name':'v1','served':true},{'name':'v2','served':false}]}}",
		"{'kind':'K','spec':{'scope':'Cluster','versions':[{'name':'v1','served':true,'schema':{'openAPIV3Schema':{'type':'object'}},"
		"'subresources':{'status':{}},'additionalPrinterColumns':[{'name':'A','jsonPath':'.a'}]},"
		"{'name':'v2','served':false,'schema':{'openAPIV3Schema':{'type':'object'}},'subresources':{'status':{}},"
		"'additionalPrinterColumns':[{'name':'A','jsonPath':'.a'}]}]}}" },
	{ "what they have not alike stays",
		"{'spec':{'version':'v1','preserveUnknownFields':true,'subresources':{'scale':{}},"
		"'versions':[{'name':'v1','schema':{'a':1},'additionalPrinterColumns':[{'JSONPath':'.a'}]},"
		"{'name':'v2','schema':{'a':2}},{'name':'v3','schema':{'a':1},'additionalPrinterColumns':[{'JSONPath':'.a'}]}]}}",
		"{'spec':{'preserveUnknownFields':true,'versions':[{'name':'v1','schema':{'a':1},'subresources':{'scale':{}},"
		"'additionalPrinterColumns':[{'jsonPath':'.a'}]},{'name':'v2','schema':{'a':2},'subresources':{'scale':{}}},"
		"{'name':'v3','schema':{'a':1},'subresources':{'scale':{}},'additionalPrinterColumns':[{'jsonPath':'.a'}]}]}}" },
	{ "the last alone can differ",
	"{'spec':{'version':'v1','preserveUnknownFields':false,'versions':[{'name':'v1','schema':{}},{'name':'v2'}]}}",
		"{'spec':{'versions':[{'name':'v1','schema':{}},{'name':'v2'}]}}" },
	{ "as can the first",
	"{'spec':{'version':'v1','preserveUnknownFields':false,'versions':[{'name':'v1'},{'name':'v2','schema':{}}]}}",
		"{'spec':{'versions':[{'name':'v1'},{'name':'v2','schema':{}}]}}" },
	{ "one version has all alike",
	"{'spec':{'version':'v1','preserveUnknownFields':false,'validation':{},'versions':[{'name':'v1'}]}}",
		"{'spec':{'versions':[{'name':'v1','schema':{}}]}}" },
	{ "without versions", "{'spec':{'versions':[]}}", "{'spec':{'versions':[]}}" },
	{ "with versions that are no list", "{'spec':{'versions':{'a':{}}}}", "{'spec':{'versions':{'a':{}}}}" },
	{ "with one that is no object", "{'spec':{'version':'v1','preserveUnknownFields':true,'versions':[{'name':'v1'},7]}}",
		"{'spec':{'preserveUnknownFields':true,'versions':[{'name':'v1'},7]}}" },
	{ "without a spec", "{'a':1}", "{'a':1}" },
};

static void test_forms(void)
{
	for (size_t i = 0; i < COUNT_OF(to_full); i++) {
		const struct doc *beta = read(to_full[i].beta);
		same(definition_from_v1beta1(pool, beta), to_full[i].full, to_full[i].what);
		same(beta, to_full[i].beta, "the document itself stays");
	}
	for (size_t i = 0; i < COUNT_OF(to_brief); i++) {
		const struct doc *full = read(to_brief[i].full);
		same(definition_to_v1beta1(pool, full), to_brief[i].beta, to_brief[i].what);
		same(full, to_brief[i].full, "the document itself stays");
	}
}

// ---- parts of a version

#define COLUMN(more) "{'additionalPrinterColumns':[{'name':'A','type':'string','jsonPath':'.a'" more "}]}"
#define SCALE(members) "{'subresources':{'scale':{" members "}}}"
#define GOOD_SCALE "'specReplicasPath':'.spec.r','statusReplicasPath':'.status.r'"

static const struct {
	const char *version, *fields; // of the faults, in their order
} parts[] = {
	{ "{}", "" },
	{ COLUMN(",'format':'int32','description':'d','priority':1"), "" },
	{ "{'additionalPrinterColumns':{}}", "v.additionalPrinterColumns" },
	{ "{'additionalPrinterColumns':[7]}", "v.additionalPrinterColumns[0]" },
	{ "{'additionalPrinterColumns':[{'name':'A','type':'date','jsonPath':'.a'},{}]}",
		"v.additionalPrinterColumns[1].name v.additionalPrinterColumns[1].type v.additionalPrinterColumns[1].jsonPath" },
	{ "{'additionalPrinterColumns':[{'name':'','type':'','jsonPath':''}]}",
		"v.additionalPrinterColumns[0].name v.additionalPrinterColumns[0].type v.additionalPrinterColumns[0].jsonPath" },
	{ "{'additionalPrinterColumns':[{'name':1,'type':2,'jsonPath':3}]}",
		"v.additionalPrinterColumns[0].name v.additionalPrinterColumns[0].type v.additionalPrinterColumns[0].jsonPath" },
	{ "{'additionalPrinterColumns':[{'name':'A','type':'text','jsonPath':'.a'}]}", "v.additionalPrinterColumns[0].type" },
	{ COLUMN(",'format':'int16'"), "v.additionalPrinterColumns[0].format" },
	{ COLUMN(",'format':7,'description':7"),
	"v.additionalPrinterColumns[0].description v.additionalPrinterColumns[0].format" },
	{ COLUMN(",'format':'','description':''"), "" },
	{ COLUMN(",'priority':'1'"), "v.additionalPrinterColumns[0].priority" },
	{ COLUMN(",'priority':1.5"), "v.additionalPrinterColumns[0].priority" },
	{ "{'additionalPrinterColumns':[{'name':'A','type':'number','jsonPath':'a'}]}",
	"v.additionalPrinterColumns[0].jsonPath" },
	{ "{'subresources':{}}", "" },
	{ "{'subresources':{'status':{}}}", "" },
	{ "{'subresources':7}", "v.subresources" },
	{ "{'subresources':{'status':7,'scale':8}}", "v.subresources.status v.subresources.scale" },
	{ SCALE(GOOD_SCALE), "" },
	{ SCALE(GOOD_SCALE ",'labelSelectorPath':'.status.s'"), "" },
	{ SCALE(GOOD_SCALE ",'labelSelectorPath':'.spec.s'"), "" },
	{ SCALE(GOOD_SCALE ",'labelSelectorPath':'.other.s'"), "v.subresources.scale.labelSelectorPath" },
	{ SCALE(GOOD_SCALE ",'labelSelectorPath':7"), "v.subresources.scale.labelSelectorPath" },
	{ SCALE(""), "v.subresources.scale.specReplicasPath v.subresources.scale.statusReplicasPath" },
	{ SCALE("'specReplicasPath':'.status.r','statusReplicasPath':'.spec.r'"),
		"v.subresources.scale.specReplicasPath v.subresources.scale.statusReplicasPath" },
	{ SCALE("'specReplicasPath':'.specs','statusReplicasPath':'.statuses'"),
		"v.subresources.scale.specReplicasPath v.subresources.scale.statusReplicasPath" },
	{ "{'deprecated':true}", "" },
	{ "{'deprecated':true,'deprecationWarning':'use v2'}", "" },
	{ "{'deprecated':'yes'}", "v.deprecated" },
	{ "{'deprecationWarning':'use v2'}", "v.deprecationWarning" },
	{ "{'deprecated':false,'deprecationWarning':'use v2'}", "v.deprecationWarning" },
	{ "{'deprecated':1,'deprecationWarning':'use v2'}", "v.deprecated v.deprecationWarning" },
	{ "{'deprecated':false,'deprecationWarning':''}", "" },
	{ "{'deprecated':true,'deprecationWarning':7}", "v.deprecationWarning" },
	{ "{'deprecated':true,'deprecationWarning':'a\\u001fb'}", "v.deprecationWarning" },
	{ "{'deprecated':true,'deprecationWarning':'\\u007f'}", "v.deprecationWarning" },
	{ "{'deprecated':true,'deprecationWarning':' ~\xc3\xa9'}", "" },
};

static struct str faults_of(const struct doc *version)
{
	const struct field_path at = field_name(NULL, STR("v"));
	struct field_faults faults = field_faults_new(pool);
	struct buf fields = buf_new(pool, 64);

	definition_check_parts(version, &at, &faults);
	for (size_t i = 0; i < field_faults_listed(&faults); i++) {
		buf_add(&fields, i > 0 ? STR(" ") : STR(""));
		buf_add(&fields, faults.list[i].field);
	}
	return buf_str(&fields);
}

static struct str messages_of(const struct doc *version)
{
	const struct field_path at = field_name(NULL, STR("v"));
	struct field_faults faults = field_faults_new(pool);
	struct buf text = buf_new(pool, 64);

	definition_check_parts(version, &at, &faults);
	for (size_t i = 0; i < field_faults_listed(&faults); i++) {
		buf_add(&text, faults.list[i].message);
		buf_addc(&text, '|');
	}
	return buf_str(&text);
}

static void test_parts(void)
{
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		is_str(faults_of(read(parts[i].version)), parts[i].fields, "%s", parts[i].version);
	static const char *const types[] = { "boolean", "date", "integer", "number", "string" };
	static const char *const formats[] = { "byte", "date", "date-time", "double", "float", "int32", "int64", "password" };
	for (size_t i = 0; i < COUNT_OF(types) + COUNT_OF(formats); i++) {
		const char *type = i < COUNT_OF(types) ? types[i] : "string", *format = i < COUNT_OF(types) ? "" :
			formats[i - COUNT_OF(types)];
		struct str text = str_printf(pool,
			"{'additionalPrinterColumns':[{'name':'A','type':'%s','format':'%s','jsonPath':'.a'}]}", type, format);
		is_str(faults_of(read(str_cstr(pool, text))), "", "%s %s", type, format);
	}
	is_str(faults_of(read("{'additionalPrinterColumns':[{'name':'A','type':'s','format':'d','jsonPath':'a','priority':'-0'}]}")),
		"v.additionalPrinterColumns[0].type v.additionalPrinterColumns[0].format v.additionalPrinterColumns[0].jsonPath "
		"v.additionalPrinterColumns[0].priority", "a letter of them");
	is_str(faults_of(read("{'additionalPrinterColumns':[{'name':'A','type':'string','jsonPath':'.a','priority':true}]}")),
		"v.additionalPrinterColumns[0].priority", "a priority that is none");
	is_str(faults_of(read("{'deprecated':true,'deprecationWarning':' ~'}")), "",
		"blanks and the last character that is printed");
	is_str(messages_of(read("{'additionalPrinterColumns':[{'name':'A','type':'s','format':'d','jsonPath':'a'}],'deprecationWarning':'x'}")),
		"Unsupported value: \"s\": supported values: \"boolean\", \"date\", \"integer\", \"number\", \"string\"|"
		"Unsupported value: \"d\": supported values: \"byte\", \"date\", \"date-time\", \"double\", \"float\", \"int32\", \"int64\", "
		"\"password\"|Invalid value: \"a\": must be a simple json path starting with .|"
		"Invalid value: \"x\": can only be set for deprecated versions|", "in words");
	for (size_t n = 255; n <= 257; n++) {
		struct doc *version = read("{'deprecated':true}");
		char text[300];
		memset(text, 'x', sizeof(text));
		doc_set_str(pool, version, "deprecationWarning", str_n(text, n));
		is_str(faults_of(version), n <= 256 ? "" : "v.deprecationWarning", "a warning of %zu characters", n);
	}
}

// ---- ranges and forced ones

static const struct {
	const char *range, *annotations;
	bool in;
} ranges[] = {
	{ "['tier=gold']", "{'tier':'gold'}", true },
	{ "['tier=gold']", "{'tier':'goldish'}", false },
	{ "['tier=gold']", "{'tier':'gol'}", false },
	{ "['tier=gold']", "{'tier':'Gold'}", false },
	{ "['tier=gold']", "{'tier':''}", false },
	{ "['tier=gold']", "{}", false },
	{ "['tier=gold']", "{'tier':7}", false },
	{ "['tier=gold']", "{'other':'gold'}", false },
	{ "['tier=silver','tier=gold']", "{'tier':'gold'}", true },
	{ "['tier=']", "{'tier':''}", true },
	{ "['tier=a=b']", "{'tier':'a=b'}", true },
	{ "['tier=a=b']", "{'tier':'b'}", false },
	{ "['tier']", "{'tier':'tier'}", false },
	{ "['*']", "{}", true },
	{ "[7,'*']", "{}", true },
	{ "['**']", "{'*':'*'}", false },
	{ "[]", "{'tier':'gold'}", false },
	{ "'*'", "{}", false },
	{ "{'0':'*'}", "{}", false },
};

static void test_ranges(void)
{
	for (size_t i = 0; i < COUNT_OF(ranges); i++)
		ok(definition_in_range(read(ranges[i].range), read(ranges[i].annotations)) == ranges[i].in, "%s with %s",
			ranges[i].range, ranges[i].annotations);
	ok(!definition_in_range(NULL, read("{}")), "no range");
	ok(!definition_is_forced(read("{}")) && !definition_is_forced(read("{'labels':{}}")), "no label");
	static const char *const values[] = { "Forced", "forced", "FORCED", "Force", "Forced ", "" };
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct str meta = str_printf(pool, "{\"labels\":{\"%s\":\"%s\"}}", CRD_SHARING_LABEL, values[i]);
		ok(definition_is_forced(read(meta.p)) == (i < 3), "\"%s\"", values[i]);
	}
	ok(!definition_is_forced(read("{'labels':{'" CRD_SHARING_LABEL "':true}}")), "no text");
}

int main(void)
{
	pool = pool_new();
	test_forms();
	test_parts();
	test_ranges();
	pool_free(&pool);
	return done_testing();
}
