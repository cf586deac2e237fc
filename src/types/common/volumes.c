// SPDX-License-Identifier: Apache-2.0
// The protobuf messages of volumes of pods, and of persistent volumes.
#include "base/base.h"

#include "types/common/messages.h"

PB_MESSAGE(host_path_volume_source, PB_TEXT_ZERO(1, "path"), PB_TEXT_ZERO(2, "type"));
PB_MESSAGE(empty_dir_volume_source, PB_TEXT(1, "medium"), PB_OBJECT(2, "sizeLimit", quantity));
PB_MESSAGE(gce_persistent_disk_volume_source,
	PB_TEXT_ZERO(1, "pdName"), PB_TEXT(2, "fsType"), PB_INT(3, "partition"), PB_BOOL(4, "readOnly"));
PB_MESSAGE(aws_elastic_block_store_volume_source,
	PB_TEXT_ZERO(1, "volumeID"), PB_TEXT(2, "fsType"), PB_INT(3, "partition"), PB_BOOL(4, "readOnly"));
PB_MESSAGE(git_repo_volume_source, PB_TEXT_ZERO(1, "repository"), PB_TEXT(2, "revision"), PB_TEXT(3, "directory"));
PB_MESSAGE(key_to_path, PB_TEXT_ZERO(1, "key"), PB_TEXT_ZERO(2, "path"), PB_INT_ZERO(3, "mode"));
PB_MESSAGE(secret_volume_source,
	PB_TEXT(1, "secretName"), PB_LIST(2, "items", key_to_path), PB_INT_ZERO(3, "defaultMode"), PB_BOOL_ZERO(4, "optional"));
PB_MESSAGE(nfs_volume_source, PB_TEXT_ZERO(1, "server"), PB_TEXT_ZERO(2, "path"), PB_BOOL(3, "readOnly"));
PB_MESSAGE(iscsi_volume_source,
	PB_TEXT_ZERO(1, "targetPortal"), PB_TEXT_ZERO(2, "iqn"), PB_INT_VALUE(3, "lun"), PB_TEXT(4, "iscsiInterface"),
	PB_TEXT(5, "fsType"), PB_BOOL(6, "readOnly"), PB_TEXTS(7, "portals"), PB_BOOL(8, "chapAuthDiscovery"),
	PB_OBJECT(10, "secretRef", local_object_reference), PB_BOOL(11, "chapAuthSession"), PB_TEXT_ZERO(12, "initiatorName"));
PB_MESSAGE(glusterfs_volume_source, PB_TEXT_ZERO(1, "endpoints"), PB_TEXT_ZERO(2, "path"), PB_BOOL(3, "readOnly"));
PB_MESSAGE(persistent_volume_claim_volume_source, PB_TEXT_ZERO(1, "claimName"), PB_BOOL(2, "readOnly"));
PB_MESSAGE(rbd_volume_source,
	PB_TEXTS(1, "monitors"), PB_TEXT_ZERO(2, "image"), PB_TEXT(3, "fsType"), PB_TEXT(4, "pool"), PB_TEXT(5, "user"),
	PB_TEXT(6, "keyring"), PB_OBJECT(7, "secretRef", local_object_reference), PB_BOOL(8, "readOnly"));
PB_MESSAGE(flex_volume_source,
	PB_TEXT_ZERO(1, "driver"), PB_TEXT(2, "fsType"), PB_OBJECT(3, "secretRef", local_object_reference),
	PB_BOOL(4, "readOnly"), PB_MAP_OF_TEXTS(5, "options"));
PB_MESSAGE(cinder_volume_source,
	PB_TEXT_ZERO(1, "volumeID"), PB_TEXT(2, "fsType"), PB_BOOL(3, "readOnly"),
	PB_OBJECT(4, "secretRef", local_object_reference));
PB_MESSAGE(ceph_fs_volume_source,
	PB_TEXTS(1, "monitors"), PB_TEXT(2, "path"), PB_TEXT(3, "user"), PB_TEXT(4, "secretFile"),
	PB_OBJECT(5, "secretRef", local_object_reference), PB_BOOL(6, "readOnly"));
