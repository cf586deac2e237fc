// SPDX-License-Identifier: Apache-2.0
// Structural schemas: what is refused of a schema and of an object, in Kubernetes' words, pruning, defaults.
#include "base/base.h"

#include "documents.h"
#include "registry/core/failure.h"
#include "repr/schema/structural_internal.h"

static const struct structural *schema_of(struct pool *pool, const char *text)
{
	struct field_faults faults = field_faults_new(pool);
	struct field_path at = field_name(NULL, STR("schema"));
	const struct structural *schema = structural_read(pool, parsed_quoted(pool, text), &at, &faults);

	if (schema == NULL) {
		struct str why = field_faults_text(pool, &faults);
		diag("%s: %.*s", text, STR_ARG(why));
		bail_out("test schema is none");
	}
	return schema;
}

// Faults as "field (reason) message", with ' for ", a line each.
static struct str faults_text(struct pool *pool, const struct field_faults *faults)
{
	struct buf out = buf_new(pool, 256);

	for (size_t i = 0; i < field_faults_listed(faults); i++) {
		struct field_fault fault = faults->list[i];
		buf_addf(&out, "%s%.*s (%s) ", i > 0 ? "\n" : "", STR_ARG(fault.field), field_reason_name(fault.reason) +
			(fault.reason == FIELD_INTERNAL ? 0 : strlen("FieldValue")));
		buf_add(&out, replaced(pool, fault.message, '"', '\''));
	}
	return buf_str(&out);
}

// ---- schemas

#define LIST_MAP(items, keys) \
	"{'type':'object','properties':{'l':{'type':'array','items':{'type':'object'," items "}," \
	"'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':[" keys "]}}}"

