// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/webhook/health.h"

#include "db/db.h"
#include "registry/core/failure.h"
#include "sql/webhooks.h"

enum { LOOKED_AT = 100 }; // webhooks of each kind whose oldest change is looked for

static enum outcome count_all(struct registry *registry, struct webhook_health *health)
{
	const struct sql_webhook_message_counts most = { .limit = WEBHOOK_MESSAGES_COUNTED };
	struct db_rows webhooks, messages;
	enum db_result result = sql_webhook_counts_run(registry->db, registry->pool, &webhooks);

	if (result == DB_OK)
		result = sql_webhook_message_counts_run(registry->db, registry->pool, &most, &messages);
	if (result != DB_OK)
		return registry_db_failed(result);
	assert(webhooks.n == 1 && messages.n == 1);
	const struct sql_webhook_counts_row *row = sql_webhook_counts_row(&webhooks, 0);
	health->active = row->active;
	health->failing = row->failing;
	health->paused = row->paused;
	health->disabled = row->disabled;
	health->dead = sql_webhook_message_counts_row(&messages, 0)->dead;
	health->queued = sql_webhook_message_counts_row(&messages, 0)->queued;
	return OUTCOME_OK;
}

static enum outcome read_lease(struct registry *registry, struct webhook_health *health)
{
	struct db_rows rows;
	enum db_result result = sql_webhook_lease_read_run(registry->db, registry->pool, &rows);

	if (result != DB_OK || rows.n == 0)
		return result != DB_OK ? registry_db_failed(result) : OUTCOME_OK;
	uuid_from_bytes(sql_webhook_lease_read_row(&rows, 0)->claim, &health->claim);
	health->beat = sql_webhook_lease_read_row(&rows, 0)->beat;
	return OUTCOME_OK;
}

// Finds the oldest change that webhooks of that kind wait for. Those that are behind come in the order of their positions, and no
// change behind a position is older than that, so it ends when the next position is above the oldest change so far.
static enum outcome find_oldest(struct registry *registry, enum sql_webhook_kind kind, uint64_t horizon, int64_t *oldest_us)
{
	const struct sql_webhook_behind in = { .horizon = horizon, .limit = LOOKED_AT };
	struct db_rows rows, first;
	uint64_t oldest = UINT64_MAX;
	enum db_result result = sql_webhook_behind_run(registry->db, registry->pool, kind, &in, &rows);

	for (size_t i = 0; result == DB_OK && i < rows.n; i++) {
		const struct sql_webhook_behind_row *row = sql_webhook_behind_row(&rows, i);
		const struct sql_webhook_first_change behind = {
			.tenant = { .id = row->tenant_id }, .after = row->position, .up_to = horizon, .limit = 1
		};
		if (row->position >= oldest)
			break;
		result = sql_webhook_first_change_run(registry->db, registry->pool,
			row->tenant_id != 0 ? SQL_WEBHOOK_CHANGE_IDS_OF_TENANT : SQL_WEBHOOK_CHANGE_IDS_ALL, &behind, &first);
		if (result == DB_OK && first.n > 0 && sql_webhook_first_change_row(&first, 0)->id < oldest) {
			oldest = sql_webhook_first_change_row(&first, 0)->id;
			*oldest_us = sql_webhook_first_change_row(&first, 0)->at;
		}
	}
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome webhook_health(struct registry *registry, uint64_t horizon, struct webhook_health *health)
{
	*health = (struct webhook_health){ 0 };
	enum outcome outcome = count_all(registry, health);
	if (outcome == OUTCOME_OK)
		outcome = read_lease(registry, health);
	if (outcome == OUTCOME_OK && health->active > 0)
		outcome = find_oldest(registry, SQL_WEBHOOK_KIND_ACTIVE, horizon, &health->waiting_us);
	if (outcome == OUTCOME_OK && health->failing > 0)
		outcome = find_oldest(registry, SQL_WEBHOOK_KIND_FAILING, horizon, &health->failing_us);
	return outcome;
}