PB_MESSAGE(flocker_volume_source, PB_TEXT(1, "datasetName"), PB_TEXT(2, "datasetUUID"));
PB_SHARED_MESSAGE(object_field_selector, PB_TEXT(1, "apiVersion"), PB_TEXT_ZERO(2, "fieldPath"));
PB_SHARED_MESSAGE(resource_field_selector,
	PB_TEXT(1, "containerName"), PB_TEXT_ZERO(2, "resource"), PB_VALUE(3, "divisor", quantity));
PB_MESSAGE(downward_api_volume_file,
	PB_TEXT_ZERO(1, "path"), PB_OBJECT(2, "fieldRef", object_field_selector),
	PB_OBJECT(3, "resourceFieldRef", resource_field_selector), PB_INT_ZERO(4, "mode"));
PB_MESSAGE(downward_api_volume_source, PB_LIST(1, "items", downward_api_volume_file), PB_INT_ZERO(2, "defaultMode"));
PB_MESSAGE(fc_volume_source,
	PB_TEXTS(1, "targetWWNs"), PB_INT_ZERO(2, "lun"), PB_TEXT(3, "fsType"), PB_BOOL(4, "readOnly"), PB_TEXTS(5, "wwids"));
PB_MESSAGE(azure_file_volume_source, PB_TEXT_ZERO(1, "secretName"), PB_TEXT_ZERO(2, "shareName"), PB_BOOL(3, "readOnly"));
PB_MESSAGE(config_map_volume_source,
	PB_INLINE(1, local_object_reference), PB_LIST(2, "items", key_to_path), PB_INT_ZERO(3, "defaultMode"),
	PB_BOOL_ZERO(4, "optional"));
PB_MESSAGE(vsphere_virtual_disk_volume_source,
	PB_TEXT_ZERO(1, "volumePath"), PB_TEXT(2, "fsType"), PB_TEXT(3, "storagePolicyName"), PB_TEXT(4, "storagePolicyID"));
PB_MESSAGE(quobyte_volume_source,
	PB_TEXT_ZERO(1, "registry"), PB_TEXT_ZERO(2, "volume"), PB_BOOL(3, "readOnly"), PB_TEXT(4, "user"), PB_TEXT(5, "group"),
	PB_TEXT(6, "tenant"));
PB_MESSAGE(azure_disk_volume_source,
	PB_TEXT_ZERO(1, "diskName"), PB_TEXT_ZERO(2, "diskURI"), PB_TEXT_ZERO(3, "cachingMode"), PB_TEXT_ZERO(4, "fsType"),
	PB_BOOL_ZERO(5, "readOnly"), PB_TEXT_ZERO(6, "kind"));
PB_MESSAGE(photon_persistent_disk_volume_source, PB_TEXT_ZERO(1, "pdID"), PB_TEXT(2, "fsType"));
PB_MESSAGE(secret_projection,
	PB_INLINE(1, local_object_reference), PB_LIST(2, "items", key_to_path), PB_BOOL_ZERO(4, "optional"));
PB_MESSAGE(downward_api_projection, PB_LIST(1, "items", downward_api_volume_file));
PB_MESSAGE(config_map_projection,
	PB_INLINE(1, local_object_reference), PB_LIST(2, "items", key_to_path), PB_BOOL_ZERO(4, "optional"));
PB_MESSAGE(service_account_token_projection,
	PB_TEXT(1, "audience"), PB_LONG_ZERO(2, "expirationSeconds"), PB_TEXT_ZERO(3, "path"));
PB_MESSAGE(cluster_trust_bundle_projection,
	PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(2, "signerName"), PB_OBJECT(3, "labelSelector", label_selector),
	PB_TEXT_ZERO(4, "path"), PB_BOOL_ZERO(5, "optional"));
