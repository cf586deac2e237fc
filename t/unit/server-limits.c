// SPDX-License-Identifier: Apache-2.0
// What one client may take of a host: requests in progress, wrong tokens, watches; counted over processes that come, go and
// are killed.
#include "base/base.h"

#include <glob.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/request/limits.h"
#include "server/setup/host.h"
#include "server/setup/settings.h"
#include "set.h"
#include "settings/settings.h"
#include "tap.h"

enum { WORKERS = 5, RESERVE = 1 };

static char dir[] = "/tmp/tenure-limits-XXXXXX";
static struct config *config;
static const struct endpoint_config *service, *admin;

static const struct endpoint_config *add_endpoint(const char *name)
{
	const struct endpoint_config *endpoint = config_add_endpoint(config, str_c(name));

	SET_ENDPOINT(endpoint, server_endpoint)->reserve = RESERVE;
	SET_ENDPOINT(endpoint, server_endpoint)->watches = 20;
	return endpoint;
}

static struct principal user_of(const char *user, const char *tenant)
{
	return (struct principal){ .user = str_c(user), .tenant = str_c(tenant), .role = ROLE_MEMBER };
}

static struct shared *share(void)
{
	struct shared *shared = host_shared_open(config);

	if (shared == NULL || !shared_is_file(shared))
		abort();
	return shared;
}

struct worker {
	pid_t pid;
	int done;    // closed when it has entered or was refused; reads '+' or '-'
	int release; // written to, it leaves
};

// A worker of its own process, started by whomever, that takes one request and keeps it.
static struct worker begin(const struct endpoint_config *endpoint, const char *user, const char *tenant)
{
	struct worker worker;
	int done[2], release[2];
	char byte;

	if (pipe(done) != 0 || pipe(release) != 0)
		abort();
	worker.pid = fork();
	if (worker.pid == 0) {
		struct principal who = user_of(user, tenant);
		struct limits_refusal refusal;
		close(release[1]);
		struct shared *shared = share();
		struct limits *limits = limits_new(config, endpoint, shared, WORKERS);
		bool entered = limits_enter(limits, &who, STR("10.0.0.1"), &refusal);
		if (write(done[1], entered ? "+" : "-", 1) != 1)
			_exit(1);
		ssize_t n = read(release[0], &byte, 1);
		UNUSED(n);
		limits_leave(limits);
		if (write(done[1], ".", 1) != 1)
			_exit(1);
		while (read(release[0], &byte, 1) > 0 && byte != 'x')
			;
		limits_free(&limits);
		shared_close(&shared);
		_exit(0);
	}
	close(done[1]);
	close(release[0]);
	worker.done = done[0];
	worker.release = release[1];
	return worker;
}

static char hear(const struct worker *worker)
{
	char byte = '?';
	ssize_t n = read(worker->done, &byte, 1);

	UNUSED(n);
	return byte;
}

static void end(struct worker *worker, bool killed)
{
	// Not by closing the pipe: later workers have a copy of its end.
	ssize_t n = killed ? 0 : write(worker->release, "xx", 2);
	UNUSED(n);
	if (killed)
		(void)kill(worker->pid, SIGKILL);
	close(worker->release);
	close(worker->done);
	(void)waitpid(worker->pid, NULL, 0);
}

static void let_go(const struct worker *worker)
{
	if (write(worker->release, "x", 1) != 1)
		abort();
	(void)hear(worker);
}