static const struct {
	const char *schema, *faults;
} schemas[] = {
	{ "{'type':'object'}", "" },
	{ "{'type':'object','properties':{'spec':{'type':'object','properties':{'n':{'type':'integer'}}}}}", "" },
	{ "{'type':'object','description':'x','example':{'a':1},'externalDocs':{'url':'u'},'unknown':1,'title':null}", "" },
	// malformed
	{ "[]", "s (TypeInvalid) Invalid value: []: must be an object" },
	{ "{'type':'int'}", "s.type (NotSupported) Unsupported value: 'int': supported values: 'array', 'boolean', 'integer', "
		"'number', 'object', 'string'" },
	{ "{'type':'null'}", "s.type (Forbidden) Forbidden: type cannot be set to null, use nullable as an alternative" },
	{ "{'type':7}", "s.type (TypeInvalid) Invalid value: 7: must be a string" },
	{ "{'$ref':'#/x'}", "s.$ref (Forbidden) Forbidden: $ref is not supported" },
	{ "{'definitions':{},'dependencies':{},'patternProperties':{},'additionalItems':true,'id':'x'}",
		"s.definitions (Forbidden) Forbidden: definitions is not supported\n"
		"s.dependencies (Forbidden) Forbidden: dependencies is not supported\n"
		"s.patternProperties (Forbidden) Forbidden: patternProperties is not supported\n"
		"s.additionalItems (Forbidden) Forbidden: additionalItems is not supported\n"
		"s.id (Forbidden) Forbidden: id is not supported" },
	{ "{'items':[{'type':'string'}]}", "s.items (Forbidden) Forbidden: items must be a schema object and not an array" },
	{ "{'properties':{'a':{'pattern':'(b'}}}", "s.properties[a].pattern (Invalid) Invalid value: '(b': must be a valid "
		"regular expression, but isn't: at byte 3: the ')' that ends a group is missing" },
	{ "{'maxLength':-1}", "s.maxLength (Invalid) Invalid value: -1: must be an integer that is not negative" },
	{ "{'multipleOf':0}", "s.multipleOf (Invalid) Invalid value: 0: must be greater than 0" },
	{ "{'minimum':'1'}", "s.minimum (TypeInvalid) Invalid value: '1': must be a number" },
	{ "{'required':['a',1]}", "s.required[1] (TypeInvalid) Invalid value: 1: must be a string" },
	{ "{'allOf':[{},{'type':'x'}]}", "s.allOf[1].type (NotSupported) Unsupported value: 'x': supported values: 'array', "
		"'boolean', 'integer', 'number', 'object', 'string'" },
	{ "{'x-kubernetes-preserve-unknown-fields':false}", "s.x-kubernetes-preserve-unknown-fields (Invalid) Invalid value: "
		"false: must be true or undefined" },
	{ "{'x-kubernetes-list-type':'bag'}", "s.x-kubernetes-list-type (NotSupported) Unsupported value: 'bag': supported "
		"values: 'atomic', 'set', 'map'" },
	// not structural
	{ "{}", "s.type (Required) Required value: must not be empty at the root" },
	{ "{'x-kubernetes-preserve-unknown-fields':true}", "" },
	{ "{'type':'string'}", "s.type (Invalid) Invalid value: 'string': must be object at the root" },
	{ "{'type':'object','additionalProperties':{'type':'string'}}",
		"s.additionalProperties (Forbidden) Forbidden: must not be used at the root" },
	{ "{'type':'object','properties':{'a':{}}}", "s.properties[a].type (Required) Required value: must not be empty for "
		"specified object fields" },
	{ "{'type':'object','properties':{'a':{'type':'array','items':{}}}}", "s.properties[a].items.type (Required) Required "
		"value: must not be empty for specified array items" },
	{ "{'type':'object','properties':{'a':{'type':'object','properties':{'b':{'type':'string'}},'additionalProperties':"
		"{'type':'string'}}}}", "s.properties[a].additionalProperties (Forbidden) Forbidden: additionalProperties and "
		"properties are mutual exclusive" },
	{ "{'type':'object','properties':{'a':{'type':'object','additionalProperties':{}}}}",
		"s.properties[a].additionalProperties.type (Required) Required value: must not be empty for specified object fields" },
	{ "{'type':'object','properties':{'a':{'type':'string','anyOf':[{'type':'string'},{'minLength':1}]}}}",
		"s.properties[a].anyOf[0].type (Forbidden) Forbidden: must be empty to be structural" },
	{ "{'type':'object','properties':{'a':{'type':'string','not':{'description':'d','nullable':true,'default':'x'}}}}",
		"s.properties[a].not.description (Forbidden) Forbidden: must be empty to be structural\n"
		"s.properties[a].not.nullable (Forbidden) Forbidden: must be false to be structural\n"
		"s.properties[a].not.default (Forbidden) Forbidden: must be undefined to be structural" },
	{ "{'type':'object','allOf':[{'properties':{'a':{'minLength':1}}}]}",
		"s.properties[a] (Required) Required value: because it is defined in s.allOf[0].properties[a]" },
	{ "{'type':'object','properties':{'a':{'type':'array','items':{'type':'object'}}},"
		"'oneOf':[{'properties':{'a':{'items':{'properties':{'b':{}}}}}}]}",
		"s.properties[a].items.properties[b] (Required) Required value: because it is defined in "
		"s.oneOf[0].properties[a].items.properties[b]" },
	{ "{'type':'object','properties':{'a':{'type':'string'}},'allOf':[{'required':['a'],'properties':{'a':{'minLength':1}}}]}",
		"" },
	{ "{'type':'object','allOf':[{'properties':{'metadata':{}}}],'properties':{'metadata':{'type':'object'}}}",
		"s.allOf[0].properties[metadata] (Forbidden) Forbidden: must not be specified in a nested context" },
	{ "{'type':'object','properties':{'metadata':{'type':'object','properties':{'name':{'type':'string','maxLength':5},"
		"'generateName':{'type':'string'}}},'kind':{'type':'string'},'apiVersion':{'type':'string'}}}", "" },
	{ "{'type':'object','properties':{'metadata':{'type':'object','properties':{'labels':{'type':'object'}}}}}",
		"s.properties[metadata] (Forbidden) Forbidden: must not specify anything other than name and generateName, but "
		"metadata is implicitly specified" },
	{ "{'type':'object','properties':{'metadata':{'type':'object','required':['labels']}}}",
		"s.properties[metadata] (Forbidden) Forbidden: must not specify anything other than name and generateName, but "
		"metadata is implicitly specified" },
	{ "{'type':'object','properties':{'metadata':{'type':'object','uniqueItems':true}}}",
		"s.properties[metadata].uniqueItems (Forbidden) Forbidden: uniqueItems cannot be set to true since the runtime "
		"complexity becomes quadratic\n"
		"s.properties[metadata] (Forbidden) Forbidden: must not specify anything other than name and generateName, but "
		"metadata is implicitly specified" },
	{ "{'type':'object','properties':{'kind':{'type':'integer'}}}",
		"s.properties[kind].type (Invalid) Invalid value: 'integer': must be string" },
	// extensions
	{ "{'type':'object','properties':{'p':{'x-kubernetes-int-or-string':true}}}", "" },
	{ "{'type':'object','properties':{'p':{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':'string'}]}}}",
		"" },
	{ "{'type':'object','properties':{'p':{'x-kubernetes-int-or-string':true,'allOf':[{'anyOf':[{'type':'integer'},"
		"{'type':'string'}]},{'minimum':1}]}}}", "" },
	{ "{'type':'object','properties':{'p':{'anyOf':[{'type':'integer'},{'type':'string'}]}}}",
		"s.properties[p].type (Required) Required value: must not be empty for specified object fields\n"
		"s.properties[p].anyOf[0].type (Forbidden) Forbidden: must be empty to be structural\n"
		"s.properties[p].anyOf[1].type (Forbidden) Forbidden: must be empty to be structural" },
	{ "{'type':'object','properties':{'p':{'x-kubernetes-int-or-string':true,'x-kubernetes-preserve-unknown-fields':true}}}",
		"s.properties[p].x-kubernetes-preserve-unknown-fields (Invalid) Invalid value: true: must be false if "
		"x-kubernetes-int-or-string is true" },
	{ "{'type':'object','properties':{'e':{'type':'object','x-kubernetes-embedded-resource':true,"
		"'x-kubernetes-preserve-unknown-fields':true}}}", "" },
	{ "{'type':'object','properties':{'e':{'x-kubernetes-embedded-resource':true}}}",
		"s.properties[e].type (Required) Required value: must be object if x-kubernetes-embedded-resource is true\n"
		"s.properties[e].properties (Required) Required value: must not be empty if x-kubernetes-embedded-resource is true "
		"without x-kubernetes-preserve-unknown-fields" },
	{ "{'type':'object','properties':{'l':{'type':'array','items':{'type':'string'},'uniqueItems':true}}}",
		"s.properties[l].uniqueItems (Forbidden) Forbidden: uniqueItems cannot be set to true since the runtime complexity "
		"becomes quadratic" },
	{ LIST_MAP("'required':['k'],'properties':{'k':{'type':'string'}}", "'k'"), "" },
	{ LIST_MAP("'required':['b'],'properties':{'a':{'type':'string','default':'x'},'b':{'type':'integer'}}", "'b','a'"), "" },
	{ LIST_MAP("'required':['a'],'properties':{'a':{'type':'string'},'b':{'type':'string'}}", "'a','b'"),
		"s.properties[l].items.properties[b].default (Required) Required value: this property is in "
		"x-kubernetes-list-map-keys, so it must have a default or be a required property" },
	{ LIST_MAP("'required':['a'],'properties':{'a':{'type':'string','nullable':true}}", "'a'"),
		"s.properties[l].items.properties[a].nullable (Forbidden) Forbidden: this property is in x-kubernetes-list-map-keys, so "
		"it cannot be nullable" },
	{ LIST_MAP("'required':['a','b'],'properties':{'a':{'type':'string'},'b':{'type':'string'}}", "'b','a','b'"),
		"s.properties[l].x-kubernetes-list-map-keys[2] (Invalid) Invalid value: 'b': must not contain duplicate entries" },
	{ LIST_MAP("'nullable':true,'required':['a'],'properties':{'a':{'type':'string'}}", "'a'"),
		"s.properties[l].items.nullable (Forbidden) Forbidden: cannot be nullable when x-kubernetes-list-type is map" },
	{ "{'type':'object','properties':{'l':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string','nullable':true}}}}",
		"s.properties[l].items.nullable (Forbidden) Forbidden: cannot be nullable when x-kubernetes-list-type is set" },
	{ "{'type':'object','properties':{'l':{'type':'array','items':{'type':'object','properties':{'k':{'type':'object'}}},"
		"'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k','m']}}}",
		"s.properties[l].x-kubernetes-list-map-keys[0] (Invalid) Invalid value: 'k': must be a scalar type if parent array's "
		"x-kubernetes-list-type is map\n"
		"s.properties[l].x-kubernetes-list-map-keys[1] (Invalid) Invalid value: 'm': entries must all be names of item "
		"properties\n"
		"s.properties[l].items.properties[k].default (Required) Required value: this property is in x-kubernetes-list-map-keys, "
		"so it must have a default or be a required property" },
	{ "{'type':'object','x-kubernetes-list-type':'set'}",
		"s.type (Invalid) Invalid value: 'object': must be array if x-kubernetes-list-type is specified" },
	{ "{'type':'object','properties':{'l':{'type':'array'}}}", "s.properties[l].items (Required) Required value: must be specified" },
	{ "{'type':'object','properties':{'l':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'object'}}}}",
		"s.properties[l].items.x-kubernetes-map-type (Invalid) Invalid value: null: must be atomic as item of a list with "
		"x-kubernetes-list-type=set" },
	{ "{'type':'object','properties':{'l':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'object',"
		"'x-kubernetes-map-type':'atomic'}}}}", "" },
	{ "{'type':'object','properties':{'l':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'array',"
		"'x-kubernetes-list-type':'set','items':{'type':'string'}}}}}",
		"s.properties[l].items.x-kubernetes-list-type (Invalid) Invalid value: 'set': must be atomic as item of a list with "
		"x-kubernetes-list-type=set" },
	// defaults
	{ "{'type':'object','properties':{'a':{'type':'integer','default':5},'b':{'type':'object','default':{}}}}", "" },
	{ "{'type':'object','properties':{'a':{'type':'integer','default':'5'}}}", "s.properties[a].default (TypeInvalid) Invalid "
		"value: 'string': s.properties[a].default in body must be of type integer: 'string'" },
	{ "{'type':'object','properties':{'a':{'type':'object','default':{'b':1}}}}",
		"s.properties[a].default (Invalid) Invalid value: {'b':1}: must not have unknown fields" },
	{ "{'type':'object','properties':{'a':{'type':'object','properties':{'b':{'type':'integer'}},'default':{'kind':'K','b':1}}}}",
		"s.properties[a].default (Invalid) Invalid value: {'kind':'K','b':1}: must not have unknown fields" },
	{ "{'type':'object','properties':{'a':{'type':'object','x-kubernetes-embedded-resource':true,'properties':{'b':{'type':'integer'}},"
		"'default':{'apiVersion':'v1','kind':'K','metadata':{'name':'n'},'b':1}}}}", "" },
	{ "{'type':'object','properties':{'b':{'type':'integer'}},'default':{'kind':'K','b':1}}", "" },
};

