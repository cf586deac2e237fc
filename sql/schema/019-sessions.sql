-- Tenure, schema version 19: sessions of the console, by cookie.
--
-- Programs of version 18 know nothing of this table and need not: they serve no sessions.

-- @step sessions
-- A session holds the credential that began it, so that the authenticators decide anew at each request: a token that is revoked ends its
-- sessions. hash: SHA-256 of the cookie's secret. credential: encrypted under a key that only that secret gives, so that neither this
-- table nor a dump of it lets anybody in. A session ends when it was not used for session_idle seconds, and at ends_at in any case.
CREATE TABLE IF NOT EXISTS sessions (
  id         VARCHAR(32) NOT NULL PRIMARY KEY,
  hash       BINARY(32) NOT NULL,
  endpoint   VARCHAR(64) NOT NULL,
  user       VARCHAR(255) NOT NULL,
  tenant     VARCHAR(255) NOT NULL,
  credential VARBINARY(16384) NOT NULL,
  created_at DATETIME(6) NOT NULL,
  used_at    DATETIME(6) NOT NULL,
  ends_at    DATETIME(6) NOT NULL,
  KEY owner (user, tenant, used_at),
  KEY ends_at (ends_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