static void test_shares(void)
{
	struct worker workers[WORKERS];
	struct shared *shared = share();
	struct limits *limits = limits_new(config, service, shared, WORKERS);
	struct principal same = user_of("eve", "greedy"), other = user_of("ann", "modest"), colleague = user_of("bob", "greedy");
	struct principal nobody = { .role = ROLE_NONE };
	struct limits_refusal refusal = { .retry_s = 0 };
	unsigned n = 0;

	for (unsigned i = 0; i < WORKERS - RESERVE; i++) {
		workers[i] = begin(service, "eve", "greedy");
		n += hear(&workers[i]) == '+';
	}
	is_int(n, WORKERS - RESERVE, "one tenant has all workers but the reserve");
	ok(!limits_enter(limits, &same, STR("10.0.0.1"), &refusal), "and no more");
	limits_leave(limits);
	is_int(refusal.retry_s, 1, "it may ask again in a second");
	ok(refusal.what != NULL && strstr(refusal.what, "tenant") != NULL, "it is told why: %s", refusal.what);
	ok(!limits_enter(limits, &colleague, STR("10.0.0.1"), &refusal), "nor a colleague");
	limits_leave(limits);
	ok(limits_enter(limits, &other, STR("10.0.0.1"), &refusal), "another tenant finds a worker");
	limits_leave(limits);
	ok(limits_enter(limits, &nobody, STR("10.0.0.1"), &refusal), "so does nobody");
	limits_leave(limits);
	struct worker else_where = begin(admin, "eve", "greedy");
	ok(hear(&else_where) == '+', "at another endpoint the tenant has its share of that");
	end(&else_where, false);

	let_go(&workers[0]);
	ok(limits_enter(limits, &same, STR("10.0.0.1"), &refusal), "one has ended: another begins");
	limits_leave(limits);

	// One worker is killed in the middle of its request, and does not count once that is known.
	end(&workers[1], true);
	workers[0] = (end(&workers[0], false), begin(service, "eve", "greedy"));
	ok(hear(&workers[0]) == '+', "a worker that is started anew");
	(void)usleep(1100000);
	limits_tick(limits);
	ok(limits_enter(limits, &same, STR("10.0.0.1"), &refusal), "one that was killed counts no more after a second");
	limits_leave(limits);
	for (unsigned i = 0; i < WORKERS - RESERVE; i++) {
		if (i != 1)
			end(&workers[i], i % 2 == 0);
	}
	(void)usleep(1100000);
	limits_free(&limits);
	shared_close(&shared);
}

// Short requests of one tenant, from more workers than it may keep busy: they take turns, and none is refused.
static void test_turns(void)
{
	enum { EACH = 3000 };
	pid_t pids[WORKERS];
	int refused = 0;

	for (unsigned i = 0; i < WORKERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			struct principal who = user_of("eve", "busy");
			struct limits_refusal refusal;
			struct limits *limits = limits_new(config, service, share(), WORKERS);
			int n = 0;
			for (unsigned request = 0; request < EACH; request++) {
				n += !limits_enter(limits, &who, STR("10.0.0.1"), &refusal);
				limits_leave(limits);
			}
			_exit(n > 100 ? 100 : n);
		}
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		int status;
		(void)waitpid(pids[i], &status, 0);
		refused += WEXITSTATUS(status);
	}
	is_int(refused, 0, "%d short requests at once: none is refused", WORKERS * EACH);
	(void)usleep(1100000);
}

static void test_configured(void)
{
	struct worker first = begin(service, "eve", "greedy");
	struct shared *shared = share();
	struct limits *limits = limits_new(config, service, shared, WORKERS);
	struct principal same = user_of("eve", "greedy"), colleague = user_of("bob", "greedy"), namesake = user_of("eve",
		"modest");
	struct limits_refusal refusal = { .retry_s = 0 };

	(void)hear(&first);
	SET(config, server)->user_requests = 1;
	ok(!limits_enter(limits, &same, STR("10.0.0.1"), &refusal), "user_requests");
	limits_leave(limits);
	ok(limits_enter(limits, &colleague, STR("10.0.0.1"), &refusal), "is of one user");
	limits_leave(limits);
	ok(limits_enter(limits, &namesake, STR("10.0.0.1"), &refusal), "of one tenant: another has a user of that name");
	limits_leave(limits);
	SET(config, server)->tenant_requests = 1;
	ok(!limits_enter(limits, &colleague, STR("10.0.0.1"), &refusal), "tenant_requests of all");
	limits_leave(limits);
	SET(config, server)->user_requests = SET(config, server)->tenant_requests = 0;
	ok(limits_enter(limits, &same, STR("10.0.0.1"), &refusal), "0: only the reserve");
	limits_leave(limits);

	// A name that contains the border between two others.
	struct principal a = user_of("b", "xa"), b = user_of("ab", "x");
	SET(config, server)->user_requests = 1;
	ok(limits_enter(limits, &a, STR(""), &refusal), "one");
	struct worker two = begin(service, "ab", "x");
	ok(hear(&two) == '+', "names that look the same side by side are different");
	UNUSED(b);
	limits_leave(limits);
	SET(config, server)->user_requests = 0;
	end(&two, false);
	end(&first, false);
	limits_free(&limits);
	shared_close(&shared);
}

static void fail_often(struct limits *limits, struct str address, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		limits_was_wrong(limits, address);
}

