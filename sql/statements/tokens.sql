-- Tokens: who may call, and as whom.

-- The token of an id. A tenant that is deleted but recoverable still has its users; a purged one (live NULL) has none.
-- @statement token_by_id
-- @in id text
-- @out hash bytes, user text, role text, has_tenant uint, tenant text null, expires_at time null, revoked_at time null
SELECT t.hash, t.user, t.role, t.tenant_id IS NOT NULL AS has_tenant, n.name AS tenant, t.expires_at, t.revoked_at
FROM tokens t
LEFT JOIN tenants n ON n.id = t.tenant_id AND n.live = 1
WHERE t.id = :id;

-- For whom a token is made. Nothing is inserted where there is no such tenant, or it is deleted.
-- @choice token_kind
-- @case operator
VALUES (:id, :hash, :user, :role, :description, :now, :expires_at, NULL)
-- @case tenant
SELECT :id, :hash, :user, :role, :description, :now, :expires_at, n.id
FROM tenants n
WHERE n.name = :tenant AND n.live = 1 AND n.deleted_at IS NULL

-- @statement token_insert
-- @in id text, hash bytes, user text, role text, description text, now time, expires_at time null, tenant text
INSERT INTO tokens (id, hash, user, role, description, created_at, expires_at, tenant_id) {token_kind};

-- @statement token_revoke
-- @in now time, id text
UPDATE tokens SET revoked_at = COALESCE(revoked_at, :now) WHERE id = :id;

-- Whose tokens are listed.
-- @choice token_owner
-- @case anybody
TRUE
-- @case tenant
n.name = :tenant AND n.live = 1
-- @case operators
t.tenant_id IS NULL

-- All that are not revoked, for tenure-manage. token_owner is chosen as for the list.
-- @statement token_revoke_all
-- @in now time, tenant text
-- @scans only tenure-manage does it, for all of them
UPDATE tokens t
LEFT JOIN tenants n ON n.id = t.tenant_id
SET t.revoked_at = :now
WHERE t.revoked_at IS NULL AND ({token_owner});

-- For tenure-manage, by creation.
-- @statement token_list
-- @in tenant text
-- @out id text, user text, tenant text, role text, created_at time, expires_at time null, revoked_at time null,
--      last_used_at time null, description text
-- @scans only tenure-manage asks, and shows them all
-- @sorts likewise
SELECT t.id, t.user, COALESCE(n.name, '') AS tenant, t.role, t.created_at, t.expires_at, t.revoked_at, t.last_used_at,
  t.description
FROM tokens t
LEFT JOIN tenants n ON n.id = t.tenant_id
WHERE {token_owner}
ORDER BY t.created_at, t.id;

-- ---- tokens of one tenant, by API. Who makes or revokes one has locked the row of the tenant.

-- Whose they are: a tenant's, or the operators'.
-- @choice token_holder
-- @case tenant
t.tenant_id = :tenant_id
-- @case operators
t.tenant_id IS NULL
-- @group token_shown id text, user text, role text, created_at time, expires_at time null, revoked_at time null,
--      last_used_at time null, description text
-- @fragment token_shown
t.id, t.user, t.role, t.created_at, t.expires_at, t.revoked_at, t.last_used_at, t.description

-- A page of them in the order of their ids, behind the last id of the page before.
-- @statement token_page
-- @in tenant_id uint, after text, limit uint
-- @out t token_shown
SELECT {token_shown}
FROM tokens t FORCE INDEX (tenant)
WHERE {token_holder} AND t.id > :after
ORDER BY t.id
LIMIT :limit;

-- @statement token_get
-- @in tenant_id uint, id text
-- @out t token_shown
SELECT {token_shown}
FROM tokens t
WHERE t.id = :id AND {token_holder};

-- How many there are, counted up to a limit.
-- @statement token_count
-- @in tenant_id uint, limit uint
-- @out n uint
SELECT COUNT(*) AS n FROM (SELECT 1 FROM tokens t FORCE INDEX (tenant) WHERE {token_holder} LIMIT :limit) x;

-- @statement token_revoke_of
-- @in tenant_id uint, id text, now time
UPDATE tokens t SET t.revoked_at = :now WHERE t.id = :id AND {token_holder} AND t.revoked_at IS NULL;

-- ---- uses, noted by the processes of a host

-- Another host may have written a later use.
-- @statement token_used
-- @in id text, at time
UPDATE tokens SET last_used_at = :at WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at);