PB_MESSAGE(volume_projection,
	PB_OBJECT(1, "secret", secret_projection), PB_OBJECT(2, "downwardAPI", downward_api_projection),
	PB_OBJECT(3, "configMap", config_map_projection), PB_OBJECT(4, "serviceAccountToken", service_account_token_projection),
	PB_OBJECT(5, "clusterTrustBundle", cluster_trust_bundle_projection));
PB_MESSAGE(projected_volume_source, PB_LIST(1, "sources", volume_projection), PB_INT_ZERO(2, "defaultMode"));
PB_MESSAGE(portworx_volume_source, PB_TEXT_ZERO(1, "volumeID"), PB_TEXT(2, "fsType"), PB_BOOL(3, "readOnly"));
PB_MESSAGE(scale_io_volume_source,
	PB_TEXT_ZERO(1, "gateway"), PB_TEXT_ZERO(2, "system"), PB_OBJECT(3, "secretRef", local_object_reference),
	PB_BOOL(4, "sslEnabled"), PB_TEXT(5, "protectionDomain"), PB_TEXT(6, "storagePool"), PB_TEXT(7, "storageMode"),
	PB_TEXT(8, "volumeName"), PB_TEXT(9, "fsType"), PB_BOOL(10, "readOnly"));
PB_MESSAGE(storage_os_volume_source,
	PB_TEXT(1, "volumeName"), PB_TEXT(2, "volumeNamespace"), PB_TEXT(3, "fsType"), PB_BOOL(4, "readOnly"),
	PB_OBJECT(5, "secretRef", local_object_reference));
PB_MESSAGE(csi_volume_source,
	PB_TEXT_ZERO(1, "driver"), PB_BOOL_ZERO(2, "readOnly"), PB_TEXT_ZERO(3, "fsType"), PB_MAP_OF_TEXTS(4, "volumeAttributes"),
	PB_OBJECT(5, "nodePublishSecretRef", local_object_reference));
PB_MESSAGE(volume_resource_requirements, PB_MAP_OF(1, "limits", quantity), PB_MAP_OF(2, "requests", quantity));
PB_MESSAGE(persistent_volume_claim_spec,
	PB_TEXTS(1, "accessModes"), PB_VALUE(2, "resources", volume_resource_requirements), PB_TEXT(3, "volumeName"),
	PB_OBJECT(4, "selector", label_selector), PB_TEXT_ZERO(5, "storageClassName"), PB_TEXT_ZERO(6, "volumeMode"),
	PB_OBJECT(7, "dataSource", typed_local_object_reference), PB_OBJECT(8, "dataSourceRef", typed_object_reference),
	PB_TEXT_ZERO(9, "volumeAttributesClassName"));
PB_MESSAGE(persistent_volume_claim_template,
	PB_VALUE(1, "metadata", object_meta), PB_OBJECT(2, "spec", persistent_volume_claim_spec));
PB_MESSAGE(ephemeral_volume_source, PB_OBJECT(1, "volumeClaimTemplate", persistent_volume_claim_template));
PB_MESSAGE(image_volume_source, PB_TEXT(1, "reference"), PB_TEXT(2, "pullPolicy"));
PB_MESSAGE(volume_source,
	PB_OBJECT(1, "hostPath", host_path_volume_source), PB_OBJECT(2, "emptyDir", empty_dir_volume_source),
	PB_OBJECT(3, "gcePersistentDisk", gce_persistent_disk_volume_source),
	PB_OBJECT(4, "awsElasticBlockStore", aws_elastic_block_store_volume_source),
	PB_OBJECT(5, "gitRepo", git_repo_volume_source), PB_OBJECT(6, "secret", secret_volume_source),
	PB_OBJECT(7, "nfs", nfs_volume_source), PB_OBJECT(8, "iscsi", iscsi_volume_source),
	PB_OBJECT(9, "glusterfs", glusterfs_volume_source),
	PB_OBJECT(10, "persistentVolumeClaim", persistent_volume_claim_volume_source), PB_OBJECT(11, "rbd", rbd_volume_source),
	PB_OBJECT(12, "flexVolume", flex_volume_source), PB_OBJECT(13, "cinder", cinder_volume_source),
	PB_OBJECT(14, "cephfs", ceph_fs_volume_source), PB_OBJECT(15, "flocker", flocker_volume_source),
	PB_OBJECT(16, "downwardAPI", downward_api_volume_source), PB_OBJECT(17, "fc", fc_volume_source),
	PB_OBJECT(18, "azureFile", azure_file_volume_source), PB_OBJECT(19, "configMap", config_map_volume_source),
	PB_OBJECT(20, "vsphereVolume", vsphere_virtual_disk_volume_source), PB_OBJECT(21, "quobyte", quobyte_volume_source),
	PB_OBJECT(22, "azureDisk", azure_disk_volume_source),
	PB_OBJECT(23, "photonPersistentDisk", photon_persistent_disk_volume_source),
	PB_OBJECT(24, "portworxVolume", portworx_volume_source), PB_OBJECT(25, "scaleIO", scale_io_volume_source),
	PB_OBJECT(26, "projected", projected_volume_source), PB_OBJECT(27, "storageos", storage_os_volume_source),
	PB_OBJECT(28, "csi", csi_volume_source), PB_OBJECT(29, "ephemeral", ephemeral_volume_source),
	PB_OBJECT(30, "image", image_volume_source));