static void test_wrong_tokens(void)
{
	struct shared *shared = share();
	struct limits *limits = limits_new(config, service, shared, WORKERS);
	struct limits_refusal refusal = { .retry_s = 0 };

	SET(config, server)->wrong_tokens = 5;
	// A minute that ends meanwhile would let the count begin anew. Under valgrind, on a busy machine, all of it takes
	// seconds.
	while (clock_tick_us() / 1000000 % LIMITS_WINDOW_S > LIMITS_WINDOW_S - 30)
		(void)usleep(100000);
	limits_was_right(limits, STR("good"));
	fail_often(limits, STR("10.1.1.1"), 4);
	ok(limits_may_try(limits, STR("10.1.1.1"), STR("guess"), &refusal), "four of five");
	limits_was_wrong(limits, STR("10.1.1.1"));
	ok(!limits_may_try(limits, STR("10.1.1.1"), STR("guess"), &refusal), "five of five");
	ok(refusal.retry_s >= 1 && refusal.retry_s <= LIMITS_WINDOW_S, "it may try again within the minute: %u", refusal.retry_s);
	ok(limits_may_try(limits, STR("10.1.1.2"), STR("guess"), &refusal), "another address");
	ok(limits_may_try(limits, STR("10.1.1.1"), STR(""), &refusal), "without a token");
	ok(limits_may_try(limits, STR("10.1.1.1"), STR("good"), &refusal), "a token that was right");
	ok(!limits_may_try(limits, STR("10.1.1.1"), STR("goods"), &refusal), "and no other");

	fail_often(limits, STR("2001:db8:1:2:3:4:5:6"), 5);
	ok(!limits_may_try(limits, STR("2001:db8:1:2::99"), STR("guess"), &refusal), "an address of the same 64 bits");
	ok(limits_may_try(limits, STR("2001:db8:1:3::99"), STR("guess"), &refusal), "of others");

	// As a web server reports them that listens for IPv6 and IPv4 on one socket.
	fail_often(limits, STR("::ffff:10.1.3.1"), 5);
	ok(!limits_may_try(limits, STR("::ffff:10.1.3.1"), STR("guess"), &refusal), "an IPv4 address in IPv6");
	ok(!limits_may_try(limits, STR("::FFFF:0a01:0301"), STR("guess"), &refusal), "in another spelling");
	ok(!limits_may_try(limits, STR("10.1.3.1"), STR("guess"), &refusal), "as it is");
	ok(limits_may_try(limits, STR("::ffff:10.1.3.2"), STR("guess"), &refusal), "another one");
	ok(limits_may_try(limits, STR("::1"), STR("guess"), &refusal), "nor an address that begins with as many zeros");

	// Tokens of Keystone and JWTs may be long.
	static char longs[2][4000];
	memset(longs, 'a', sizeof(longs));
	longs[1][3999] = 'b';
	limits_was_right(limits, str_n(longs[0], 4000));
	ok(limits_may_try(limits, STR("10.1.1.1"), str_n(longs[0], 4000), &refusal), "a long token that was right");
	ok(!limits_may_try(limits, STR("10.1.1.1"), str_n(longs[1], 4000), &refusal), "and none that ends otherwise");

	// Many addresses: the table stays as it is, and who fails most is not forgotten for those who fail once.
	fail_often(limits, STR("10.9.9.9"), 50);
	for (unsigned i = 0; i < 20000; i++) {
		char text[32];
		(void)snprintf(text, sizeof(text), "10.2.%u.%u", i >> 8, i & 255);
		limits_was_wrong(limits, str_c(text));
	}
	ok(!limits_may_try(limits, STR("10.9.9.9"), STR("guess"), &refusal), "is kept among 20,000 others");
	SET(config, server)->wrong_tokens = 0;
	ok(limits_may_try(limits, STR("10.9.9.9"), STR("guess"), &refusal), "0: no limit");
	limits_free(&limits);
	shared_close(&shared);
}

static bool watch(struct limits *limits, const struct principal *who, const char *token, struct limits_watch *watch)
{
	struct limits_refusal refusal;

	return limits_watch_begin(limits, who, str_c(token), watch, &refusal);
}