static void test_schemas(struct pool *pool)
{
	for (size_t i = 0; i < COUNT_OF(schemas); i++) {
		struct field_faults faults = field_faults_new(pool);
		struct field_path at = field_name(NULL, STR("s"));
		struct doc *doc = parsed_quoted(pool, schemas[i].schema);
		const struct structural *schema = structural_read(pool, doc, &at, &faults);
		ok((schema == NULL) == (faults.n > 0), "a schema or faults");
		if (schema != NULL)
			structural_check(schema, &at, STRUCTURAL_ALL_RULES, &faults);
		is_str(faults_text(pool, &faults), schemas[i].faults, "%s", schemas[i].schema);
	}
	ok(structural_has_defaults(schema_of(pool, "{'properties':{'a':{'items':{'default':1}}}}")), "a default deep inside");
	ok(!structural_has_defaults(schema_of(pool, "{'properties':{'default':{'type':'string'}}}")), "none");
	ok(structural_has_extensions(schema_of(pool, "{'allOf':[{'items':{'x-kubernetes-list-type':'set'}}]}")), "an extension deep inside");
	ok(!structural_has_extensions(schema_of(pool, "{'properties':{'x-kubernetes-list-type':{'type':'string'}},'x-kubernetes-map-type':null}")),
		"none");
}

// What schemas from before the newest rules may have.
static void test_old_rules(struct pool *pool)
{
	static const char *const taken[] = {
		LIST_MAP("'properties':{'a':{'type':'string'}}", "'a'"),
		LIST_MAP("'nullable':true,'required':['a'],'properties':{'a':{'type':'string','nullable':true}}", "'a','a'"),
		"{'type':'object','properties':{'l':{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string','nullable':true}}}}",
		"{'type':'object','properties':{'a':{'type':'object','default':{'kind':'K'}}}}",
	};
	struct field_path at = field_name(NULL, STR("s"));

	for (size_t i = 0; i < COUNT_OF(taken); i++) {
		struct field_faults old = field_faults_new(pool), all = field_faults_new(pool);
		const struct structural *schema = schema_of(pool, taken[i]);
		structural_check(schema, &at, STRUCTURAL_OLD_RULES, &old);
		structural_check(schema, &at, STRUCTURAL_ALL_RULES, &all);
		ok(old.n == 0 && all.n > 0, "taken by the old rules alone: %s", taken[i]);
	}
	struct field_faults faults = field_faults_new(pool);
	structural_check(schema_of(pool, LIST_MAP("'properties':{}", "'a'")), &at, STRUCTURAL_OLD_RULES, &faults);
	ok(faults.n > 0, "a key that no property is was never taken");
}

