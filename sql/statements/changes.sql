-- The change log: one row for every change, committed with it.

-- A change of a resource, or (resource_id NULL) of a tenant itself.
-- @statement change_insert
-- @in request_id bytes, now time, actor text, verb text, tenant_id uint, resource_id uint null, uid bytes, type_id uint null,
--      namespace text null, name text null, revision uint, etag_before bytes null, etag_after bytes null, fields text null,
--      moves uint, selectable_before text null
INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision,
  etag_before, etag_after, fields, moves, selectable_before)
VALUES (:request_id, :now, :actor, :verb, :tenant_id, :resource_id, :uid, :type_id, :namespace, :name, :revision,
  :etag_before, :etag_after, :fields, :moves, :selectable_before);

-- The same for a resource that the statement before, in the same batch, has inserted.
-- @statement change_insert_created
-- @in request_id bytes, now time, actor text, verb text, tenant_id uint, uid bytes, type_id uint, namespace text, name text,
--      revision uint, etag_after bytes null
INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, etag_after)
VALUES (:request_id, :now, :actor, :verb, :tenant_id, LAST_INSERT_ID(), :uid, :type_id, :namespace, :name, :revision,
  :etag_after);
