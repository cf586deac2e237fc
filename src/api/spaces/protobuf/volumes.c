// SPDX-License-Identifier: Apache-2.0
// Volumes of pods, and persistent volumes.
#include "base/base.h"

#include "api/spaces/protobuf/tables.h"

MESSAGE(host_path_volume_source, TEXT_ZERO(1, "path"), TEXT_ZERO(2, "type"));
MESSAGE(empty_dir_volume_source, TEXT(1, "medium"), OBJECT(2, "sizeLimit", quantity));
MESSAGE(gce_persistent_disk_volume_source,
	TEXT_ZERO(1, "pdName"), TEXT(2, "fsType"), INT(3, "partition"), BOOL(4, "readOnly"));
MESSAGE(aws_elastic_block_store_volume_source,
	TEXT_ZERO(1, "volumeID"), TEXT(2, "fsType"), INT(3, "partition"), BOOL(4, "readOnly"));
MESSAGE(git_repo_volume_source, TEXT_ZERO(1, "repository"), TEXT(2, "revision"), TEXT(3, "directory"));
MESSAGE(key_to_path, TEXT_ZERO(1, "key"), TEXT_ZERO(2, "path"), INT_ZERO(3, "mode"));
MESSAGE(secret_volume_source,
	TEXT(1, "secretName"), LIST(2, "items", key_to_path), INT_ZERO(3, "defaultMode"), BOOL_ZERO(4, "optional"));
MESSAGE(nfs_volume_source, TEXT_ZERO(1, "server"), TEXT_ZERO(2, "path"), BOOL(3, "readOnly"));
MESSAGE(iscsi_volume_source,
	TEXT_ZERO(1, "targetPortal"), TEXT_ZERO(2, "iqn"), INT_ZERO(3, "lun"), TEXT(4, "iscsiInterface"),
	TEXT(5, "fsType"), BOOL(6, "readOnly"), TEXTS(7, "portals"), BOOL(8, "chapAuthDiscovery"),
	OBJECT(10, "secretRef", local_object_reference), BOOL(11, "chapAuthSession"), TEXT_ZERO(12, "initiatorName"));
MESSAGE(glusterfs_volume_source, TEXT_ZERO(1, "endpoints"), TEXT_ZERO(2, "path"), BOOL(3, "readOnly"));
MESSAGE(persistent_volume_claim_volume_source, TEXT_ZERO(1, "claimName"), BOOL(2, "readOnly"));
MESSAGE(rbd_volume_source,
	TEXTS(1, "monitors"), TEXT_ZERO(2, "image"), TEXT(3, "fsType"), TEXT(4, "pool"), TEXT(5, "user"),
	TEXT(6, "keyring"), OBJECT(7, "secretRef", local_object_reference), BOOL(8, "readOnly"));
MESSAGE(flex_volume_source,
	TEXT_ZERO(1, "driver"), TEXT(2, "fsType"), OBJECT(3, "secretRef", local_object_reference), BOOL(4, "readOnly"),
	MAP_OF_TEXTS(5, "options"));
MESSAGE(cinder_volume_source,
	TEXT_ZERO(1, "volumeID"), TEXT(2, "fsType"), BOOL(3, "readOnly"),
	OBJECT(4, "secretRef", local_object_reference));
MESSAGE(ceph_fs_volume_source,
	TEXTS(1, "monitors"), TEXT(2, "path"), TEXT(3, "user"), TEXT(4, "secretFile"),
	OBJECT(5, "secretRef", local_object_reference), BOOL(6, "readOnly"));
MESSAGE(flocker_volume_source, TEXT(1, "datasetName"), TEXT(2, "datasetUUID"));
SHARED_MESSAGE(object_field_selector, TEXT(1, "apiVersion"), TEXT_ZERO(2, "fieldPath"));
SHARED_MESSAGE(resource_field_selector,
	TEXT(1, "containerName"), TEXT_ZERO(2, "resource"), OBJECT(3, "divisor", quantity));
MESSAGE(downward_api_volume_file,
	TEXT_ZERO(1, "path"), OBJECT(2, "fieldRef", object_field_selector),
	OBJECT(3, "resourceFieldRef", resource_field_selector), INT_ZERO(4, "mode"));