// ---- objects

#define SPEC(members) "{'type':'object','properties':{'spec':{'type':'object','properties':{" members "}}}}"
#define GIVEN(members) "{'apiVersion':'v1','kind':'K','metadata':{'name':'n'},'spec':{" members "}}"

static const struct {
	const char *schema, *object, *faults;
} objects[] = {
	// types
	{ SPEC("'size':{'type':'integer'}"), GIVEN("'size':1,'other':[]"), "" },
	{ SPEC("'size':{'type':'integer'}"), GIVEN("'size':'x'"),
		"spec.size (TypeInvalid) Invalid value: 'string': spec.size in body must be of type integer: 'string'" },
	{ SPEC("'size':{'type':'integer'}"), GIVEN("'size':1.5"),
		"spec.size (TypeInvalid) Invalid value: 'number': spec.size in body must be of type integer: 'number'" },
	{ SPEC("'size':{'type':'integer'}"), GIVEN("'size':1.0"), "" },
	{ SPEC("'size':{'type':'integer'}"), GIVEN("'size':null"),
		"spec.size (TypeInvalid) Invalid value: 'null': spec.size in body must be of type integer: 'null'" },
	{ SPEC("'size':{'type':'integer','nullable':true}"), GIVEN("'size':null"), "" },
	{ SPEC("'a':{'type':'number'},'b':{'type':'boolean'},'c':{'type':'string'},'d':{'type':'array'},'e':{'type':'object'}"),
		GIVEN("'a':1e3,'b':true,'c':'','d':[],'e':{}"), "" },
	{ SPEC("'a':{'type':'number'},'b':{'type':'boolean'},'c':{'type':'string'},'d':{'type':'array'},'e':{'type':'object'}"),
		GIVEN("'a':'1','b':0,'c':true,'d':{},'e':[]"),
		"spec.a (TypeInvalid) Invalid value: 'string': spec.a in body must be of type number: 'string'\n"
		"spec.b (TypeInvalid) Invalid value: 'integer': spec.b in body must be of type boolean: 'integer'\n"
		"spec.c (TypeInvalid) Invalid value: 'boolean': spec.c in body must be of type string: 'boolean'\n"
		"spec.d (TypeInvalid) Invalid value: 'object': spec.d in body must be of type array: 'object'\n"
		"spec.e (TypeInvalid) Invalid value: 'array': spec.e in body must be of type object: 'array'" },
	{ SPEC("'p':{'x-kubernetes-int-or-string':true}"), GIVEN("'p':80"), "" },
	{ SPEC("'p':{'x-kubernetes-int-or-string':true}"), GIVEN("'p':'80%'"), "" },
	{ SPEC("'p':{'x-kubernetes-int-or-string':true}"), GIVEN("'p':true"),
		"spec.p (TypeInvalid) Invalid value: 'boolean': spec.p in body must be of type integer,string: 'boolean'" },
	{ SPEC("'p':{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':'string'}]}"), GIVEN("'p':80"), "" },
	// values
	{ SPEC("'c':{'type':'string','enum':['red','green']}"), GIVEN("'c':'green'"), "" },
	{ SPEC("'c':{'type':'string','enum':['red','green']}"), GIVEN("'c':'blue'"),
		"spec.c (NotSupported) Unsupported value: 'blue': supported values: 'red', 'green'" },
	{ SPEC("'c':{'type':'integer','enum':[1,2]}"), GIVEN("'c':3"),
		"spec.c (NotSupported) Unsupported value: 3: supported values: '1', '2'" },
	{ SPEC("'c':{'type':'number','enum':[1]}"), GIVEN("'c':1.0"), "" },
	{ SPEC("'n':{'type':'integer','minimum':1,'maximum':5}"), GIVEN("'n':1"), "" },
	{ SPEC("'n':{'type':'integer','minimum':1,'maximum':5}"), GIVEN("'n':0"),
		"spec.n (Invalid) Invalid value: 0: spec.n in body should be greater than or equal to 1" },
	{ SPEC("'n':{'type':'integer','minimum':1,'maximum':5}"), GIVEN("'n':6"),
		"spec.n (Invalid) Invalid value: 6: spec.n in body should be less than or equal to 5" },
	{ SPEC("'n':{'type':'number','minimum':1,'exclusiveMinimum':true}"), GIVEN("'n':1.0"),
		"spec.n (Invalid) Invalid value: 1.0: spec.n in body should be greater than 1" },
	{ SPEC("'n':{'type':'number','maximum':1,'exclusiveMaximum':true}"), GIVEN("'n':0.999"), "" },
	{ SPEC("'n':{'type':'number','maximum':1,'exclusiveMaximum':true}"), GIVEN("'n':1"),
		"spec.n (Invalid) Invalid value: 1: spec.n in body should be less than 1" },
	{ SPEC("'n':{'type':'integer','maximum':9007199254740992}"), GIVEN("'n':9007199254740993"),
		"spec.n (Invalid) Invalid value: 9007199254740993: spec.n in body should be less than or equal to 9007199254740992" },
	{ SPEC("'n':{'type':'number','minimum':-1.5}"), GIVEN("'n':-1.4e0"), "" },
	{ SPEC("'n':{'type':'number','minimum':-1.5}"), GIVEN("'n':-16e-1"),
		"spec.n (Invalid) Invalid value: -16e-1: spec.n in body should be greater than or equal to -1.5" },
	{ SPEC("'n':{'type':'integer','multipleOf':5}"), GIVEN("'n':15"), "" },
	{ SPEC("'n':{'type':'integer','multipleOf':5}"), GIVEN("'n':16"),
		"spec.n (Invalid) Invalid value: 16: spec.n in body should be a multiple of 5" },
	{ SPEC("'n':{'type':'integer','multipleOf':1e3}"), GIVEN("'n':2000000000"), "" },
	{ SPEC("'n':{'type':'integer','multipleOf':1e3}"), GIVEN("'n':2000000001"),
		"spec.n (Invalid) Invalid value: 2000000001: spec.n in body should be a multiple of 1e3" },
	{ SPEC("'n':{'type':'integer','multipleOf':1000}"), GIVEN("'n':2000000001.0"),
		"spec.n (Invalid) Invalid value: 2000000001.0: spec.n in body should be a multiple of 1000" },
	{ SPEC("'n':{'type':'number','multipleOf':0.1}"), GIVEN("'n':0.3"), "" },
	{ SPEC("'n':{'type':'number','multipleOf':0.1}"), GIVEN("'n':0.35"),
		"spec.n (Invalid) Invalid value: 0.35: spec.n in body should be a multiple of 0.1" },
	{ SPEC("'s':{'type':'string','minLength':2,'maxLength':3}"), GIVEN("'s':'\xC3\xA4\xC3\xA4\xC3\xA4'"), "" },
	{ SPEC("'s':{'type':'string','minLength':2,'maxLength':3}"), GIVEN("'s':'\xC3\xA4'"),
		"spec.s (Invalid) Invalid value: '\xC3\xA4': spec.s in body should be at least 2 chars long" },
	{ SPEC("'s':{'type':'string','minLength':2,'maxLength':3}"), GIVEN("'s':'abcd'"),
		"spec.s (TooLong) Too long: may not be longer than 3" },
	{ SPEC("'s':{'type':'string','pattern':'^[a-z]+$'}"), GIVEN("'s':'abc'"), "" },
	{ SPEC("'s':{'type':'string','pattern':'^[a-z]+$'}"), GIVEN("'s':'Abc'"),
		"spec.s (Invalid) Invalid value: 'Abc': spec.s in body should match '^[a-z]+$'" },
	// formats
	{ SPEC("'t':{'type':'string','format':'date-time'}"), GIVEN("'t':'2026-02-28T23:59:60.5+01:00'"), "" },
	{ SPEC("'t':{'type':'string','format':'date-time'}"), GIVEN("'t':'2026-02-29T00:00:00Z'"),
		"spec.t (Invalid) Invalid value: '2026-02-29T00:00:00Z': spec.t in body must be of type date-time: "
		"'2026-02-29T00:00:00Z'" },
	{ SPEC("'n':{'type':'integer','format':'int32'}"), GIVEN("'n':2147483647"), "" },
	{ SPEC("'n':{'type':'integer','format':'int32'}"), GIVEN("'n':2147483648"),
		"spec.n (Invalid) Invalid value: 2147483648: spec.n in body must be of type int32: 2147483648" },
	{ SPEC("'n':{'type':'integer','format':'int64'}"), GIVEN("'n':9223372036854775808"), "spec.n (Invalid) Invalid value: "
		"9223372036854775808: spec.n in body must be of type int64: 9223372036854775808" },
	{ SPEC("'n':{'type':'integer','format':'whatever'}"), GIVEN("'n':2147483648"), "" },
	{ SPEC("'p':{'x-kubernetes-int-or-string':true,'format':'int32'}"), GIVEN("'p':'x'"), "" },
	// lists
	{ SPEC("'l':{'type':'array','items':{'type':'integer'}}"), GIVEN("'l':[1,'a',null]"),
		"spec.l[1] (TypeInvalid) Invalid value: 'string': spec.l[1] in body must be of type integer: 'string'\n"
		"spec.l[2] (TypeInvalid) Invalid value: 'null': spec.l[2] in body must be of type integer: 'null'" },
	{ SPEC("'l':{'type':'array','minItems':1,'maxItems':2}"), GIVEN("'l':[]"),
		"spec.l (Invalid) Invalid value: []: spec.l in body should have at least 1 items" },
	{ SPEC("'l':{'type':'array','minItems':1,'maxItems':2}"), GIVEN("'l':[1,2,3]"),
		"spec.l (TooMany) Too many: 3: must have at most 2 items" },
	{ SPEC("'l':{'type':'array','uniqueItems':true}"), GIVEN("'l':[1,{'a':1,'b':2},{'b':2,'a':1.0}]"),
		"spec.l (Invalid) Invalid value: [1,{'a':1,'b':2},{'b':2,'a':1.0}]: spec.l in body shouldn't contain duplicates" },
	{ SPEC("'l':{'type':'array','uniqueItems':true}"), GIVEN("'l':[1,'1',true,'true',[1],{'a':1},{'a':2}]"), "" },
	{ SPEC("'l':{'type':'array','x-kubernetes-list-type':'set'}"), GIVEN("'l':['a','b','a']"),
		"spec.l[2] (Duplicate) Duplicate value: 'a'" },
	{ SPEC("'l':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k','m']}"),
		GIVEN("'l':[{'k':'a','m':1,'x':1},{'k':'a','m':2},{'k':'a','m':1}]"),
		"spec.l[2] (Duplicate) Duplicate value: {'k':'a','m':1}" },
	// objects
	{ "{'type':'object','required':['spec']}", "{'kind':'K'}", "spec (Required) Required value" },
	{ "{'properties':{'spec':{'type':'object','required':['a','b']}}}", GIVEN("'b':null"), "spec.a (Required) Required value" },
	{ SPEC("'m':{'type':'object','additionalProperties':{'type':'string'}}"), GIVEN("'m':{'a':'x','b':1}"),
		"spec.m.b (TypeInvalid) Invalid value: 'integer': spec.m.b in body must be of type string: 'integer'" },
	{ SPEC("'m':{'type':'object','additionalProperties':false}"), GIVEN("'m':{'a':'x'}"),
		"spec.m.a (Invalid) Invalid value: '': spec.m.a in body is a forbidden property" },
	{ SPEC("'m':{'type':'object','minProperties':1,'maxProperties':1}"), GIVEN("'m':{}"),
		"spec.m (Invalid) Invalid value: {}: spec.m in body should have at least 1 properties" },
	{ SPEC("'m':{'type':'object','minProperties':1,'maxProperties':1}"), GIVEN("'m':{'a':1,'b':2}"),
		"spec.m (Invalid) Invalid value: {'a':1,'b':2}: spec.m in body should have at most 1 properties" },
	{ SPEC("'e':{'type':'object','x-kubernetes-embedded-resource':true}"), GIVEN("'e':{'kind':'','metadata':[]}"),
		"spec.e.apiVersion (Required) Required value: must not be empty\n"
		"spec.e.kind (Required) Required value: must not be empty\n"
		"spec.e.metadata (Invalid) Invalid value: []: must be an object" },
	// several schemas
	{ SPEC("'n':{'type':'integer','allOf':[{'minimum':1},{'maximum':5}]}"), GIVEN("'n':9"),
		"spec.n (Invalid) Invalid value: 9: spec.n in body should be less than or equal to 5" },
	{ SPEC("'n':{'type':'integer','anyOf':[{'maximum':1},{'minimum':5}]}"), GIVEN("'n':9"), "" },
	{ SPEC("'n':{'type':'integer','anyOf':[{'maximum':1},{'minimum':5}]}"), GIVEN("'n':3"),
		"spec.n (Invalid) Invalid value: '': 'spec.n' must validate at least one schema (anyOf)\n"
		"spec.n (Invalid) Invalid value: 3: spec.n in body should be less than or equal to 1" },
	{ SPEC("'n':{'type':'integer','oneOf':[{'maximum':5},{'minimum':3}]}"), GIVEN("'n':6"), "" },
	{ SPEC("'n':{'type':'integer','oneOf':[{'maximum':5},{'minimum':3}]}"), GIVEN("'n':4"),
		"spec.n (Invalid) Invalid value: '': 'spec.n' must validate one and only one schema (oneOf). Found 2 valid "
		"alternatives" },
	{ "{'type':'object','oneOf':[{'required':['a']},{'required':['b']}]}", "{}",
		" (Invalid) Invalid value: '': '' must validate one and only one schema (oneOf). Found none valid\n"
		"a (Required) Required value" },
	{ SPEC("'n':{'type':'integer','not':{'minimum':5}}"), GIVEN("'n':4"), "" },
	{ SPEC("'n':{'type':'integer','not':{'minimum':5}}"), GIVEN("'n':5"),
		"spec.n (Invalid) Invalid value: '': 'spec.n' must not validate the schema (not)" },
	// nulls
	{ SPEC("'n':{'type':'string','nullable':true,'enum':['a'],'minLength':1}"), GIVEN("'n':null"),
		"spec.n (NotSupported) Unsupported value: null: supported values: 'a'" },
	{ SPEC("'n':{'x-kubernetes-preserve-unknown-fields':true}"), GIVEN("'n':null"), "" },
};

