-- The schema of OpenStack's Placement service from 6.0 to 8.0, and the standard names that it adds when it starts: what
-- `tenure-manage import placement` reads and `export placement` writes. For tests and for `make check-sql`.

CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
INSERT INTO alembic_version VALUES ('422ece571366');

CREATE TABLE resource_classes (
  created_at DATETIME NULL,
  updated_at DATETIME NULL,
  id         INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(255) NOT NULL,
  UNIQUE KEY uniq_resource_classes0name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE traits (
  created_at DATETIME NULL,
  updated_at DATETIME NULL,
  id         INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(255) NOT NULL,
  UNIQUE KEY uniq_traits0name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE resource_providers (
  created_at         DATETIME NULL,
  updated_at         DATETIME NULL,
  id                 INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uuid               VARCHAR(36) NOT NULL,
  name               VARCHAR(200) NULL,
  generation         INT NULL,
  root_provider_id   INT NULL,
  parent_provider_id INT NULL,
  UNIQUE KEY uniq_resource_providers0uuid (uuid),
  UNIQUE KEY uniq_resource_providers0name (name),
  KEY resource_providers_uuid_idx (uuid),
  KEY resource_providers_name_idx (name),
  KEY resource_providers_root_provider_id_idx (root_provider_id),
  KEY resource_providers_parent_provider_id_idx (parent_provider_id),
  FOREIGN KEY (root_provider_id) REFERENCES resource_providers (id),
  FOREIGN KEY (parent_provider_id) REFERENCES resource_providers (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE inventories (
  created_at           DATETIME NULL,
  updated_at           DATETIME NULL,
  id                   INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  resource_provider_id INT NOT NULL,
  resource_class_id    INT NOT NULL,
  total                INT NOT NULL,
  reserved             INT NOT NULL,
  min_unit             INT NOT NULL,
  max_unit             INT NOT NULL,
  step_size            INT NOT NULL,
  allocation_ratio     FLOAT NOT NULL,
  UNIQUE KEY uniq_inventories0resource_provider_resource_class (resource_provider_id, resource_class_id),
  KEY inventories_resource_provider_id_idx (resource_provider_id),
  KEY inventories_resource_class_id_idx (resource_class_id),
  KEY inventories_resource_provider_resource_class_idx (resource_provider_id, resource_class_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE placement_aggregates (
  created_at DATETIME NULL,
  updated_at DATETIME NULL,
  id         INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uuid       VARCHAR(36) NULL,
  UNIQUE KEY uniq_placement_aggregates0uuid (uuid),
  KEY ix_placement_aggregates_uuid (uuid)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE resource_provider_aggregates (
  created_at           DATETIME NULL,
  updated_at           DATETIME NULL,
  resource_provider_id INT NOT NULL,
  aggregate_id         INT NOT NULL,
  PRIMARY KEY (resource_provider_id, aggregate_id),
  KEY resource_provider_aggregates_aggregate_id_idx (aggregate_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE resource_provider_traits (
  created_at           DATETIME NULL,
  updated_at           DATETIME NULL,
  trait_id             INT NOT NULL,
  resource_provider_id INT NOT NULL,
  PRIMARY KEY (trait_id, resource_provider_id),
  KEY resource_provider_traits_resource_provider_trait_idx (resource_provider_id, trait_id),
  FOREIGN KEY (resource_provider_id) REFERENCES resource_providers (id),
  FOREIGN KEY (trait_id) REFERENCES traits (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE projects (
  created_at  DATETIME NULL,
  updated_at  DATETIME NULL,
  id          INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  external_id VARCHAR(255) NOT NULL,
  UNIQUE KEY uniq_projects0external_id (external_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE users (
  created_at  DATETIME NULL,
  updated_at  DATETIME NULL,
  id          INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  external_id VARCHAR(255) NOT NULL,
  UNIQUE KEY uniq_users0external_id (external_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE consumer_types (
  created_at DATETIME NULL,
  updated_at DATETIME NULL,
  id         INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(255) NOT NULL,
  UNIQUE KEY uniq_consumer_types0name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE consumers (
  created_at       DATETIME NULL,
  updated_at       DATETIME NULL,
  id               INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uuid             VARCHAR(36) NOT NULL,
  project_id       INT NOT NULL,
  user_id          INT NOT NULL,
  generation       INT NOT NULL DEFAULT 0,
  consumer_type_id INT NULL,
  UNIQUE KEY uniq_consumers0uuid (uuid),
  KEY consumers_project_id_uuid_idx (project_id, uuid),
  KEY consumers_project_id_user_id_uuid_idx (project_id, user_id, uuid),
  KEY consumers_consumer_type_id_idx (consumer_type_id),
  CONSTRAINT consumers_consumer_type_id_fkey FOREIGN KEY (consumer_type_id) REFERENCES consumer_types (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

CREATE TABLE allocations (
  created_at           DATETIME NULL,
  updated_at           DATETIME NULL,
  id                   INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  resource_provider_id INT NOT NULL,
  consumer_id          VARCHAR(36) NOT NULL,
  resource_class_id    INT NOT NULL,
  used                 INT NOT NULL,
  KEY allocations_resource_provider_class_used_idx (resource_provider_id, resource_class_id, used),
  KEY allocations_resource_class_id_idx (resource_class_id),
  KEY allocations_consumer_id_idx (consumer_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3;

INSERT INTO resource_classes (id, name) VALUES
  (30, 'VCPU'), (1, 'MEMORY_MB'), (2, 'DISK_GB'), (4, 'SRIOV_NET_VF'), (10, 'VGPU'), (14, 'PCPU');
INSERT INTO traits (id, name) VALUES (1, 'HW_CPU_X86_AVX'), (2, 'HW_CPU_X86_AVX2'), (3, 'MISC_SHARES_VIA_AGGREGATE');
