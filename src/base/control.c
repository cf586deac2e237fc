// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <stdatomic.h>

#include "base/control.h"

// The area SHARED_CONTROL.
struct control {
	_Atomic uint32_t log_level; // one more than enum log_level; 0: none is set. Anything else, in a damaged file, counts as none
};

static struct control *control_area(const struct shared *shared)
{
	return shared_area(shared, SHARED_CONTROL, sizeof(struct control));
}

void control_set_log_level(const struct shared *shared, bool is_set, enum log_level level)
{
	atomic_store(&control_area(shared)->log_level, is_set ? (uint32_t)level + 1 : 0);
}

bool control_log_level(const struct shared *shared, enum log_level *level)
{
	uint32_t set = atomic_load_explicit(&control_area(shared)->log_level, memory_order_relaxed);

	if (set == 0 || set > (uint32_t)LOG_LEVEL_DEBUG + 1)
		return false;
	*level = (enum log_level)(set - 1);
	return true;
}

void control_apply(const struct shared *shared)
{
	enum log_level level = LOG_LEVEL_INFO;

	if (shared == NULL)
		return;
	bool is_set = control_log_level(shared, &level);
	log_override(is_set, level);
}