MESSAGE(downward_api_volume_source, LIST(1, "items", downward_api_volume_file), INT_ZERO(2, "defaultMode"));
MESSAGE(fc_volume_source,
	TEXTS(1, "targetWWNs"), INT_ZERO(2, "lun"), TEXT(3, "fsType"), BOOL(4, "readOnly"), TEXTS(5, "wwids"));
MESSAGE(azure_file_volume_source, TEXT_ZERO(1, "secretName"), TEXT_ZERO(2, "shareName"), BOOL(3, "readOnly"));
MESSAGE(config_map_volume_source,
	INLINE(1, local_object_reference), LIST(2, "items", key_to_path), INT_ZERO(3, "defaultMode"),
	BOOL_ZERO(4, "optional"));
MESSAGE(vsphere_virtual_disk_volume_source,
	TEXT_ZERO(1, "volumePath"), TEXT(2, "fsType"), TEXT(3, "storagePolicyName"), TEXT(4, "storagePolicyID"));
MESSAGE(quobyte_volume_source,
	TEXT_ZERO(1, "registry"), TEXT_ZERO(2, "volume"), BOOL(3, "readOnly"), TEXT(4, "user"), TEXT(5, "group"),
	TEXT(6, "tenant"));
MESSAGE(azure_disk_volume_source,
	TEXT_ZERO(1, "diskName"), TEXT_ZERO(2, "diskURI"), TEXT_ZERO(3, "cachingMode"), TEXT_ZERO(4, "fsType"),
	BOOL_ZERO(5, "readOnly"), TEXT_ZERO(6, "kind"));
MESSAGE(photon_persistent_disk_volume_source, TEXT_ZERO(1, "pdID"), TEXT(2, "fsType"));
MESSAGE(secret_projection,
	INLINE(1, local_object_reference), LIST(2, "items", key_to_path), BOOL_ZERO(4, "optional"));
MESSAGE(downward_api_projection, LIST(1, "items", downward_api_volume_file));
MESSAGE(config_map_projection,
	INLINE(1, local_object_reference), LIST(2, "items", key_to_path), BOOL_ZERO(4, "optional"));
MESSAGE(service_account_token_projection,
	TEXT(1, "audience"), INT_ZERO(2, "expirationSeconds"), TEXT_ZERO(3, "path"));
MESSAGE(cluster_trust_bundle_projection,
	TEXT_ZERO(1, "name"), TEXT_ZERO(2, "signerName"), OBJECT(3, "labelSelector", label_selector),
	TEXT_ZERO(4, "path"), BOOL_ZERO(5, "optional"));
MESSAGE(volume_projection,
	OBJECT(1, "secret", secret_projection), OBJECT(2, "downwardAPI", downward_api_projection),
	OBJECT(3, "configMap", config_map_projection),
	OBJECT(4, "serviceAccountToken", service_account_token_projection),
	OBJECT(5, "clusterTrustBundle", cluster_trust_bundle_projection));
MESSAGE(projected_volume_source, LIST(1, "sources", volume_projection), INT_ZERO(2, "defaultMode"));
MESSAGE(portworx_volume_source, TEXT_ZERO(1, "volumeID"), TEXT(2, "fsType"), BOOL(3, "readOnly"));
MESSAGE(scale_io_volume_source,
	TEXT_ZERO(1, "gateway"), TEXT_ZERO(2, "system"), OBJECT(3, "secretRef", local_object_reference),
	BOOL(4, "sslEnabled"), TEXT(5, "protectionDomain"), TEXT(6, "storagePool"), TEXT(7, "storageMode"),
	TEXT(8, "volumeName"), TEXT(9, "fsType"), BOOL(10, "readOnly"));
MESSAGE(storage_os_volume_source,
	TEXT(1, "volumeName"), TEXT(2, "volumeNamespace"), TEXT(3, "fsType"), BOOL(4, "readOnly"),
	OBJECT(5, "secretRef", local_object_reference));
MESSAGE(csi_volume_source,
	TEXT_ZERO(1, "driver"), BOOL_ZERO(2, "readOnly"), TEXT_ZERO(3, "fsType"), MAP_OF_TEXTS(4, "volumeAttributes"),
	OBJECT(5, "nodePublishSecretRef", local_object_reference));
