// SPDX-License-Identifier: Apache-2.0
// Tables of the spaces dialect: ages, columns of custom types, rows of built-in kinds.
#include "base/base.h"

#include "api/spaces/answer/table.h"
#include "documents.h"
#include "registry/type/type.h"
#include "types/types.h"

enum { NOW = 1795238640 }; // 2026-11-21T05:24:00Z

static struct str quoted(struct pool *pool, const struct buf *text)
{
	return replaced(pool, buf_str(text), '"', '\'');
}

static void test_ages(struct pool *pool)
{
	static const struct { long long seconds; const char *age; } ages[] = {
		{ -100, "<invalid>" }, { -1, "0s" }, { 0, "0s" }, { 119, "119s" }, { 120, "2m" }, { 200, "3m20s" }, { 599,
			"9m59s" },
		{ 600, "10m" }, { 10799, "179m" }, { 10800, "3h" }, { 7 * 3600 + 60, "7h1m" }, { 8 * 3600 + 60, "8h" },
		{ 47 * 3600, "47h" },
		{ 48 * 3600, "2d" }, { 50 * 3600, "2d2h" }, { 8 * 86400 + 7200, "8d" }, { 729 * 86400, "729d" }, { 730 * 86400,
		"2y" },
		{ 760 * 86400, "2y30d" }, { 3000LL * 86400, "8y" },
	};

	for (size_t i = 0; i < COUNT_OF(ages); i++)
		is_str(column_age(pool, ages[i].seconds), ages[i].age, "%lld seconds", ages[i].seconds);
}

static const struct definition_column custom[] = {
	{ STR_INIT("Size"), STR_INIT("integer"), STR_INIT("int32"), STR_INIT("how large"), STR_INIT(".spec.size"), 0 },
	{ STR_INIT("Ready"), STR_INIT("string"), STR_INIT(""), STR_INIT(""),
		STR_INIT(".status.conditions[?(@.type==\"Ready\")].status"), 0 },
	{ STR_INIT("Load"), STR_INIT("number"), STR_INIT(""), STR_INIT(""), STR_INIT(".spec.load"), 1 },
	{ STR_INIT("On"), STR_INIT("boolean"), STR_INIT(""), STR_INIT(""), STR_INIT(".spec.on"), 0 },
	{ STR_INIT("Age"), STR_INIT("date"), STR_INIT(""), STR_INIT(""), STR_INIT(".metadata.creationTimestamp"), 0 },
	{ STR_INIT("Bad"), STR_INIT("string"), STR_INIT(""), STR_INIT(""), STR_INIT("spec["), 0 },
};

static const struct { const char *object, *cells; } custom_rows[] = {
	{ "{'metadata':{'name':'w','creationTimestamp':'2026-11-16T05:24:00Z'},'spec':{'size':3,'load':0.50,'on':true},"
		"'status':{'conditions':[{'type':'Ready','status':'True'}]}}", "['w',3,'True',0.50,true,'5d',null]" },
	{ "{'metadata':{'name':'w','creationTimestamp':'2026-11-21T05:21:30.5+00:30'}}", "['w',null,null,null,null,'32m',null]" },
	{ "{'metadata':{'name':'w','creationTimestamp':'yesterday'},'spec':{'size':'3','load':'x','on':'true'}}",
		"['w',null,null,null,null,'<invalid>',null]" },
	{ "{'metadata':{'name':'w','creationTimestamp':5},'spec':{'size':3.9,'load':7,'on':null},"
		"'status':{'conditions':[{'type':'Ready','status':{'a':[1]}}]}}", "['w',3,'{\\'a\\':[1]}',7,null,null,null]" },
	{ "{}", "['',null,null,null,null,null,null]" },
};

