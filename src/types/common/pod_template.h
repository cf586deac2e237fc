// SPDX-License-Identifier: Apache-2.0
// Members, merge rules and checks of pods and of the templates of pods.
#ifndef TENURE_TYPES_COMMON_POD_TEMPLATE_H
#define TENURE_TYPES_COMMON_POD_TEMPLATE_H

#include "repr/schema/field_fault.h"
#include "types/common/fields.h"

extern const struct type_field pod_spec_fields[], pod_template_fields[];
extern const struct merge_rule pod_spec_merge[];
// The merge rules of a type that makes pods of a template: metadata, spec.template, conditions in the status.
extern const struct merge_rule workload_merge[];
// Adds faults for a pod's spec, which is at that path; NULL: there is none.
void check_pod_spec(struct field_faults *faults, const struct field_path *at, const struct doc *spec);

// The sources of volumes that pods and persistent volumes share.
#define MEMBERS_VOLUME_SOURCES MEMBER_ANY("awsElasticBlockStore"), MEMBER_ANY("azureDisk"), MEMBER_ANY("azureFile"), MEMBER_ANY("cephfs"), MEMBER_ANY("cinder"), \
	MEMBER_ANY("csi"), MEMBER_ANY("fc"), MEMBER_ANY("flexVolume"), MEMBER_ANY("flocker"), MEMBER_ANY("gcePersistentDisk"), MEMBER_ANY("glusterfs"), MEMBER_ANY("hostPath"), \
	MEMBER_ANY("iscsi"), MEMBER_ANY("nfs"), MEMBER_ANY("photonPersistentDisk"), MEMBER_ANY("portworxVolume"), MEMBER_ANY("quobyte"), MEMBER_ANY("rbd"), \
	MEMBER_ANY("scaleIO"), MEMBER_ANY("storageos"), MEMBER_ANY("vsphereVolume")

#endif
