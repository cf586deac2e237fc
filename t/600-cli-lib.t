#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# libtenure as a program sees it: its names, its example built against both forms, and 200 increments by 8 clients.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use File::Temp qw(tempdir);
use Test::More;

use Tenure::Instance;
use Tenure::Run qw(run);

my $build = Tenure::Instance::build_dir();
plan skip_all => 'libtenure is not built' if !defined $build || !-e "$build/build/libtenure.so.1";
my $top  = Tenure::Instance::source_dir();
my $work = tempdir('tenure-lib-XXXXXX', TMPDIR => 1, CLEANUP => 1);


# ---- names

my $header = Tenure::Instance::read_file("$top/include/tenure/tenure.h");
my @declared = sort $header =~ /^TENURE_API .*?\b(tenure_\w+)\(/mg;
cmp_ok scalar @declared, '>', 30, 'the header declares functions';
my ($code, $text) = run('nm', '-D', '--defined-only', "$build/build/libtenure.so.1");
my @shared = grep { !/^_|^__asan|^__odr|^TENURE_1$/ } map { /^\S+ [A-Z] (\S+)/ ? $1 : () } split /\n/, $text;
is_deeply [sort map { s/\@.*//r } @shared], \@declared, 'the shared library has these and no other names';
is_deeply [grep { !/\@\@TENURE_1$/ } @shared], [], 'each with its version';
($code, $text) = run('nm', '-g', '--defined-only', "$build/build/libtenure.a");
is_deeply [sort map { /^\S+ [A-Z] ([^_]\S*)/ ? $1 : () } split /\n/, $text], \@declared, 'and so has the static one';
($code, $text) = run('readelf', '-d', "$build/build/libtenure.so.1");
like $text, qr/SONAME.*\[libtenure\.so\.1\]/, 'its soname';
unlike $header, qr/xmlNode|libxml|curl\.h/, 'no other library shows in the header';
my $manual = Tenure::Instance::read_file("$top/doc/man/libtenure.3");
my @untold = grep { $manual !~ /\.Fn \Q$_\E\b/ } @declared;
is_deeply \@untold, [], 'libtenure(3) names all functions';
my ($statuses) = $header =~ /^enum tenure_status \{\n(.*?)^\};/ms;
is_deeply [$manual =~ /^\.It Dv (TENURE_(?!ETAG_)\w+)$/mg], [$statuses =~ /^\t(TENURE_\w+) = \d+,/mg], '... and all statuses, in their order';

my $pc = Tenure::Instance::read_file("$build/build/tenure.pc");
like $pc, qr/^Libs: -L\S+ -ltenure$/m, 'tenure.pc';
unlike $pc, qr/@/, 'is filled in';

# ---- the example

my $sanitized = do { my ($status, $names) = run('nm', '-D', "$build/build/libtenure.so.1"); $names =~ /__asan/ };
my @compile = ('cc', '-std=c17', '-Wall', '-Wextra', '-Wpedantic', '-Werror', ($sanitized ? '-fsanitize=address,undefined' : ()),
    "-I$top/include", "$top/doc/examples/libtenure-example.c");
($code, $text) = run(@compile, '-o', "$work/shared", "-L$build/build", '-ltenure', "-Wl,-rpath,$build/build");
is $code, 0, 'the example compiles with the shared library' or diag $text;
($code, $text) = run(@compile, '-o', "$work/static", "$build/build/libtenure.a", '-lcurl');
is $code, 0, 'and with the static one' or diag $text;
if (Tenure::Instance::on_path('g++') && !$sanitized) {
    Tenure::Instance::write_file("$work/t.cc", <<'CC');
#include <tenure/tenure.h>
int main() { tenure_resource *r = nullptr; return r == nullptr || tenure_resource_delete(r, TENURE_ETAG_CURRENT) ? 0 : 1; }
CC
    ($code, $text) = run('g++', '-Wall', '-Werror', "-I$top/include", '-c', '-o', "$work/t.o", "$work/t.cc");
    is $code, 0, 'the header is good for C++' or diag $text;
}

my $instance = Tenure::Instance->start(workers => 4);
my $admin    = $instance->admin;
$admin->make_tenant('t1');
$admin->make_tenant('t2');
my $url = $instance->env('TENURE_ADMIN_URL');
local $ENV{TENURE_TOKEN} = $instance->operator_token;

sub count { return $admin->get("/v2.0/t1/namespaces/default/configmaps/$_[0]")->json->{count} }

my @pids;
for my $i (1 .. 8) {
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        my ($status, $said) = run($i % 2 ? "$work/shared" : "$work/static", $url, 't1', 'counter', 25);
        print STDERR "# $said" if $status != 0;
        POSIX::_exit($status);
    }
    push @pids, $pid;
}
is_deeply [map { waitpid $_, 0; $? } @pids], [(0) x 8], 'eight clients count to 25 at the same time';
is count('counter'), 200, 'and none of the 200 is lost';

# ---- what it tells when it can't

($code, $text) = run("$work/shared", $url, 'nobody', 'counter', 1);
is $code, 1, 'no such tenant';
like $text, qr/^there is no such thing: /, 'with the reason';
($code, $text) = run("$work/shared", 'http://127.0.0.1:1', 't1', 'counter', 1);
like $text, qr/not available.*127\.0\.0\.1/, 'no such service';
($code, $text) = run("$work/shared", 'gopher://x', 't1', 'counter', 1);
is $code, 1, 'no URL';

# ---- the rest of it: a program that goes through every kind of call

Tenure::Instance::write_file("$work/all.c", <<'C');
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenure/tenure.h>

static const char *url;
static int n;
static void check(int good, const char *what) { printf("%sok %d - %s\n", good ? "" : "not ", ++n, what); }

static void resources(struct tenure_client *c)
{
	struct tenure_resource *a = tenure_resource_new(c, "t1", "default", "configmaps", "a b\xc3\xa9"), *b;
	char *old;
	check(tenure_resource_update(a, "{}", 2, TENURE_ETAG_CURRENT) == TENURE_INVALID, "no etag before a read");
	check(tenure_resource_get(a) == TENURE_NOT_FOUND && tenure_error_http(c) == 404, "not there");
	check(strcmp(tenure_error_member(c, "type"), "urn:tenure:problem:not-found") == 0, "the problem's type");
	check(tenure_error_member(c, "nothing") == NULL, "a member that is not there");
	check(tenure_resource_put(a, "{\"x\":1}", 7, TENURE_ETAG_NEW) == TENURE_OK, "made");
	check(tenure_resource_put(a, "{\"x\":1}", 7, TENURE_ETAG_NEW) == TENURE_STALE, "only once");
	check(tenure_resource_etag(a) != NULL && strstr(tenure_resource_document(a, NULL), "\"x\":1") != NULL, "still held");
	old = strdup(tenure_resource_etag(a));
	check(tenure_resource_update(a, "{\"x\":2}", 7, TENURE_ETAG_CURRENT) == TENURE_OK, "changed");
	check(strcmp(old, tenure_resource_etag(a)) != 0, "another etag is held");
	check(tenure_resource_update(a, "{\"x\":3}", 7, TENURE_ETAG_CURRENT) == TENURE_OK, "changed again without a read");
	check(tenure_resource_update(a, "{\"x\":4}", 7, TENURE_ETAG_TEXT(old)) == TENURE_STALE, "not by the old etag");
	check(tenure_resource_update(a, "{\"x\":4}", 7, TENURE_ETAG_TEXT("a\nb")) == TENURE_INVALID, "nor by what is none");
	check(tenure_resource_update(a, "{\"x\"", 4, TENURE_ETAG_NONE) == TENURE_REFUSED, "what is no JSON");
	b = tenure_resource_new(c, "t1", "default", "configmaps", "a b\xc3\xa9");
	check(tenure_resource_set_etag(b, tenure_resource_etag(a)) == TENURE_OK, "an etag remembered");
	check(tenure_resource_delete(b, TENURE_ETAG_CURRENT) == TENURE_OK, "deletes");
	check(tenure_resource_get(a) == TENURE_GONE && tenure_error_member(c, "purge_at") != NULL, "gone for now");
	check(tenure_resource_recover(a, NULL, TENURE_ETAG_TEXT("W/\"00\"")) == TENURE_STALE, "not as what it was not");
	check(tenure_resource_recover(a, NULL, TENURE_ETAG_CURRENT) == TENURE_OK && tenure_resource_get(a) == TENURE_OK,
		"and back, as it was");
	check(tenure_resource_new(c, "t1", NULL, "configmaps", "..") == NULL, "an address that can't be");
	free(old);
	tenure_resource_free(&a);
	tenure_resource_free(&b);
	check(a == NULL, "freed");
}

static void tenants(struct tenure_client *c)
{
	struct tenure_resource *t = tenure_tenant_new(c, "t1"), *item;
	struct tenure_list *list = tenure_list_tenants(c, TENURE_LIST_LIVE);
	enum tenure_status status;
	int found = 0;
	check(tenure_resource_update(t, "{}", 2, TENURE_ETAG_NONE) == TENURE_INVALID, "a tenant is read first");
	check(tenure_resource_get(t) == TENURE_OK, "a tenant");
	const char *patch = "{\"tenant\":{\"metadata\":{\"a\":\"1\"}}}";
	check(tenure_resource_update(t, patch, strlen(patch), TENURE_ETAG_CURRENT) == TENURE_OK, "changed in part");
	check(strstr(tenure_resource_document(t, NULL), "\"a\":\"1\"") != NULL, "as told");
	patch = "{\"tenant\":{\"etag_required\":true}}";
	check(tenure_resource_update(t, patch, strlen(patch), TENURE_ETAG_CURRENT) == TENURE_OK, "etags required");
	patch = "{\"tenant\":{\"tier\":null}}";
	check(tenure_resource_update(t, patch, strlen(patch), TENURE_ETAG_CURRENT) == TENURE_REFUSED, "no tenant is without a tier");
	patch = "{\"tenant\":{\"metadata\":null,\"etag_required\":null}}";
	check(tenure_resource_update(t, patch, strlen(patch), TENURE_ETAG_CURRENT) == TENURE_OK, "members removed");
	check(tenure_resource_get(t) == TENURE_OK && strstr(tenure_resource_document(t, NULL), "\"a\":\"1\"") == NULL, "the metadata is");
	check(strstr(tenure_resource_document(t, NULL), "\"etag_required\":true") == NULL, "etag_required is");
	tenure_list_set_page(list, 1);
	while ((status = tenure_list_next(list, &item)) == TENURE_OK) {
		found++;
		check(tenure_resource_etag(item) != NULL, "an item has its etag");
		tenure_resource_free(&item);
	}
	check(status == TENURE_END && found == 2, "all pages");
	check(tenure_list_next(list, &item) == TENURE_END && item == NULL, "the end stays the end");
	tenure_list_free(&list);
	tenure_resource_free(&t);
}

static void lists(struct tenure_client *c)
{
	struct tenure_list *list = tenure_list_resources(c, "t1", NULL, "configmaps", TENURE_LIST_LIVE);
	struct tenure_resource *item;
	int found = 0;
	tenure_list_set_page(list, 1);
	while (tenure_list_next(list, &item) == TENURE_OK) {
		found++;
		check(tenure_resource_update(item, "{\"seen\":true}", 13, TENURE_ETAG_CURRENT) == TENURE_OK,
			tenure_resource_path(item));
		tenure_resource_free(&item);
	}
	check(found == 2, "each item, changed by the etag that the list told");
	tenure_list_free(&list);
}

static void moves(struct tenure_client *c)
{
	struct tenure_resource *r = tenure_resource_new(c, "t1", "default", "configmaps", "counter");
	struct tenure_move *one = tenure_move_resource(r, "t2"), *all = tenure_move_all(c, "t1", "t2"), *known;
	const char *reason = NULL;
	enum tenure_status status;
	check(tenure_move_run(one, TENURE_ETAG_CURRENT, TENURE_MOVE_NOW) == TENURE_INVALID, "no etag before a preview");
	check(tenure_move_preview(one) == TENURE_OK && tenure_move_size(one) == 1, "a preview");
	check(tenure_move_blockers(one) == 0 && !tenure_move_blocker(one, 0, NULL, NULL, NULL), "nothing in the way");
	tenure_resource_update(r, "{\"count\":201}", 13, TENURE_ETAG_NONE);
	check(tenure_move_run(one, TENURE_ETAG_CURRENT, TENURE_MOVE_NOW) == TENURE_STALE, "not after a change");
	tenure_resource_update(r, "{\"metadata\":{\"locked\":true}}", 28, TENURE_ETAG_NONE);
	check(tenure_move_preview(one) == TENURE_OK && tenure_move_blockers(one) == 1 &&
		tenure_move_blocker(one, 0, NULL, &reason, NULL) && strcmp(reason, "locked") == 0, "blocked");
	check(tenure_move_run(one, TENURE_ETAG_CURRENT, TENURE_MOVE_NOW) == TENURE_BLOCKED, "stays blocked");
	tenure_resource_update(r, "{\"metadata\":{\"locked\":false}}", 29, TENURE_ETAG_NONE);
	check(tenure_move_preview(one) == TENURE_OK, "another preview");
	check(tenure_move_run(one, TENURE_ETAG_CURRENT, TENURE_MOVE_NOW) == TENURE_OK, "moved");
	check(strstr(tenure_move_location(one), "/t2/") != NULL, "to where it is now");
	check(tenure_resource_get(r) == TENURE_MOVED && strstr(tenure_error_location(c), "/t2/") != NULL, "as the old address says");
	check(tenure_move_run(all, TENURE_ETAG_NONE, TENURE_MOVE_BACKGROUND) == TENURE_PENDING, "in the background");
	known = tenure_move_known(c, "t1", tenure_move_id(all));
	while ((status = tenure_move_poll(known)) == TENURE_PENDING)
		;
	check(status == TENURE_OK && strstr(tenure_move_location(known), "/t2") != NULL, "until it is done");
	tenure_move_free(&one);
	tenure_move_free(&all);
	tenure_move_free(&known);
	tenure_resource_free(&r);
}

static void metal(struct tenure_client *c)
{
	struct tenure_resource *node = tenure_metal_new(c, "nodes", NULL), *port = tenure_metal_new(c, "ports", NULL), *item;
	struct tenure_list *list = tenure_list_metal(c, "nodes");
	const char *traits[] = { "CUSTOM_A", "CUSTOM_B" };
	char text[256], *old;
	const char *body = "{\"driver\":\"fake-hardware\",\"name\":\"n1\",\"extra\":{\"a\":1,\"b\":{\"c\":2}}}";
	check(tenure_resource_create(node, body, strlen(body)) == TENURE_OK, "a node");
	check(strlen(tenure_resource_path(node)) == strlen("/baremetal/v1/nodes/") + 36 && tenure_resource_etag(node) != NULL,
		"with its address and etag");
	snprintf(text, sizeof(text), "{\"node_uuid\":\"%s\",\"address\":\"52:54:00:00:00:01\"}",
		strrchr(tenure_resource_path(node), '/') + 1);
	check(tenure_resource_create(port, text, strlen(text)) == TENURE_OK, "its port");
	body = "{\"extra\":{\"a\":null,\"b\":{\"d\":3}},\"description\":\"x\"}";
	old = strdup(tenure_resource_etag(node));
	check(tenure_resource_update(node, body, strlen(body), TENURE_ETAG_CURRENT) == TENURE_OK, "a merge patch");
	check(strstr(tenure_resource_document(node, NULL), "\"extra\":{\"b\":{\"c\":2,\"d\":3}}") != NULL, "is merged");
	check(tenure_resource_update(node, body, strlen(body), TENURE_ETAG_TEXT(old)) == TENURE_STALE, "not by the old etag");
	check(tenure_error_member(c, "changed_by") != NULL && strstr(tenure_error_text(c), "error_message") == NULL, "told why");
	body = "[{\"op\":\"add\",\"path\":\"/extra/e\",\"value\":[1]}]";
	check(tenure_resource_patch(node, body, strlen(body), TENURE_ETAG_CURRENT) == TENURE_OK, "a JSON Patch");
	check(tenure_node_set_traits(node, traits, 2, TENURE_ETAG_CURRENT) == TENURE_OK, "traits");
	check(tenure_resource_document(node, NULL) == NULL, "no document then");
	check(tenure_node_remove_trait(node, "CUSTOM_A", TENURE_ETAG_CURRENT) == TENURE_OK, "but the etag");
	check(tenure_node_add_trait(node, "CUSTOM_C", TENURE_ETAG_CURRENT) == TENURE_OK, "each time");
	check(tenure_node_set_maintenance(node, true, "fan", TENURE_ETAG_CURRENT) == TENURE_OK, "maintenance");
	check(tenure_resource_update(node, "{}", 2, TENURE_ETAG_CURRENT) == TENURE_INVALID, "a read is due");
	check(tenure_list_filter(list, "fields", "name") && !tenure_list_filter(list, "x", NULL), "some members only");
	check(tenure_list_next(list, &item) == TENURE_OK && tenure_resource_update(item, "{}", 2, TENURE_ETAG_NONE) ==
		TENURE_INVALID && tenure_resource_get(item) == TENURE_OK, "are read before they are changed");
	tenure_resource_free(&item);
	tenure_list_free(&list);
	list = tenure_list_metal(c, "nodes");
	check(tenure_list_filter(list, "maintenance", "true") && tenure_list_next(list, &item) == TENURE_OK, "listed");
	check(strstr(tenure_resource_document(item, NULL), "\"traits\":[\"CUSTOM_B\",\"CUSTOM_C\"]") != NULL, "as it is");
	check(tenure_resource_update(item, "{\"extra\":{\"f\":1}}", 17, TENURE_ETAG_CURRENT) == TENURE_OK, "changed from there");
	tenure_resource_free(&item);
	check(tenure_list_next(list, &item) == TENURE_END, "the only one");
	tenure_list_free(&list);
	check(tenure_resource_delete(node, TENURE_ETAG_CURRENT) == TENURE_STALE && tenure_resource_get(node) == TENURE_OK &&
		tenure_resource_delete(node, TENURE_ETAG_CURRENT) == TENURE_OK, "deleted as it is now");
	check(tenure_resource_get(port) == TENURE_NOT_FOUND, "with its port");
	free(old);
	tenure_resource_free(&node);
	tenure_resource_free(&port);
}

static void *one_thread(void *arg)
{
	struct tenure_client *c = tenure_client_new(url, getenv("TENURE_TOKEN"));
	struct tenure_resource *r = tenure_resource_new(c, "t1", "default", "secrets", arg);
	intptr_t failed = tenure_resource_put(r, "{}", 2, TENURE_ETAG_NEW) != TENURE_OK;
	char patch[32];
	for (int i = 0; i < 5; i++) {
		snprintf(patch, sizeof(patch), "{\"k%d\":%d}", i, i);
		failed += tenure_resource_update(r, patch, strlen(patch), TENURE_ETAG_CURRENT) != TENURE_OK;
		failed += tenure_resource_get(r) != TENURE_OK || strstr(tenure_resource_document(r, NULL), patch + 1) == NULL;
	}
	tenure_resource_free(&r);
	tenure_client_free(&c);
	return (void *)failed;
}

static void threads(void)
{
	static char names[4][3] = { "s0", "s1", "s2", "s3" };
	pthread_t ids[4];
	intptr_t failed = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, one_thread, names[i]);
	for (int i = 0; i < 4; i++) {
		void *result;
		pthread_join(ids[i], &result);
		failed += (intptr_t)result;
	}
	check(failed == 0, "four threads, a client each");
}

int main(int argc, char **argv)
{
	url = argc == 2 ? argv[1] : "";
	threads();
	struct tenure_client *c = tenure_client_new(url, getenv("TENURE_TOKEN"));
	resources(c);
	tenants(c);
	lists(c);
	moves(c);
	metal(c);
	tenure_client_free(&c);
	printf("1..%d\n", n);
	return 0;
}
C
$compile[-1] = "$work/all.c";
my @gnu = map { $_ eq '-std=c17' ? '-std=gnu17' : $_ } @compile;
($code, $text) = run(@gnu, '-o', "$work/all", "-L$build/build", '-ltenure', "-Wl,-rpath,$build/build");
is $code, 0, 'a program compiles' or diag $text;
my @checked = (!$sanitized && Tenure::Instance::on_path('valgrind'))
    ? qw(valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite) : ();
($code, $text) = run(@checked, "$work/all", $url);
is $code, 0, 'it runs, without an error of memory' or diag $text;
ok $1 eq 'ok', $2 while $text =~ /^(ok|not ok) \d+ - (.*)$/mg;
like $text, qr/^1\.\.\d+$/m, 'to its end' or diag $text;

done_testing;