static void test_custom(struct pool *pool)
{
	const struct type type = { .group = STR_INIT("example.com"), .plural = STR_INIT("widgets") };
	const struct definition_details details = { .columns = custom, .n_columns = COUNT_OF(custom) };
	const struct definition_details bare = { .columns = NULL };
	const struct definition definition = { .type = &type, .kind = STR_INIT("Widget") };
	const struct table_columns *columns = table_columns_for(pool, &definition, &details);
	struct buf out = buf_new(pool, 0);

	for (size_t i = 0; i < COUNT_OF(custom_rows); i++) {
		out.n = 0;
		table_add_row(pool, columns, parsed_quoted(pool, custom_rows[i].object), TABLE_NONE, NOW * 1000000LL, &out);
		is_str(quoted(pool, &out), str_cstr(pool, str_printf(pool, "{'cells':%s}", custom_rows[i].cells)), "%s",
			custom_rows[i].object);
	}
	out.n = 0;
	table_add_row(pool, columns, parsed_quoted(pool, "{'metadata':{'name':'w','labels':{'a':'b'}},'spec':{}}"),
		TABLE_METADATA, 0, &out);
	ok(str_ends(quoted(pool, &out), STR("'object':{'kind':'PartialObjectMetadata','apiVersion':'meta.k8s.io/v1','metadata':"
		"{'name':'w','labels':{'a':'b'}}}}")), "metadata with it");
	out.n = 0;
	table_add_columns(columns, &out);
	ok(str_starts(quoted(pool, &out), STR("[{'name':'Name','type':'string','format':'name','description':'")),
		"the name first");
	ok(strstr(str_cstr(pool, quoted(pool, &out)),
		"{'name':'Size','type':'integer','format':'int32','description':'how large',"
		"'priority':0}") != NULL, "then its own");
	out.n = 0;
	table_add_row(pool, table_columns_for(pool, &definition, &bare), parsed_quoted(pool, custom_rows[0].object), TABLE_NONE,
		NOW * 1000000LL, &out);
	is_str(quoted(pool, &out), "{'cells':['w','5d']}", "name and age without columns of its own");
}

static const struct { const char *group, *kind, *object, *cells; } builtin[] = {
	{ "", "Namespace", "{'metadata':{'name':'n','tenant':'t1'},'status':{'phase':'Active'}}",
		"['n','Active','<unknown>','t1']" },
	{ "", "Namespace", "{'metadata':{'name':'n','deletionTimestamp':'x'},'status':{'phase':'Active'}}",
		"['n','Terminating','<unknown>','']" },
	{ "", "ConfigMap", "{'metadata':{'name':'c','creationTimestamp':'2026-11-21T05:23:00Z'},'data':{'a':'','b':''},"
		"'binaryData':{'c':''}}", "['c',3,'60s']" },
	{ "", "Secret", "{'metadata':{'name':'s'},'type':'Opaque','data':{'a':''}}", "['s','Opaque',1,'<unknown>']" },
	{ "", "Pod", "{'metadata':{'name':'p'},'spec':{'containers':[{},{}],'nodeName':'n1'},'status':{'phase':'Running',"
		"'podIP':'10.0.0.1','containerStatuses':[{'ready':true,'restartCount':2,'state':{'running':{}}},{'restartCount':1}]}}",
		"['p','1/2','Running','3','<unknown>','10.0.0.1','n1','<none>','<none>']" },
	{ "", "Pod", "{'metadata':{'name':'p'},'status':{'phase':'Pending','containerStatuses':[{'state':{'waiting':"
		"{'reason':'ImagePullBackOff'}}}]}}", "['p','0/0','ImagePullBackOff','0','<unknown>','<none>','<none>','<none>','<none>']" },
	{ "", "Pod", "{'metadata':[],'spec':7,'status':'x'}", "['','0/0','','0','<unknown>','<none>','<none>','<none>','<none>']" },
#define POD(more, status) "{'metadata':{'name':'p'" more "},'status':{" status "}}"
#define SHOWN_SO(ready, reason, restarts) "['p','" ready "','" reason "','" restarts "','<unknown>','<none>','<none>','<none>','<none>']"
#define SHOWN(reason) SHOWN_SO("1/0", reason, "0")
#define RUNS "{'ready':true,'state':{'running':{}}}"
#define ENDED(how) "{'state':{'terminated':{" how "}}}"
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[" RUNS "," ENDED("'reason':'Completed','exitCode':0") "],"
		"'conditions':[{'type':'Ready','status':'True'}]"), SHOWN("Running") },
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[" ENDED("'reason':'Completed','exitCode':0") "," RUNS "],"
		"'conditions':[{'type':'Ready','status':'False'}]"), SHOWN("NotReady") },
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}," RUNS ","
		ENDED("'reason':'Completed'") "]"), SHOWN("CrashLoopBackOff") },
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[" ENDED("'exitCode':1") "," RUNS "]"), SHOWN("ExitCode:1") },
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[" ENDED("'signal':9,'exitCode':137") "," RUNS "]"), SHOWN("Signal:9") },
	{ "", "Pod", POD(",'deletionTimestamp':'x'", "'phase':'Running','containerStatuses':[" RUNS "]"), SHOWN("Terminating") },
	{ "", "Pod", POD(",'deletionTimestamp':'x'", "'phase':'Failed','containerStatuses':[" RUNS "]"), SHOWN("Failed") },
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':{'a':1},'conditions':{'b':2}"),
		SHOWN_SO("0/0", "Running", "0") },
	{ "", "Pod", POD(",'deletionTimestamp':'x'", "'phase':'Running','reason':'NodeLost'"), SHOWN_SO("0/0", "Unknown", "0") },
	{ "", "Pod", POD("", "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':'SchedulingGated'}]"),
		SHOWN_SO("0/0", "SchedulingGated", "0") },
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[{'ready':true},{'ready':true,'state':{'waiting':{'reason':'x'}}}]"),
		SHOWN_SO("0/0", "x", "0") },
