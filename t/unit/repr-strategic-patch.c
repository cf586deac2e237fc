// SPDX-License-Identifier: Apache-2.0
// Strategic merge patches: what clients send of pods and their like, and what is refused.
#include "base/base.h"

#include "documents.h"
#include "repr/patch/strategic_patch.h"
#include "types/types.h"

// All of a Pod. want: the result, or with "!" a word of the error.
static const struct { const char *target, *patch, *want; } cases[] = {
	// as a merge patch
	{ "{'a':1,'b':{'c':1,'d':2}}", "{'b':{'c':null,'e':3},'f':4}", "{'a':1,'b':{'d':2,'e':3},'f':4}" },
	{ "{'a':{'x':1}}", "{'a':null,'z':null}", "{}" },
	{ "{'a':{'x':1}}", "{'a':5}", "{'a':5}" },
	{ "{'a':1}", "{'a':{'x':null,'y':{'z':null,'w':1}}}", "{'a':{'y':{'w':1}}}" },
	{ "{'l':[1,2]}", "{'l':[3]}", "{'l':[3]}" },
	{ "{}", "{}", "{}" },
	{ "{'a':1}", "[1]", "!object" },
	// lists by a key
	{ "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}]}}",
		"{'spec':{'containers':[{'name':'b','image':'3'},{'name':'c','image':'4'}]}}",
		"{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'3'},{'name':'c','image':'4'}]}}" },
	{ "{'spec':{'containers':[{'name':'a','image':'1','env':[{'name':'X','value':'1'}]}]}}",
		"{'spec':{'containers':[{'name':'a','image':null,'env':[{'name':'Y','value':'2'},{'name':'X','value':'3'}]}]}}",
		"{'spec':{'containers':[{'name':'a','env':[{'name':'X','value':'3'},{'name':'Y','value':'2'}]}]}}" },
	{ "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80},{'containerPort':81}]}]}}",
		"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':81,'name':'x'}]}]}}",
		"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80},{'containerPort':81,'name':'x'}]}]}}" },
	{ "{'spec':{}}", "{'spec':{'containers':[{'name':'a','x':null},{'name':'b','$patch':'delete'}]}}",
		"{'spec':{'containers':[{'name':'a'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'image':'b'}]}}", "!merge key, \"name\"" },
	{ "{'spec':{'tolerations':[{'key':'a'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}", "{'spec':{'tolerations':[{'key':'b'}]}}" },
	{ "{'metadata':{'ownerReferences':[{'uid':'1','kind':'A'}]}}",
		"{'metadata':{'ownerReferences':[{'uid':'1','kind':'B'},{'uid':'2'}]}}",
		"{'metadata':{'ownerReferences':[{'uid':'1','kind':'B'},{'uid':'2'}]}}" },
	{ "{'spec':{'schedulingGates':[{'name':'a'},{'name':'b'}],'resourceClaims':[{'name':'a','x':1}]}}",
		"{'spec':{'$setElementOrder/schedulingGates':[{'name':'a'}],'schedulingGates':[{'$patch':'delete','name':'b'}],"
		"'resourceClaims':[{'$retainKeys':['name','y'],'name':'a','y':2},{'name':'b'}]}}",
		"{'spec':{'schedulingGates':[{'name':'a'}],'resourceClaims':[{'name':'a','y':2},{'name':'b'}]}}" },
	{ "{'status':{'hostIPs':[{'ip':'::1'}],'resourceClaimStatuses':[{'name':'a'}]}}",
		"{'status':{'hostIPs':[{'ip':'::2'}],'resourceClaimStatuses':[{'name':'b'}]}}",
		"{'status':{'hostIPs':[{'ip':'::1'},{'ip':'::2'}],'resourceClaimStatuses':[{'name':'a'},{'name':'b'}]}}" },
	// $patch
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
		"{'spec':{'containers':[{'$patch':'delete','name':'b'}]}}", "{'spec':{'containers':[{'name':'a'},{'name':'c'}]}}" },
	{ "{'spec':{'containers':[{'name':'a','x':1}]}}",
		"{'spec':{'containers':[{'name':'a','y':1},{'$patch':'delete','name':'a'}]}}",
		"{'spec':{'containers':[{'name':'a','y':1}]}}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'$patch':'delete'}]}}", "!merge key" },
	{ "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'name':'z'},{'$patch':'replace'}]}}",
		"{'spec':{'containers':[{'name':'z'}]}}" },
	{ "{'spec':{'a':1,'b':2}}", "{'spec':{'$patch':'replace','c':3}}", "{'spec':{'c':3}}" },
	{ "{'spec':{'a':1,'b':2}}", "{'spec':{'$patch':'delete'}}", "{'spec':{}}" },
	{ "{'spec':{'a':1}}", "{'spec':{'$patch':'merge','b':2}}", "{'spec':{'a':1,'b':2}}" },
	{ "{'spec':{'a':1}}", "{'spec':{'$patch':'erase','b':2}}", "!unknown patch type" },
	{ "{'spec':{'a':1}}", "{'$patch':'replace','x':1}", "{'x':1}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'$patch':'x','name':'a'}]}}", "!unknown patch type" },
	// sets
	{ "{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['b','c']}}", "{'metadata':{'finalizers':['a','b','c']}}" },
	{ "{'metadata':{'finalizers':['a','b','c']}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a','c','x']}}",
		"{'metadata':{'finalizers':['b']}}" },
	{ "{'metadata':{}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}", "{'metadata':{}}" },
	{ "{'metadata':{'finalizers':['a']}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a'],'finalizers':['b']}}",
		"{'metadata':{'finalizers':['b']}}" },
	{ "{'metadata':{'finalizers':['a']}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':'a'}}", "!must be an array" },
	{ "{'metadata':{'finalizers':['a']}}", "{'metadata':{'finalizers':[{'b':1}]}}", "!must be a string" },
	// order
	{ "{'metadata':{'finalizers':['a','b','c']}}", "{'metadata':{'$setElementOrder/finalizers':['c','a']}}",
		"{'metadata':{'finalizers':['b','c','a']}}" },
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
		"{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],'containers':[{'name':'a','image':'x'}]}}",
		"{'spec':{'containers':[{'name':'b'},{'name':'a','image':'x'}]}}" },
	{ "{'spec':{'containers':[{'name':'s1'},{'name':'a'},{'name':'s2'}]}}",
		"{'spec':{'$setElementOrder/containers':[{'name':'n'},{'name':'a'}],'containers':[{'name':'n'}]}}",
		"{'spec':{'containers':[{'name':'n'},{'name':'s1'},{'name':'a'},{'name':'s2'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
		"{'spec':{'$setElementOrder/containers':[{'name':'b'}],'containers':[{'$patch':'delete','name':'a'}]}}",
		"{'spec':{'containers':[{'name':'b'}]}}" },
	{ "{'spec':{'containers':[{'name':'a'}]}}",
		"{'spec':{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'z'}]}}", "!lacks an item" },
	{ "{'spec':{}}", "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],'containers':[{'name':'a'},"
		"{'name':'b'}]}}", "{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}" },
	{ "{'spec':{'x':5}}", "{'spec':{'$setElementOrder/x':[1]}}", "{'spec':{'x':5}}" },
	// $retainKeys
	{ "{'spec':{'volumes':[{'name':'v','emptyDir':{}}]}}",
		"{'spec':{'volumes':[{'$retainKeys':['name','hostPath'],'name':'v','hostPath':{'path':'/x'}}]}}",
		"{'spec':{'volumes':[{'name':'v','hostPath':{'path':'/x'}}]}}" },
	{ "{'spec':{'s':{'type':'Rolling','rolling':{}}}}", "{'spec':{'s':{'$retainKeys':['type'],'type':'Recreate'}}}",
		"{'spec':{'s':{'type':'Recreate'}}}" },
	{ "{'spec':{'s':{'type':'x'}}}", "{'spec':{'s':{'$retainKeys':['a'],'b':1}}}", "!lacks a member" },
	{ "{'spec':{'s':{'type':'x'}}}", "{'spec':{'s':{'$retainKeys':'a'}}}", "!array" },
	// what only looks like directives
	{ "{'data':{'$x':'1'}}", "{'data':{'$y':'2','$patchy':'3'}}", "{'data':{'$x':'1','$y':'2','$patchy':'3'}}" },
	// several items with one key
	{ "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':53,'protocol':'TCP'},{'containerPort':80},"
		"{'containerPort':53,'protocol':'UDP'},{'containerPort':53,'protocol':'SCTP'}]}]}}",
		"{'spec':{'containers':[{'name':'a','ports':[{'$patch':'delete','containerPort':53}]}]}}",
		"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80}]}]}}" },
	{ "{'spec':{'hostAliases':[{'ip':'1','x':1},{'ip':'1','x':2}]}}",
		"{'spec':{'hostAliases':[{'ip':'1','y':1},{'$patch':'delete','ip':'1'},{'$patch':'delete','ip':'1'}]}}",
		"{'spec':{'hostAliases':[{'ip':'1','y':1}]}}" },
	{ "{'metadata':{'finalizers':['a','b','a']}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}",
		"{'metadata':{'finalizers':['b']}}" },
	// odd targets
	{ "{'spec':{'containers':{'name':'a'}}}", "{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'name':'a'}]}}" },
	{ "{'spec':{'containers':[5,{'image':'x'},{'name':'a'},{'name':'a'}]}}", "{'spec':{'containers':[{'name':'a','y':1}]}}",
		"{'spec':{'containers':[5,{'image':'x'},{'name':'a','y':1},{'name':'a'}]}}" },
	{ "{'metadata':{'finalizers':[1,'1',true]}}", "{'metadata':{'finalizers':['true','a\\u0000']}}",
		"{'metadata':{'finalizers':[1,'1',true,'a\\u0000']}}" },
};

