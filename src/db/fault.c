// SPDX-License-Identifier: Apache-2.0
// Fault points for tests: cuts the connection or kills the process at a named point, as a power cut or a cut cable would.
#include "base/base.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "db/db_internal.h"

static const char *const names[FAULT__COUNT] = {
	[FAULT_STATEMENT] = "statement",
	[FAULT_BEFORE_COMMIT] = "before-commit",
	[FAULT_AFTER_COMMIT] = "after-commit",
	[FAULT_NO_FENCE] = "no-fence",
	[FAULT_NO_WAIT] = "no-wait",
};

static bool parse_kind(struct str text, enum fault_kind *kind)
{
	*kind = str_eq_c(text, "process") ? FAULT_PROCESS : FAULT_CONN;
	return text.p == NULL || *kind == FAULT_PROCESS || str_eq_c(text, "conn");
}

static bool parse_item(struct str item, struct fault faults[FAULT__COUNT])
{
	struct str name, count, kind_text = STR_NONE;
	enum fault_kind kind;
	uint64_t left;

	if (!str_split(&item, ':', &name) || !str_split(&item, ':', &count))
		return false;
	if (str_split(&item, ':', &kind_text) && item.p != NULL)
		return false;
	if (!str_to_u64(count, &left) || left == 0 || !parse_kind(kind_text, &kind))
		return false;
	for (size_t i = 0; i < FAULT__COUNT; i++) {
		if (str_eq_c(name, names[i])) {
			faults[i] = (struct fault){ .kind = kind, .left = left };
			return true;
		}
	}
	return false;
}

void fault_parse(struct fault faults[FAULT__COUNT])
{
	struct str rest = str_c(getenv("TENURE_FAULT")), item;

	memset(faults, 0, sizeof(*faults) * FAULT__COUNT);
	if (rest.n == 0)
		return;
	while (str_split(&rest, ',', &item)) {
		if (!parse_item(item, faults))
			log_warning("TENURE_FAULT: \"%.*s\" is not NAME:COUNT[:conn|process]", STR_ARG(item));
	}
}

void fault_count(struct db *db, enum fault_point point)
{
	struct fault *fault = &db->faults[point];

	assert(point < FAULT__COUNT);
	if (fault->kind == FAULT_NONE || --fault->left > 0)
		return;
	log_warning("fault point %s", names[point]);
	if (fault->kind == FAULT_PROCESS)
		(void)kill(getpid(), SIGKILL);
	fault->kind = FAULT_NONE;
	if (db->mysql == NULL)
		return;
	// An answer that has come already could still be read after shutdown(), and nothing would be lost.
	int fd = mysql_get_socket(db->mysql);
	char answer[256];
	(void)shutdown(fd, SHUT_RDWR);
	while (recv(fd, answer, sizeof(answer), 0) > 0)
		continue;
}