static void test_objects(struct pool *pool)
{
	for (size_t i = 0; i < COUNT_OF(objects); i++) {
		struct field_faults faults = field_faults_new(pool);
		structural_validate(schema_of(pool, objects[i].schema), parsed_quoted(pool, objects[i].object), &faults);
		is_str(faults_text(pool, &faults), objects[i].faults, "%s by %s", objects[i].object, objects[i].schema);
	}
}

static void test_formats(struct pool *pool)
{
	// Texts that are of the format, then those that are not, with spaces between them.
	static const struct { const char *format, *yes, *no; } formats[] = {
		{ "date-time", "2026-11-21T05:24:00Z 2024-02-29t05:24:00.123-05:30", "2026-11-21 2026-13-01T00:00:00Z "
			"2026-01-01T24:00:00Z 2026-01-01T00:00:00 2026-01-01T00:00:00.Z 2026-01-01T00:00:00Zx" },
		{ "date", "2026-11-21 2024-02-29", "2026-2-1 2023-02-29 2026-11-31 2026-11-21Z" },
		{ "duration", "1h30m 5s 2days 1.5h -3m 0 10us", "5 h 1x 1h30 . 1..s" },
		{ "byte", "YQ== YWI= YWJj \x20", "YQ= YQ=== Y!== Y=Q=" },
		{ "uuid", "de305d54-75b4-431b-adb2-eb6b9e546014 DE305D5475B4431BADB2EB6B9E546014", "de305d54 "
			"de305d54-75b4-431b-adb2-eb6b9e54601 de305d5-475b4-431b-adb2-eb6b9e546014" },
		{ "uuid4", "de305d54-75b4-431b-adb2-eb6b9e546014", "de305d54-75b4-331b-adb2-eb6b9e546014 "
			"de305d54-75b4-431b-1db2-eb6b9e546014" },
		{ "ipv4", "10.0.0.1", "10.0.0 10.0.0.256 ::1" }, { "ipv6", "::1 fe80::1", "10.0.0.1 1 :::" },
		{ "cidr", "10.0.0.0/8 ::/0", "10.0.0.0 10.0.0.0/33 10.0.0.0/ ::/129" },
		{ "mac", "00:11:22:aa:bb:CC 00-11-22-33-44-55 0011.2233.4455", "00:11:22:33:44 001122334455 00:11:22:33:44:5g" },
		{ "hostname", "a.example.com a-b localhost", "-a a- a..b a_b" },
		{ "email", "a@b.c", "a @b a@ a@b@c" }, { "uri", "http://a/b /path urn:x", "a 1:x a/b" },
		{ "hexcolor", "#fff aabbcc", "#ffff #ggg" }, { "bsonobjectid", "507f1f77bcf86cd799439011", "507f1f77" },
	};

	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		const struct structural *schema = schema_of(pool, str_cstr(pool,
			str_printf(pool, "{'properties':{'x':{'type':'string','format':'%s'}}}", formats[i].format)));
		for (int good = 1; good >= 0; good--) {
			struct str rest = str_c(good ? formats[i].yes : formats[i].no), text;
			while (str_split(&rest, ' ', &text)) {
				struct field_faults faults = field_faults_new(pool);
				struct doc *object = doc_new_object(pool);
				doc_set_str(pool, object, "x", text);
				structural_validate(schema, object, &faults);
				ok((faults.n == 0) == good, "\"%.*s\" is %s %s", STR_ARG(text), good ? "a" : "no", formats[i].format);
			}
		}
	}
}