PB_SHARED_MESSAGE(volume, PB_TEXT_ZERO(1, "name"), PB_INLINE(2, volume_source));
PB_MESSAGE(glusterfs_persistent_volume_source,
	PB_TEXT_ZERO(1, "endpoints"), PB_TEXT_ZERO(2, "path"), PB_BOOL(3, "readOnly"), PB_TEXT_ZERO(4, "endpointsNamespace"));
PB_MESSAGE(rbd_persistent_volume_source,
	PB_TEXTS(1, "monitors"), PB_TEXT_ZERO(2, "image"), PB_TEXT(3, "fsType"), PB_TEXT(4, "pool"), PB_TEXT(5, "user"),
	PB_TEXT(6, "keyring"), PB_OBJECT(7, "secretRef", secret_reference), PB_BOOL(8, "readOnly"));
PB_MESSAGE(iscsi_persistent_volume_source,
	PB_TEXT_ZERO(1, "targetPortal"), PB_TEXT_ZERO(2, "iqn"), PB_INT_VALUE(3, "lun"), PB_TEXT(4, "iscsiInterface"),
	PB_TEXT(5, "fsType"), PB_BOOL(6, "readOnly"), PB_TEXTS(7, "portals"), PB_BOOL(8, "chapAuthDiscovery"),
	PB_OBJECT(10, "secretRef", secret_reference), PB_BOOL(11, "chapAuthSession"), PB_TEXT_ZERO(12, "initiatorName"));
PB_MESSAGE(cinder_persistent_volume_source,
	PB_TEXT_ZERO(1, "volumeID"), PB_TEXT(2, "fsType"), PB_BOOL(3, "readOnly"), PB_OBJECT(4, "secretRef", secret_reference));
PB_MESSAGE(ceph_fs_persistent_volume_source,
	PB_TEXTS(1, "monitors"), PB_TEXT(2, "path"), PB_TEXT(3, "user"), PB_TEXT(4, "secretFile"),
	PB_OBJECT(5, "secretRef", secret_reference), PB_BOOL(6, "readOnly"));
PB_MESSAGE(flex_persistent_volume_source,
	PB_TEXT_ZERO(1, "driver"), PB_TEXT(2, "fsType"), PB_OBJECT(3, "secretRef", secret_reference), PB_BOOL(4, "readOnly"),
	PB_MAP_OF_TEXTS(5, "options"));
PB_MESSAGE(azure_file_persistent_volume_source,
	PB_TEXT_ZERO(1, "secretName"), PB_TEXT_ZERO(2, "shareName"), PB_BOOL(3, "readOnly"), PB_TEXT_ZERO(4, "secretNamespace"));