#define GATES "'spec':{'readinessGates':[{'conditionType':'a/1'},{'conditionType':'b'},{}]}"
#define GATED(conditions) "{'metadata':{'name':'p'}," GATES ",'status':{'phase':'Running','conditions':[" conditions "]}}"
#define MET(n) "['p','0/0','Running','0','<unknown>','<none>','<none>','<none>','" n "']"
	{ "", "Pod", GATED(""), MET("0/3") },
	{ "", "Pod", GATED("{'type':'b','status':'True'},{'type':'Ready','status':'True'},{'type':'a/1','status':'False'}"), MET("1/3") },
	{ "", "Pod", GATED("{'type':'b','status':'True'},7,{'type':'a/1','status':'True'}"), MET("2/3") },
#define RESTARTED(n, at) "'restartCount':" n ",'lastState':{'terminated':{'finishedAt':'" at "'}}"
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[{" RESTARTED("2", "2026-11-21T05:23:00Z") "},{"
		RESTARTED("1", "2026-11-21T05:22:00Z") "}]"), SHOWN_SO("0/0", "Running", "3 (60s ago)") },
	{ "", "Pod", POD("", "'phase':'Running','containerStatuses':[{" RESTARTED("0", "2026-11-21T05:23:00Z") "},{"
		RESTARTED("0", "no time") "}]"), SHOWN_SO("0/0", "Running", "0") },
#define INIT(containers, statuses, more) "{'metadata':{'name':'p'},'spec':{'containers':[{},{}],'initContainers':[" containers "]}," \
	"'status':{'phase':'Pending','initContainerStatuses':[" statuses "]" more "}}"
