-- The change log, for people and scripts that read it: the changes of one tenant, or of all.

-- A change c as people and receivers are told of it, with the names of its tenants t and f.
-- @group told_change id uint, at time, actor text, request_id bytes, verb text, type_id uint null, namespace text null,
--      name text null, uid bytes, revision uint, etag_before bytes null, etag_after bytes null, fields text null, tenant_id uint,
--      from_tenant_id uint null, moves uint, tenant text, from_tenant text null
-- @fragment told_change
c.id, c.at, c.actor, c.request_id, c.verb, c.type_id, c.namespace, c.name, c.uid, c.revision, c.etag_before, c.etag_after,
c.fields, c.tenant_id, c.from_tenant_id, c.moves, t.name AS tenant, f.name AS from_tenant

-- @choice change_order
-- @case oldest
id
-- @case newest
id DESC

-- The changes that a call looks at, at most scan of them: indexes give their ids in order. Only these are read and compared with
-- what is asked for, so a call costs no more, however rare that is. Of a tenant also those that moved something away from it.
-- @fragment change_between
c.id > :above AND c.id < :below ORDER BY {change_order} LIMIT :scan
-- @choice change_whose
-- @case tenant
((SELECT c.id FROM changes c WHERE c.tenant_id = :tenant_id AND {change_between})
UNION
(SELECT c.id FROM changes c WHERE c.from_tenant_id = :tenant_id AND {change_between})
ORDER BY {change_order} LIMIT :scan) s
-- @case all
(SELECT c.id FROM changes c WHERE {change_between}) s

-- How many they are, the lowest id of them and the highest.
-- @statement change_extent
-- @in tenant_id uint, above uint, below uint, scan uint
-- @out n uint, lowest uint, highest uint
-- @scans the ids that the indexes gave: at most scan
-- @sorts the ids that the indexes gave: at most twice scan
SELECT COUNT(*) AS n, CAST(COALESCE(MIN(s.id), 0) AS UNSIGNED) AS lowest, CAST(COALESCE(MAX(s.id), 0) AS UNSIGNED) AS highest
FROM {change_whose};

-- Those of them that are asked for. text is looked for without regard to case, in what the answer shows.
-- @statement change_list
-- @in tenant_id uint, above uint, below uint, scan uint, limit uint, actor text null, verb text null, plural text null, group text null,
--      uid bytes null, namespace text null, name text null, since time, until time, text text null
-- @out c told_change
-- @scans the ids that the indexes gave: at most scan
-- @sorts the ids that the indexes gave: at most twice scan
SELECT {told_change}
FROM {change_whose}
STRAIGHT_JOIN changes c ON c.id = s.id
STRAIGHT_JOIN tenants t ON t.id = c.tenant_id
LEFT JOIN tenants f ON f.id = c.from_tenant_id
LEFT JOIN types y ON y.id = c.type_id
WHERE (:actor IS NULL OR c.actor = :actor)
  AND (:verb IS NULL OR c.verb = :verb)
  AND (:plural IS NULL OR y.plural = :plural)
  AND (:group IS NULL OR y.group_name = :group)
  AND (:uid IS NULL OR c.uid = :uid)
  AND (:namespace IS NULL OR c.namespace = :namespace)
  AND (:name IS NULL OR c.name = :name)
  AND c.at >= :since AND c.at < :until
  AND (:text IS NULL OR LOCATE(:text, CONCAT_WS(' ', c.actor, c.namespace, c.name, c.fields) COLLATE utf8mb4_general_nopad_ci) > 0)
ORDER BY {change_order}
LIMIT :limit;

-- Ids between which all changes of a time are: those of the last change before since, and of the first one after until; 0, and the
-- highest that there can be, where there is none. Ids rise with the times but for clocks that differ and for long transactions, so the
-- caller widens the time.
-- @statement change_bounds
-- @in since time, until time
-- @out above uint, below uint
SELECT
  CAST(COALESCE((SELECT c.id FROM changes c FORCE INDEX (at) WHERE c.at < :since ORDER BY c.at DESC, c.id DESC LIMIT 1), 0)
    AS UNSIGNED) AS above,
  CAST(COALESCE((SELECT c.id FROM changes c FORCE INDEX (at) WHERE c.at > :until ORDER BY c.at, c.id LIMIT 1), 9223372036854775807)
    AS UNSIGNED) AS below;