PB_MESSAGE(scale_io_persistent_volume_source,
	PB_TEXT_ZERO(1, "gateway"), PB_TEXT_ZERO(2, "system"), PB_OBJECT(3, "secretRef", secret_reference),
	PB_BOOL(4, "sslEnabled"), PB_TEXT(5, "protectionDomain"), PB_TEXT(6, "storagePool"), PB_TEXT(7, "storageMode"),
	PB_TEXT(8, "volumeName"), PB_TEXT(9, "fsType"), PB_BOOL(10, "readOnly"));
PB_MESSAGE(local_volume_source, PB_TEXT_ZERO(1, "path"), PB_TEXT_ZERO(2, "fsType"));
PB_MESSAGE(storage_os_persistent_volume_source,
	PB_TEXT(1, "volumeName"), PB_TEXT(2, "volumeNamespace"), PB_TEXT(3, "fsType"), PB_BOOL(4, "readOnly"),
	PB_OBJECT(5, "secretRef", object_reference));
PB_MESSAGE(csi_persistent_volume_source,
	PB_TEXT_ZERO(1, "driver"), PB_TEXT_ZERO(2, "volumeHandle"), PB_BOOL(3, "readOnly"), PB_TEXT(4, "fsType"),
	PB_MAP_OF_TEXTS(5, "volumeAttributes"), PB_OBJECT(6, "controllerPublishSecretRef", secret_reference),
	PB_OBJECT(7, "nodeStageSecretRef", secret_reference), PB_OBJECT(8, "nodePublishSecretRef", secret_reference),
	PB_OBJECT(9, "controllerExpandSecretRef", secret_reference), PB_OBJECT(10, "nodeExpandSecretRef", secret_reference));
PB_MESSAGE(persistent_volume_source,
	PB_OBJECT(1, "gcePersistentDisk", gce_persistent_disk_volume_source),
	PB_OBJECT(2, "awsElasticBlockStore", aws_elastic_block_store_volume_source),
	PB_OBJECT(3, "hostPath", host_path_volume_source), PB_OBJECT(4, "glusterfs", glusterfs_persistent_volume_source),
	PB_OBJECT(5, "nfs", nfs_volume_source), PB_OBJECT(6, "rbd", rbd_persistent_volume_source),
	PB_OBJECT(7, "iscsi", iscsi_persistent_volume_source), PB_OBJECT(8, "cinder", cinder_persistent_volume_source),
	PB_OBJECT(9, "cephfs", ceph_fs_persistent_volume_source), PB_OBJECT(10, "fc", fc_volume_source),
	PB_OBJECT(11, "flocker", flocker_volume_source), PB_OBJECT(12, "flexVolume", flex_persistent_volume_source),
	PB_OBJECT(13, "azureFile", azure_file_persistent_volume_source),
	PB_OBJECT(14, "vsphereVolume", vsphere_virtual_disk_volume_source), PB_OBJECT(15, "quobyte", quobyte_volume_source),
	PB_OBJECT(16, "azureDisk", azure_disk_volume_source),
	PB_OBJECT(17, "photonPersistentDisk", photon_persistent_disk_volume_source),
	PB_OBJECT(18, "portworxVolume", portworx_volume_source), PB_OBJECT(19, "scaleIO", scale_io_persistent_volume_source),
	PB_OBJECT(20, "local", local_volume_source), PB_OBJECT(21, "storageos", storage_os_persistent_volume_source),
	PB_OBJECT(22, "csi", csi_persistent_volume_source));
PB_MESSAGE(volume_node_affinity, PB_OBJECT(1, "required", node_selector));
PB_SHARED_MESSAGE(persistent_volume_spec,
	PB_MAP_OF(1, "capacity", quantity), PB_INLINE(2, persistent_volume_source), PB_TEXTS(3, "accessModes"),
	PB_OBJECT(4, "claimRef", object_reference), PB_TEXT(5, "persistentVolumeReclaimPolicy"), PB_TEXT(6, "storageClassName"),
	PB_TEXTS(7, "mountOptions"), PB_TEXT_ZERO(8, "volumeMode"), PB_OBJECT(9, "nodeAffinity", volume_node_affinity),
	PB_TEXT_ZERO(10, "volumeAttributesClassName"));
