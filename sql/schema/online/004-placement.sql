-- @oldest 4
-- @step tables
CREATE TABLE IF NOT EXISTS providers (
  resource_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  generation  BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS resource_classes (
  id         INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(255) NOT NULL,
  updated_at DATETIME(6) NOT NULL DEFAULT UTC_TIMESTAMP(6),
  live       TINYINT UNSIGNED NULL DEFAULT 1,
  UNIQUE KEY name (name),
  KEY live (live)
) ENGINE=InnoDB AUTO_INCREMENT=10000 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS inventories (
  resource_id      BIGINT UNSIGNED NOT NULL,
  class_id         INT UNSIGNED NOT NULL,
  total            INT UNSIGNED NOT NULL,
  reserved         INT UNSIGNED NOT NULL,
  min_unit         INT UNSIGNED NOT NULL,
  max_unit         INT UNSIGNED NOT NULL,
  step_size        INT UNSIGNED NOT NULL,
  allocation_ratio DOUBLE NOT NULL,
  capacity         BIGINT NOT NULL,
  used             BIGINT NOT NULL DEFAULT 0,
  free             BIGINT AS (capacity - used) PERSISTENT,
  created_at       DATETIME(6) NOT NULL,
  updated_at       DATETIME(6) NOT NULL,
  PRIMARY KEY (resource_id, class_id),
  KEY free (class_id, free)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS provider_aggregates (
  resource_id BIGINT UNSIGNED NOT NULL,
  aggregate   BINARY(16) NOT NULL,
  PRIMARY KEY (resource_id, aggregate),
  KEY aggregate (aggregate)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS consumer_types (
  id   INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name VARCHAR(255) NOT NULL,
  UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS consumers (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uid        BINARY(16) NOT NULL,
  project    VARCHAR(255) NOT NULL,
  user       VARCHAR(255) NOT NULL,
  type_id    INT UNSIGNED NULL,
  generation BIGINT UNSIGNED NOT NULL,
  created_at DATETIME(6) NOT NULL,
  updated_at DATETIME(6) NOT NULL,
  UNIQUE KEY uid (uid),
  KEY project (project, user)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS allocations (
  consumer_id BIGINT UNSIGNED NOT NULL,
  resource_id BIGINT UNSIGNED NOT NULL,
  class_id    INT UNSIGNED NOT NULL,
  used        INT UNSIGNED NOT NULL,
  updated_at  DATETIME(6) NOT NULL,
  PRIMARY KEY (consumer_id, resource_id, class_id),
  KEY provider (resource_id, class_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- @once rows
INSERT INTO resource_classes (id, name) VALUES
  (1,  'VCPU'),
  (2,  'MEMORY_MB'),
  (3,  'DISK_GB'),
  (4,  'PCI_DEVICE'),
  (5,  'SRIOV_NET_VF'),
  (6,  'NUMA_SOCKET'),
  (7,  'NUMA_CORE'),
  (8,  'NUMA_THREAD'),
  (9,  'NUMA_MEMORY_MB'),
  (10, 'IPV4_ADDRESS'),
  (11, 'VGPU'),
  (12, 'VGPU_DISPLAY_HEAD'),
  (13, 'NET_BW_EGR_KILOBIT_PER_SEC'),
  (14, 'NET_BW_IGR_KILOBIT_PER_SEC'),
  (15, 'PCPU'),
  (16, 'MEM_ENCRYPTION_CONTEXT'),
  (17, 'FPGA'),
  (18, 'PGPU'),
  (19, 'NET_PACKET_RATE_KILOPACKET_PER_SEC'),
  (20, 'NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC'),
  (21, 'NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC');
INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) VALUES
  ('placement.openstack.org', 'v1', 'ResourceProvider', 'resourceproviders', 'resourceprovider', FALSE, TRUE);