static void test_cases(struct pool *pool)
{
	const struct merge_rule *rules = type_parts_by_kind(STR(""), STR("Pod"))->merge;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct doc *target = parsed_quoted(pool, cases[i].target), *patch = parsed_quoted(pool, cases[i].patch), *result;
		struct str target_text = written(pool, target), patch_text = written(pool, patch), error = STR("");
		bool done = doc_strategic_patch(pool, rules, target, patch, &result, &error);
		if (cases[i].want[0] == '!')
			ok(!done && strstr(str_cstr(pool, error), cases[i].want + 1) != NULL, "%s of %s is refused: %.*s",
				cases[i].patch, cases[i].target, STR_ARG(error));
		else if (ok(done, "%s of %s: %.*s", cases[i].patch, cases[i].target, STR_ARG(error)))
			is_strs(written(pool, result), written(pool, parsed_quoted(pool, cases[i].want)), "what came of it");
		ok(str_eq(written(pool, target), target_text) && str_eq(written(pool, patch), patch_text), "neither changed");
		if (done) {
			doc_set(result, STR("new"), NULL);
			is_strs(written(pool, target), target_text, "the result is a document of its own");
		}
	}
}

static void test_kinds(struct pool *pool)
{
	struct str error;
	struct doc *result;
	const struct doc *target = parsed_quoted(pool, "{'spec':{'template':{'spec':{'containers':[{'name':'a'}]}}}}");
	const struct doc *patch = parsed_quoted(pool, "{'spec':{'template':{'spec':{'containers':[{'name':'b'}]}}}}");

	ok(type_parts_by_kind(STR("example.com"), STR("Pod"))->merge == NULL && type_parts_by_kind(STR(""), STR("Widget"))->merge == NULL, "no rules");
	ok(type_parts_by_kind(STR(""), STR("ConfigMap"))->merge != NULL, "rules");
	ok(doc_strategic_patch(pool, type_parts_by_kind(STR("apps"), STR("DaemonSet"))->merge, target, patch, &result, &error) &&
		str_find(written(pool, result), 'b', 0) > str_find(written(pool, result), '"', 0) &&
		strstr(str_cstr(pool, written(pool, result)), "\"a\"") != NULL, "of what makes pods");
}

static void test_large(struct pool *pool)
{
	struct doc *target = doc_new_object(pool), *metadata = doc_new_object(pool), *list = doc_new_array(pool), *result;
	struct doc *patch = doc_new_object(pool), *other = doc_new_object(pool), *added = doc_new_array(pool);
	struct str error;

	for (int i = 0; i < 50000; i++) {
		doc_push(list, doc_new_string(pool, str_printf(pool, "old-%d", i)));
		doc_push(added, doc_new_string(pool, str_printf(pool, "new-%d", 50000 - i)));
	}
	doc_set(metadata, STR("finalizers"), list);
	doc_set(target, STR("metadata"), metadata);
	doc_set(other, STR("finalizers"), added);
	doc_set(other, STR("$setElementOrder/finalizers"), added);
	doc_set(patch, STR("metadata"), other);
	ok(doc_strategic_patch(pool, type_parts_by_kind(STR(""), STR("Pod"))->merge, target, patch, &result, &error), "large lists");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_cases(pool);
	test_kinds(pool);
	test_large(pool);
	pool_free(&pool);
	return done_testing();
}