MESSAGE(volume_resource_requirements, MAP_OF(1, "limits", quantity), MAP_OF(2, "requests", quantity));
MESSAGE(persistent_volume_claim_spec,
	TEXTS(1, "accessModes"), OBJECT(2, "resources", volume_resource_requirements), TEXT(3, "volumeName"),
	OBJECT(4, "selector", label_selector), TEXT_ZERO(5, "storageClassName"), TEXT_ZERO(6, "volumeMode"),
	OBJECT(7, "dataSource", typed_local_object_reference), OBJECT(8, "dataSourceRef", typed_object_reference),
	TEXT_ZERO(9, "volumeAttributesClassName"));
MESSAGE(persistent_volume_claim_template,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", persistent_volume_claim_spec));
MESSAGE(ephemeral_volume_source, OBJECT(1, "volumeClaimTemplate", persistent_volume_claim_template));
MESSAGE(image_volume_source, TEXT(1, "reference"), TEXT(2, "pullPolicy"));
MESSAGE(volume_source,
	OBJECT(1, "hostPath", host_path_volume_source), OBJECT(2, "emptyDir", empty_dir_volume_source),
	OBJECT(3, "gcePersistentDisk", gce_persistent_disk_volume_source),
	OBJECT(4, "awsElasticBlockStore", aws_elastic_block_store_volume_source),
	OBJECT(5, "gitRepo", git_repo_volume_source), OBJECT(6, "secret", secret_volume_source),
	OBJECT(7, "nfs", nfs_volume_source), OBJECT(8, "iscsi", iscsi_volume_source),
	OBJECT(9, "glusterfs", glusterfs_volume_source),
	OBJECT(10, "persistentVolumeClaim", persistent_volume_claim_volume_source),
	OBJECT(11, "rbd", rbd_volume_source), OBJECT(12, "flexVolume", flex_volume_source),
	OBJECT(13, "cinder", cinder_volume_source), OBJECT(14, "cephfs", ceph_fs_volume_source),
	OBJECT(15, "flocker", flocker_volume_source), OBJECT(16, "downwardAPI", downward_api_volume_source),
	OBJECT(17, "fc", fc_volume_source), OBJECT(18, "azureFile", azure_file_volume_source),
	OBJECT(19, "configMap", config_map_volume_source),
	OBJECT(20, "vsphereVolume", vsphere_virtual_disk_volume_source), OBJECT(21, "quobyte", quobyte_volume_source),
	OBJECT(22, "azureDisk", azure_disk_volume_source),
	OBJECT(23, "photonPersistentDisk", photon_persistent_disk_volume_source),
	OBJECT(24, "portworxVolume", portworx_volume_source), OBJECT(25, "scaleIO", scale_io_volume_source),
	OBJECT(26, "projected", projected_volume_source), OBJECT(27, "storageos", storage_os_volume_source),
	OBJECT(28, "csi", csi_volume_source), OBJECT(29, "ephemeral", ephemeral_volume_source),
	OBJECT(30, "image", image_volume_source));
SHARED_MESSAGE(volume, TEXT_ZERO(1, "name"), INLINE(2, volume_source));
MESSAGE(glusterfs_persistent_volume_source,
	TEXT_ZERO(1, "endpoints"), TEXT_ZERO(2, "path"), BOOL(3, "readOnly"), TEXT_ZERO(4, "endpointsNamespace"));
MESSAGE(rbd_persistent_volume_source,
	TEXTS(1, "monitors"), TEXT_ZERO(2, "image"), TEXT(3, "fsType"), TEXT(4, "pool"), TEXT(5, "user"),
	TEXT(6, "keyring"), OBJECT(7, "secretRef", secret_reference), BOOL(8, "readOnly"));
MESSAGE(iscsi_persistent_volume_source,
	TEXT_ZERO(1, "targetPortal"), TEXT_ZERO(2, "iqn"), INT_ZERO(3, "lun"), TEXT(4, "iscsiInterface"),
	TEXT(5, "fsType"), BOOL(6, "readOnly"), TEXTS(7, "portals"), BOOL(8, "chapAuthDiscovery"),
	OBJECT(10, "secretRef", secret_reference), BOOL(11, "chapAuthSession"), TEXT_ZERO(12, "initiatorName"));
MESSAGE(cinder_persistent_volume_source,
	TEXT_ZERO(1, "volumeID"), TEXT(2, "fsType"), BOOL(3, "readOnly"), OBJECT(4, "secretRef", secret_reference));
MESSAGE(ceph_fs_persistent_volume_source,
	TEXTS(1, "monitors"), TEXT(2, "path"), TEXT(3, "user"), TEXT(4, "secretFile"),
	OBJECT(5, "secretRef", secret_reference), BOOL(6, "readOnly"));
MESSAGE(flex_persistent_volume_source,
	TEXT_ZERO(1, "driver"), TEXT(2, "fsType"), OBJECT(3, "secretRef", secret_reference), BOOL(4, "readOnly"),
	MAP_OF_TEXTS(5, "options"));
MESSAGE(azure_file_persistent_volume_source,
	TEXT_ZERO(1, "secretName"), TEXT_ZERO(2, "shareName"), BOOL(3, "readOnly"), TEXT_ZERO(4, "secretNamespace"));
MESSAGE(scale_io_persistent_volume_source,
	TEXT_ZERO(1, "gateway"), TEXT_ZERO(2, "system"), OBJECT(3, "secretRef", secret_reference),
	BOOL(4, "sslEnabled"), TEXT(5, "protectionDomain"), TEXT(6, "storagePool"), TEXT(7, "storageMode"),
	TEXT(8, "volumeName"), TEXT(9, "fsType"), BOOL(10, "readOnly"));
MESSAGE(local_volume_source, TEXT_ZERO(1, "path"), TEXT_ZERO(2, "fsType"));
MESSAGE(storage_os_persistent_volume_source,
	TEXT(1, "volumeName"), TEXT(2, "volumeNamespace"), TEXT(3, "fsType"), BOOL(4, "readOnly"),
	OBJECT(5, "secretRef", object_reference));
MESSAGE(csi_persistent_volume_source,
	TEXT_ZERO(1, "driver"), TEXT_ZERO(2, "volumeHandle"), BOOL(3, "readOnly"), TEXT(4, "fsType"),
	MAP_OF_TEXTS(5, "volumeAttributes"), OBJECT(6, "controllerPublishSecretRef", secret_reference),
	OBJECT(7, "nodeStageSecretRef", secret_reference), OBJECT(8, "nodePublishSecretRef", secret_reference),
	OBJECT(9, "controllerExpandSecretRef", secret_reference), OBJECT(10, "nodeExpandSecretRef", secret_reference));
MESSAGE(persistent_volume_source,
	OBJECT(1, "gcePersistentDisk", gce_persistent_disk_volume_source),
	OBJECT(2, "awsElasticBlockStore", aws_elastic_block_store_volume_source),
	OBJECT(3, "hostPath", host_path_volume_source), OBJECT(4, "glusterfs", glusterfs_persistent_volume_source),
	OBJECT(5, "nfs", nfs_volume_source), OBJECT(6, "rbd", rbd_persistent_volume_source),
	OBJECT(7, "iscsi", iscsi_persistent_volume_source), OBJECT(8, "cinder", cinder_persistent_volume_source),
	OBJECT(9, "cephfs", ceph_fs_persistent_volume_source), OBJECT(10, "fc", fc_volume_source),
	OBJECT(11, "flocker", flocker_volume_source), OBJECT(12, "flexVolume", flex_persistent_volume_source),
	OBJECT(13, "azureFile", azure_file_persistent_volume_source),
	OBJECT(14, "vsphereVolume", vsphere_virtual_disk_volume_source), OBJECT(15, "quobyte", quobyte_volume_source),
	OBJECT(16, "azureDisk", azure_disk_volume_source),
	OBJECT(17, "photonPersistentDisk", photon_persistent_disk_volume_source),
	OBJECT(18, "portworxVolume", portworx_volume_source), OBJECT(19, "scaleIO", scale_io_persistent_volume_source),
	OBJECT(20, "local", local_volume_source), OBJECT(21, "storageos", storage_os_persistent_volume_source),
	OBJECT(22, "csi", csi_persistent_volume_source));
MESSAGE(volume_node_affinity, OBJECT(1, "required", node_selector));
SHARED_MESSAGE(persistent_volume_spec,
	MAP_OF(1, "capacity", quantity), INLINE(2, persistent_volume_source), TEXTS(3, "accessModes"),
	OBJECT(4, "claimRef", object_reference), TEXT(5, "persistentVolumeReclaimPolicy"), TEXT(6, "storageClassName"),
	TEXTS(7, "mountOptions"), TEXT_ZERO(8, "volumeMode"), OBJECT(9, "nodeAffinity", volume_node_affinity),
	TEXT_ZERO(10, "volumeAttributesClassName"));