#define TWO "{'name':'a'},{'name':'b'}"
#define FIRST "{'name':'a','restartCount':2,'state':{'terminated':{'exitCode':0,'reason':'Completed'}}},"
#define SECOND(state) "{'name':'b','state':{" state "}}"
	{ "", "Pod", INIT(TWO, "{'name':'a','state':{'running':{}}}," SECOND("'waiting':{'reason':'PodInitializing'}"), ""),
		SHOWN_SO("0/2", "Init:0/2", "0") },
	{ "", "Pod", INIT(TWO, FIRST SECOND("'waiting':{'reason':'PodInitializing'}"), ""), SHOWN_SO("0/2", "Init:1/2", "2") },
	{ "", "Pod", INIT(TWO, FIRST SECOND(""), ""), SHOWN_SO("0/2", "Init:1/2", "2") },
	{ "", "Pod", INIT(TWO, FIRST SECOND("'terminated':{'exitCode':1,'reason':'Error'}"), ""), SHOWN_SO("0/2", "Init:Error", "2") },
	{ "", "Pod", INIT(TWO, FIRST SECOND("'terminated':{'exitCode':3}"), ""), SHOWN_SO("0/2", "Init:ExitCode:3", "2") },
	{ "", "Pod", INIT(TWO, FIRST SECOND("'terminated':{'exitCode':137,'signal':9}"), ""), SHOWN_SO("0/2", "Init:Signal:9", "2") },
	{ "", "Pod", INIT(TWO, "{'name':'a','state':{'waiting':{'reason':'CrashLoopBackOff'}}," RESTARTED("4", "2026-11-21T05:19:00Z") "}",
		",'containerStatuses':[{'state':{'waiting':{'reason':'PodInitializing'}}}]"), SHOWN_SO("0/2", "Init:CrashLoopBackOff", "4 (5m ago)") },
	{ "", "Pod", INIT("{'name':'a'}", "{'name':'a','restartCount':2,'state':{'terminated':{'exitCode':0}}}",
		",'containerStatuses':[{'state':{'waiting':{'reason':'PodInitializing'}}}]"), SHOWN_SO("0/2", "PodInitializing", "0") },
	{ "", "Pod", INIT("{'name':'a'}", "{'name':'a','state':{'running':{}}}", ",'conditions':[{'type':'Initialized','status':'True'}],"
		"'containerStatuses':[{'restartCount':1,'state':{'terminated':{'reason':'Error'}}}]"), SHOWN_SO("0/2", "Error", "1") },
#define SIDECAR "{'name':'s','restartPolicy':'Always'}"
	{ "", "Pod", INIT(SIDECAR ",{'name':'a'}", "{'name':'s','started':true,'ready':true,'restartCount':1,'state':{'running':{}}},"
		"{'name':'a','restartCount':2,'state':{'terminated':{'exitCode':0}}}", ",'containerStatuses':[" RUNS "," RUNS "]"),
		SHOWN_SO("3/3", "Pending", "1") },
	{ "", "Pod", INIT("{'name':'a'}," SIDECAR, FIRST "{'name':'s','started':false,'ready':true,'state':{'running':{}}}", ""),
		SHOWN_SO("0/3", "Init:1/2", "2") },
	{ "", "PersistentVolume", "{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'5Gi'},'accessModes':['ReadWriteOncePod',"
		"'ReadWriteMany','ReadWriteOnce'],'persistentVolumeReclaimPolicy':'Retain','claimRef':{'namespace':'a','name':'b'},"
		"'storageClassName':'s','volumeMode':'Block'},'status':{'phase':'Bound'}}",
		"['v','5Gi','RWO,RWX,RWOP','Retain','Bound','a/b','s','','<unknown>','Block','']" },
	{ "", "ServiceAccount", "{'metadata':{'name':'a'},'secrets':[{},{}]}", "['a',2,'<unknown>']" },
	{ "", "Service", "{'metadata':{'name':'s'},'spec':{'type':'NodePort','clusterIP':'10.0.0.1','ports':[{'port':80},"
		"{'port':53,'protocol':'UDP','nodePort':30053}],'selector':{'a':'b','c':'d'}}}",
		"['s','NodePort','10.0.0.1','<none>','80/TCP,53:30053/UDP','<unknown>','a=b,c=d']" },
