// SPDX-License-Identifier: Apache-2.0
// What the tests of the writer share: a server with the tables of a cluster's fence, whose only node is the writer, and the
// tables sums and items.
#ifndef TENURE_T_UNIT_DB_WRITER_H
#define TENURE_T_UNIT_DB_WRITER_H

#include "db-server.h"
#include "db/db_internal.h"

static const struct test_query q_sums = { "SELECT CAST(SUM(n) AS UNSIGNED) FROM sums", "", "u" };

static struct pool *pool;

// A server of a busy machine may not be reached in time: it is tried again.
static inline enum db_result connect_patiently(struct db *db)
{
	enum db_result result = db_connect(db);

	for (int i = 0; i < 20 && result == DB_LOST; i++)
		result = db_connect(db);
	return result;
}

// Starts the server. The settings that reach the writer by its second name.
static inline struct db_settings writer_start(void)
{
	server_start();
	server_sql("CREATE TABLE sums (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0) ENGINE=InnoDB;\nINSERT INTO sums (id) VALUES (1), (2);\n"
		"CREATE TABLE items (id INT PRIMARY KEY) ENGINE=InnoDB;\n"
		"CREATE TABLE writer (id TINYINT PRIMARY KEY, node VARCHAR(255), epoch BIGINT UNSIGNED, held TINYINT);\n"
		"CREATE TABLE writer_slots (id SMALLINT UNSIGNED PRIMARY KEY, epoch BIGINT UNSIGNED, n BIGINT UNSIGNED, connection BIGINT UNSIGNED);\n"
		"INSERT INTO writer VALUES (1, CONCAT(@@hostname, ':', @@port), 1, 0);\nINSERT INTO writer_slots VALUES (1, 1, 0, 0);");
	pool = pool_new();
	struct db_settings settings = *db_settings(server.config);

	settings.host = "127.0.0.1:1,localhost";
	settings.connect_timeout = 1;
	return settings;
}

#endif