// ---- pruning and defaults

static void test_pruning(struct pool *pool)
{
	static const struct { const char *schema, *object, *want; int pruned; } cases[] = {
		{ "{'type':'object'}", "{'apiVersion':'v1','kind':'K','metadata':{'x':1},'spec':{'a':1}}",
			"{'apiVersion':'v1','kind':'K','metadata':{'x':1}}", 1 },
		{ SPEC("'a':{'type':'object'}"), GIVEN("'a':{'b':1},'c':1,'d':2"), GIVEN("'a':{}"), 3 },
		{ SPEC("'a':{'type':'array','items':{'type':'object','properties':{'b':{'type':'string'}}}}"),
			GIVEN("'a':[{'b':1,'c':2},{'c':3},4]"), GIVEN("'a':[{'b':1},{},4]"), 2 },
		{ SPEC("'a':{'type':'object','additionalProperties':{'type':'object','properties':{'b':{'type':'string'}}}}"),
			GIVEN("'a':{'x':{'b':1,'c':2}}"), GIVEN("'a':{'x':{'b':1}}"), 1 },
		{ SPEC("'a':{'type':'object','additionalProperties':true}"), GIVEN("'a':{'x':{'b':1}}"), GIVEN("'a':{'x':{'b':1}}"), 0 },
		{ SPEC("'a':{'type':'object','x-kubernetes-preserve-unknown-fields':true,'properties':{'k':{'type':'object'}}}"),
			GIVEN("'a':{'x':{'b':1},'k':{'b':1}}"), GIVEN("'a':{'x':{'b':1},'k':{}}"), 1 },
		{ SPEC("'e':{'type':'object','x-kubernetes-embedded-resource':true,'properties':{'spec':{'type':'object'}}}"),
			GIVEN("'e':{'kind':'P','metadata':{'l':1},'spec':{'x':1},'x':1}"),
			GIVEN("'e':{'kind':'P','metadata':{'l':1},'spec':{}}"), 2 },
		{ SPEC("'a':{'type':'object'}"), "{'spec':[{'a':1}]}", "{'spec':[{'a':1}]}", 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct doc *object = parsed_quoted(pool, cases[i].object);
		struct field_faults unknown = field_faults_new(pool);
		structural_unknown(schema_of(pool, cases[i].schema), object, &unknown);
		is_int((long long)unknown.n, cases[i].pruned, "members not known");
		is_int((long long)structural_prune(schema_of(pool, cases[i].schema), object), cases[i].pruned, "members pruned");
		is_strs(written(pool, object), written(pool, parsed_quoted(pool, cases[i].want)), "%s by %s", cases[i].object,
			cases[i].schema);
	}
}

static void test_defaults(struct pool *pool)
{
	static const struct { const char *schema, *object, *want; } cases[] = {
		{ SPEC("'a':{'type':'integer','default':5},'b':{'type':'string','default':'x'}"), GIVEN("'b':'y'"),
			GIVEN("'b':'y','a':5") },
		{ "{'type':'object','properties':{'spec':{'type':'object','default':{},'properties':{'a':{'type':'integer',"
			"'default':1}}}}}", "{'kind':'K'}", "{'kind':'K','spec':{'a':1}}" },
		{ SPEC("'a':{'type':'integer','default':5}"), "{}", "{}" },
		{ SPEC("'a':{'type':'integer','default':5},'b':{'type':'integer','nullable':true,'default':6},'c':{'type':'string'}"),
			GIVEN("'a':null,'b':null,'c':null"), GIVEN("'a':5,'b':null") },
		{ SPEC("'l':{'type':'array','items':{'type':'object','properties':{'p':{'type':'string','default':'TCP'}}}}"),
			GIVEN("'l':[{},{'p':'UDP'},3]"), GIVEN("'l':[{'p':'TCP'},{'p':'UDP'},3]") },
		{ SPEC("'m':{'type':'object','additionalProperties':{'type':'object','properties':{'p':{'type':'integer','default':1}}}}"),
			GIVEN("'m':{'a':{},'b':{'p':2}}"), GIVEN("'m':{'a':{'p':1},'b':{'p':2}}") },
		{ SPEC("'m':{'type':'object','additionalProperties':{'type':'string'}}"), GIVEN("'m':{'a':null,'b':'x','c':null}"),
			GIVEN("'m':{'b':'x'}") },
		{ SPEC("'m':{'type':'object','additionalProperties':{'type':'object','default':{'q':2},'properties':{'p':{'type':'integer',"
			"'default':1}}}}"), GIVEN("'m':{'a':null,'b':{}}"), GIVEN("'m':{'a':{'q':2,'p':1},'b':{'p':1}}") },
		{ SPEC("'m':{'type':'object','additionalProperties':{'type':'string','nullable':true,'default':'x'}}"), GIVEN("'m':{'a':null}"),
			GIVEN("'m':{'a':null}") },
		{ SPEC("'l':{'type':'array','items':{'type':'object','default':{'a':1}}}"), GIVEN("'l':[null,{}]"),
			GIVEN("'l':[{'a':1},{}]") },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct doc *object = parsed_quoted(pool, cases[i].object);
		ok(structural_default(schema_of(pool, cases[i].schema), object, 0), "filled in");
		is_strs(written(pool, object), written(pool, parsed_quoted(pool, cases[i].want)), "%s by %s", cases[i].object,
			cases[i].schema);
	}
	const struct structural *schema = schema_of(pool, cases[0].schema);
	struct doc *one = parsed_quoted(pool, "{'spec':{}}"), *other = parsed_quoted(pool, "{'spec':{}}");
	ok(structural_default(schema, one, 4) && !structural_default(schema, other, 3), "no more values than allowed");
}

// ---- hostile

static struct doc *list_of(struct pool *pool, size_t n, struct str text)
{
	struct doc *object = doc_new_object(pool), *list = doc_new_array(pool);

	for (size_t i = 0; i < n; i++)
		doc_push(list, doc_new_string(pool, text));
	doc_set(object, STR("l"), list);
	return object;
}

// A check of this object comes to its end, or is given up and says so, with few steps, faults and bytes.
static void is_bounded(struct pool *pool, const char *schema, const struct doc *object, bool ends, const char *name)
{
	struct field_faults faults = field_faults_new(pool);
	const struct structural *read = schema_of(pool, schema);
	struct field_path root = field_name(NULL, STR(""));
	struct check check = { .pool = pool, .faults = &faults, .steps = CHECK_STEPS };
	size_t size = pool_size(pool);

	check_value(&check, read, object, &root);
	size_t n = faults.n;
	check_finish(&check, &root);
	ok((check.steps > 0) == ends, "%s: %llu steps are left", name, (unsigned long long)check.steps);
	ok(faults.n == n + !ends, "%s", ends ? "it ends" : "it is given up, and that is a fault");
	ok(pool_size(pool) - size < 50000000, "%zu bytes", pool_size(pool) - size);
	size_t listed = field_faults_listed(&faults);
	struct str last = listed > 0 ? faults.list[listed - 1].message : STR("none");
	ok(faults.n > 0 && listed <= FIELD_FAULTS_MAX, "%zu faults: %.*s", faults.n, STR_ARG(last));
}

// A comparison of numbers reads all their digits.
static void test_long_number(struct pool *pool)
{
	static const char *const alternatives[] = { "'maximum':5", "'enum':[1,2]", "'format':'int32'", "'type':'integer'" };
	struct str zeros = str_printf(pool, "%0*d", 1000000, 0);
	struct doc *number = parsed_str(pool, str_printf(pool, "1.%.*s", STR_ARG(zeros))), *list = doc_new_array(pool);
	struct buf schema;

	for (size_t i = 0; i < COUNT_OF(alternatives); i++) {
		schema = buf_new(pool, 0);
		BUF_LIT(&schema, "{'anyOf':[");
		for (int j = 0; j < 200; j++)
			buf_addf(&schema, "%s{%s}", j > 0 ? "," : "", alternatives[i]);
		BUF_LIT(&schema, "]}");
		is_bounded(pool, str_cstr(pool, buf_str(&schema)), number, false, "a long number");
	}
	schema = buf_new(pool, 0);
	buf_addf(&schema, "{'items':{'minimum':0.%.*s}}", STR_ARG(zeros));
	for (int i = 0; i < 200; i++)
		doc_push(list, doc_new_i64(pool, -1));
	is_bounded(pool, str_cstr(pool, buf_str(&schema)), list, false, "a long bound");
}

static void test_hostile(struct pool *pool)
{
	char long_text[20000];
	struct buf schema = buf_new(pool, 0), deep = buf_new(pool, 0);

	memset(long_text, 'a', sizeof(long_text));
	is_bounded(pool, "{'properties':{'l':{'items':{'pattern':'^(([a-z]{0,30}){0,30}){0,4}[A-Z]$'}}}}",
		list_of(pool, 50, str_n(long_text, sizeof(long_text))), false, "a slow pattern");
	is_bounded(pool, "{'properties':{'l':{'items':{'type':'integer','minimum':1}}}}", list_of(pool, 200000, STR("x")),
		true, "two hundred thousand faults");
	is_bounded(pool, "{'properties':{'l':{'uniqueItems':true}}}", list_of(pool, 200000, STR("x")), true,
		"all the same");
	BUF_LIT(&schema, "{'properties':{'l':{'items':{'anyOf':[");
	for (int i = 0; i < 2000; i++)
		buf_addf(&schema, "%s{'anyOf':[{'oneOf':[{'type':'integer'},{'format':'date'}]},{'enum':['b']}]}", i > 0 ? "," : "");
	BUF_LIT(&schema, "]}}}}");
	is_bounded(pool, str_cstr(pool, buf_str(&schema)), list_of(pool, 20000, STR("x")), false, "many choices");
	for (int i = 0; i < 60; i++)
		BUF_LIT(&deep, "{'anyOf':[{'type':'integer'},");
	BUF_LIT(&deep, "{'type':'boolean'}");
	for (int i = 0; i < 60; i++)
		BUF_LIT(&deep, "]}");
	is_bounded(pool, str_cstr(pool, buf_str(&deep)), doc_new_string(pool, STR("x")), true,
		"choices within choices");
	test_long_number(pool);
}

static void test_patterns_all_in_all(struct pool *pool)
{
	struct field_faults faults = field_faults_new(pool);
	struct field_path at = field_name(NULL, STR("s"));
	struct buf schema = buf_new(pool, 0);
	size_t size = pool_size(pool);

	BUF_LIT(&schema, "{'properties':{");
	for (int i = 0; i < 2000; i++)
		buf_addf(&schema, "%s'p%d':{'pattern':'[^x]{1000}'}", i > 0 ? "," : "", i);
	BUF_LIT(&schema, "}}");
	structural_read(pool, parsed_quoted(pool, str_cstr(pool, buf_str(&schema))), &at, &faults);
	is_int((long long)faults.n, 1900, "a hundred large patterns are read, the others not");
	ok(pool_size(pool) - size < 10000000, "within %zu bytes", pool_size(pool) - size);
	ok(field_faults_text(pool, &faults).n > 0 && str_ends(field_faults_text(pool, &faults), STR(", and 1800 more]")),
		"the rest is counted");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_schemas(pool);
	test_old_rules(pool);
	pool_clear(pool);
	test_objects(pool);
	test_formats(pool);
	pool_clear(pool);
	test_pruning(pool);
	test_defaults(pool);
	pool_clear(pool);
	test_hostile(pool);
	pool_clear(pool);
	test_patterns_all_in_all(pool);
	pool_free(&pool);
	return done_testing();
}
