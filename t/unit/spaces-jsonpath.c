// SPDX-License-Identifier: Apache-2.0
// The JSONPath of printer columns.
#include "base/base.h"

#include "repr/json/jsonpath.h"
#include "documents.h"

static const char object[] =
	"{'metadata':{'name':'n','labels':{'example.com/app':'web','a b':'c'}},'spec':{'size':3,'on':true,'none':null,"
	"'list':['a','b','c','d'],'items':[{'n':1,'t':'x'},{'n':2,'t':'y'},{'n':3,'t':'x','deep':{'n':4}}]},"
	"'status':{'conditions':[{'type':'Ready','status':'True'},{'type':'Done','status':'False'}]}}";

// want: what is found as JSON texts with blanks between them; NULL: the path is refused.
static const struct { const char *path, *want; } cases[] = {
	{ ".spec.size", "3" }, { "{.spec.size}", "3" }, { "$.spec.size", "3" }, { ".spec.on", "true" }, { ".spec.none", "null" },
	{ ".spec.nothing", "" }, { ".spec.size.more", "" }, { ".metadata.name", "\"n\"" },
	{ ".metadata.labels['example.com/app']", "\"web\"" }, { ".metadata.labels[\"a b\"]", "\"c\"" },
	{ ".metadata.labels.example\\.com/app", "\"web\"" }, { "['spec'].size", "3" },
	{ ".spec.list[0]", "\"a\"" }, { ".spec.list[-1]", "\"d\"" }, { ".spec.list[4]", "" }, { ".spec.list[-5]", "" },
	{ ".spec.list[*]", "\"a\" \"b\" \"c\" \"d\"" }, { ".spec.list[1:3]", "\"b\" \"c\"" }, { ".spec.list[:2]", "\"a\" \"b\"" },
	{ ".spec.list[2:]", "\"c\" \"d\"" }, { ".spec.list[-2:]", "\"c\" \"d\"" }, { ".spec.list[0:-1]", "\"a\" \"b\" \"c\"" },
	{ ".spec.list[0,2]", "\"a\" \"c\"" }, { ".metadata['name','nothing']", "\"n\"" }, { ".spec.items[*].n", "1 2 3" },
	{ ".spec.items[?(@.t==\"x\")].n", "1 3" }, { ".spec.items[?(@.t!='x')].n", "2" }, { ".spec.items[?(@.n>1)].n", "2 3" },
	{ ".spec.items[?(@.n>=2)].n", "2 3" }, { ".spec.items[?( @.n < 2 )].n", "1" }, { ".spec.items[?(@.n<=2.0)].n", "1 2" },
	{ ".spec.items[?(@.deep)].n", "3" }, { ".spec.items[?(@.deep.n==4)].n", "3" }, { ".spec.items[?(@.n=='1')].n", "" },
	{ ".spec.list[?(@=='b')]", "\"b\"" },
	{ ".status.conditions[?(@.type==\"Ready\")].status", "\"True\"" },
	{ "..n", "1 2 3 4" }, { ".spec..deep.n", "4" }, { ".metadata.labels.*", "\"web\" \"c\"" }, { ".metadata.labels[*]", "\"web\" \"c\"" },
	{ "spec.size", NULL }, { ".spec.", NULL }, { ".spec[", NULL }, { ".spec[0", NULL }, { ".spec['a", NULL }, { ".spec[x]", NULL },
	{ "{.spec", NULL }, { ".spec}", NULL }, { "{.spec} x", NULL }, { ".a[?(.b==1)]", NULL }, { ".a[?(@.b==)]", NULL },
	{ ".a[?(@.b==1]", NULL }, { ".a[?(@.b==x)]", NULL }, { ".a[99999999999999999999]", NULL }, { ".a[1:x]", NULL }, { ".a b", NULL },
};

static struct str found(struct pool *pool, const struct jsonpath *path, const struct doc *doc)
{
	struct buf out = buf_new(pool, 64);
	size_t n, looks = 10000;
	const struct doc *const *values = jsonpath_find(pool, path, doc, &looks, &n);

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&out, ' ');
		doc_write_json(values[i], &out);
	}
	return buf_str(&out);
}

static void test_hostile(struct pool *pool)
{
	struct doc *list = doc_new_array(pool), *wide = doc_new_object(pool);
	struct buf text = buf_new(pool, 0);
	const struct jsonpath *path;
	struct str error;
	size_t n, looks = 100000;

	for (int i = 0; i < 100000; i++)
		doc_push(list, doc_new_i64(pool, i));
	doc_set(wide, STR("l"), list);
	ok(jsonpath_parse(pool, STR("..*..*..*..*..*"), &path, &error), "all of all of all");
	jsonpath_find(pool, path, wide, &looks, &n);
	ok(n <= JSONPATH_FOUND_MAX, "ends: %zu", n);
	is_int((long long)looks, 0, "and took what it might");
	ok(jsonpath_parse(pool, STR(".l[7]"), &path, &error), "one of them");
	jsonpath_find(pool, path, wide, &looks, &n);
	is_int((long long)n, 0, "with nothing left it finds nothing");
	looks = 10;
	jsonpath_find(pool, path, wide, &looks, &n);
	ok(n == 1 && looks == 8, "with enough it leaves the rest");
	looks = 100000;
	ok(jsonpath_parse(pool, STR(".l[?(@..a)]"), &path, &error), "a search in each");
	jsonpath_find(pool, path, wide, &looks, &n);
	is_int((long long)n, 0, "finds nothing");
	for (int i = 0; i < 300; i++)
		BUF_LIT(&text, ".a[?(@");
	bool read = jsonpath_parse(pool, buf_str(&text), &path, &error);
	ok(!read, "filters in filters: %.*s", STR_ARG(error));
}

int main(void)
{
	struct pool *pool = pool_new();
	const struct doc *doc = parsed_quoted(pool, object);

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct jsonpath *path;
		struct str error = STR("");
		// A copy of its own size, so that sanitizers see what is read behind it.
		size_t length = strlen(cases[i].path);
		char *copy = malloc(length);
		memcpy(copy, cases[i].path, length);
		bool read = jsonpath_parse(pool, str_n(copy, length), &path, &error);
		if (cases[i].want == NULL)
			ok(!read, "%s is refused: %.*s", cases[i].path, STR_ARG(error));
		else if (ok(read, "%s: %.*s", cases[i].path, STR_ARG(error)))
			is_str(found(pool, path, doc), cases[i].want, "%s", cases[i].path);
		free(copy);
	}
	test_hostile(pool);
	pool_free(&pool);
	return done_testing();
}