static void test_watches(void)
{
	struct shared *shared = share(), *shared2 = share();
	struct limits *worker = limits_new(config, service, shared, WORKERS);
	struct principal who = user_of("eve", "greedy"), other = user_of("ann", "modest");
	struct principal operator = { .user = STR("root"), .tenant = STR(""), .role = ROLE_OPERATOR };
	struct limits_watch watches[32], more;
	unsigned n = 0;

	SET(config, server)->watches_per_token = 3;
	SET(config, server)->watches_per_tenant = 5;
	for (unsigned i = 0; i < 3; i++)
		n += watch(worker, &who, "one", &watches[i]);
	is_int(n, 3, "three of a token");
	ok(!watch(worker, &who, "one", &more), "and no fourth");
	ok(watch(worker, &who, "two", &watches[3]) && watch(worker, &who, "three", &watches[4]), "others of its tenant");
	ok(!watch(worker, &who, "four", &more), "up to five");
	ok(watch(worker, &other, "five", &more), "another tenant");
	for (unsigned i = 0; i < 5; i++)
		ok(limits_watch_is_suspect(worker, &watches[i]) && !limits_watch_is_suspect(worker, &watches[i]),
			"watch %u of the tenant that was refused is suspected, once", i);
	ok(!limits_watch_is_suspect(worker, &more), "and none of another");
	SET(config, server)->watches_per_tenant = 0;
	(void)watch(worker, &who, "one", &watches[5]);
	SET(config, server)->watches_per_tenant = 5;
	ok(limits_watch_is_suspect(worker, &watches[2]) && !limits_watch_is_suspect(worker, &watches[3]),
		"of the token that has too many, those of the token");
	limits_watch_end(worker, &more);
	limits_watch_end(worker, &watches[4]);
	ok(watch(worker, &who, "four", &watches[4]), "one has ended: another begins");

	// The watch process takes them over, and is killed.
	int ready[2];
	char byte;
	if (pipe(ready) != 0)
		abort();
	pid_t pid = fork();
	if (pid == 0) {
		struct limits *taker = limits_new(config, service, share(), 0);
		for (unsigned i = 0; i < 5; i++)
			limits_watch_take(taker, &watches[i]);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ssize_t got = read(ready[0], &byte, 1);
	UNUSED(got);
	limits_watch_end(worker, &watches[0]);
	ok(!watch(worker, &who, "one", &more), "what was taken over is not the worker's to end");
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)usleep(1100000);
	limits_tick(worker);
	for (n = 0; n < 3; n++) {
		if (!watch(worker, &who, "one", &watches[n]))
			break;
	}
	is_int(n, 3, "what a killed process had counts no more");
	for (unsigned i = 0; i < 3; i++)
		limits_watch_end(worker, &watches[i]);

	SET(config, server)->watches_per_token = SET(config, server)->watches_per_tenant = 0;
	for (n = 0; n < 32; n++) {
		if (!watch(worker, &who, "one", &watches[n]))
			break;
	}
	is_int(n, 18, "of the endpoint's twenty, all but two");
	ok(watch(worker, &operator, "op", &watches[18]) && watch(worker, &operator, "op", &watches[19]), "operators have these");
	ok(!watch(worker, &operator, "op", &more), "and no more");
	limits_free(&worker);
	shared_close(&shared);
	shared_close(&shared2);
}

static void test_without(void)
{
	struct principal who = user_of("eve", "greedy");
	struct limits *limits = limits_new(config, service, NULL, 1);
	struct limits_refusal refusal;
	struct limits_watch counted;

	ok(limits_enter(limits, &who, STR(""), &refusal), "without memory to share everything passes");
	limits_leave(limits);
	ok(limits_may_try(limits, STR(""), STR("x"), &refusal), "tokens");
	limits_was_wrong(limits, STR(""));
	limits_was_right(limits, STR("x"));
	ok(limits_watch_begin(limits, &who, STR("x"), &counted, &refusal), "watches");
	limits_watch_take(limits, &counted);
	limits_watch_end(limits, &counted);
	limits_tick(limits);
	limits_free(&limits);
}

int main(void)
{
	log_open("server-limits.t", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	if (mkdtemp(dir) == NULL)
		abort();
	config = config_new(settings_tables());
	service = add_endpoint("service");
	admin = add_endpoint("admin");
	SET(config, server)->runtime_dir = dir;
	SET(config, server)->wrong_tokens = 0;
	SET(config, server)->watches_per_token = 0;
	SET(config, server)->watches_per_tenant = 0;
	test_shares();
	test_turns();
	test_configured();
	test_wrong_tokens();
	test_watches();
	test_without();
	glob_t found;
	char pattern[64];
	(void)snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		is_int((int64_t)found.gl_pathc, 1, "one file was made");
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	(void)rmdir(dir);
	return done_testing();
}