#define SERVICE(spec, status) "{'metadata':{'name':'s'},'spec':{" spec "},'status':{'loadBalancer':{" status "}}}"
#define SERVED(type, at) "['s','" type "','<none>','" at "','<none>','<unknown>','<none>']"
	{ "", "Service", SERVICE("'type':'ClusterIP','externalIPs':['192.0.2.1','192.0.2.2']", "'ingress':[{'ip':'192.0.2.3'}]"),
		SERVED("ClusterIP", "192.0.2.1,192.0.2.2") },
	{ "", "Service", SERVICE("'type':'ExternalName','externalName':'example.com'", ""), SERVED("ExternalName", "example.com") },
	{ "", "Service", SERVICE("'type':'LoadBalancer'", ""), SERVED("LoadBalancer", "<pending>") },
	{ "", "Service", SERVICE("'type':'LoadBalancer','externalIPs':['192.0.2.1']",
		"'ingress':[{'ip':'192.0.2.3','hostname':'x'},{'hostname':'a.example'},{}]"),
		SERVED("LoadBalancer", "192.0.2.3,a.example,192.0.2.1") },
	{ "", "Node", "{'metadata':{'name':'n','labels':{'node-role.kubernetes.io/master':''}},'spec':{'unschedulable':true},"
		"'status':{'conditions':[{'type':'Ready','status':'True'}],'nodeInfo':{'kubeletVersion':'v1'}}}",
		"['n','Ready,SchedulingDisabled','master','<unknown>','v1']" },
	{ "", "Tenant", "{'metadata':{'name':'t'},'status':{'phase':'Active'}}", "['t','Active','<unknown>']" },
	{ "apiextensions.k8s.io", "CustomResourceDefinition",
	"{'metadata':{'name':'c','creationTimestamp':'2026-11-21T05:24:00Z'}}",
		"['c','2026-11-21T05:24:00Z','']" },
	{ "apps", "DaemonSet", "{'metadata':{'name':'d'},'status':{'numberReady':2}}", "['d',0,0,2,0,0,'<none>','<unknown>']" },
	{ "", "Event", "{'metadata':{'name':'e'},'involvedObject':{'kind':'Pod','name':'p'},'type':'Normal','reason':'r',"
		"'message':'m','lastTimestamp':'2026-11-21T05:23:55Z'}", "['e','5s','Normal','r','pod/p','m']" },
	{ "", "LimitRange", "{'metadata':{'name':'l'}}", "['l','<unknown>']" },
};

static void test_builtin(struct pool *pool)
{
	const struct definition_details details = { .columns = NULL };
	struct buf out = buf_new(pool, 0);

	for (size_t i = 0; i < COUNT_OF(builtin); i++) {
		const struct type_parts *parts = type_parts_by_kind(str_c(builtin[i].group), str_c(builtin[i].kind));
		const struct type type = { .group = str_c(builtin[i].group), .builtin = true, .parts = parts };
		const struct definition definition = { .type = &type, .kind = str_c(builtin[i].kind), .builtin = true };
		out.n = 0;
		table_add_row(pool, table_columns_for(pool, &definition, &details), parsed_quoted(pool, builtin[i].object),
			TABLE_NONE,
			NOW * 1000000LL, &out);
		is_str(quoted(pool, &out), str_cstr(pool, str_printf(pool, "{'cells':%s}", builtin[i].cells)), "%s",
			builtin[i].object);
	}
}

// The last of three columns has nothing left to look with.
static void test_hostile(struct pool *pool)
{
	static const struct definition_column columns[] = {
		{ .name = STR_INIT("A"), .type = STR_INIT("string"), .path = STR_INIT(".spec.a") },
		{ .name = STR_INIT("All"), .type = STR_INIT("string"), .path = STR_INIT("..*..*..none") },
		{ .name = STR_INIT("B"), .type = STR_INIT("string"), .path = STR_INIT(".spec.a") },
	};
	const struct definition_details details = { .columns = columns, .n_columns = 3 };
	const struct type type = { .group = STR_INIT("example.com"), .plural = STR_INIT("widgets") };
	const struct definition definition = { .type = &type, .kind = STR_INIT("Widget") };
	struct doc *object = parsed_quoted(pool, "{'metadata':{'name':'w'},'spec':{'a':'x'}}"), *list = doc_new_array(pool);
	struct buf out = buf_new(pool, 0);

	for (int i = 0; i < TABLE_LOOKS; i++)
		doc_push(list, doc_new_i64(pool, i));
	doc_set(object, STR("list"), list);
	table_add_row(pool, table_columns_for(pool, &definition, &details), object, TABLE_NONE, 0, &out);
	is_str(quoted(pool, &out), "{'cells':['w','x',null,null]}", "a row's paths share what they may look at");
}

int main(void)
{
	struct pool *pool = pool_new();

	test_ages(pool);
	test_custom(pool);
	test_builtin(pool);
	test_hostile(pool);
	pool_free(&pool);
	return done_testing();
}
