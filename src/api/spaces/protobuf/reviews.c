// SPDX-License-Identifier: Apache-2.0
// The messages of objects that are sent but never stored: reviews of what a caller may do, and options of deletions.
#include "base/base.h"

#include "api/spaces/protobuf/protobuf.h"
#include "types/common/messages.h"
#include "types/types.h"

PB_MESSAGE(field_selector_attributes, PB_TEXT(1, "rawSelector"), PB_LIST(2, "requirements", field_selector_requirement));
PB_MESSAGE(label_selector_attributes, PB_TEXT(1, "rawSelector"), PB_LIST(2, "requirements", label_selector_requirement));
PB_MESSAGE(resource_attributes,
	PB_TEXT(1, "namespace"), PB_TEXT(2, "verb"), PB_TEXT(3, "group"), PB_TEXT(4, "version"), PB_TEXT(5, "resource"),
	PB_TEXT(6, "subresource"), PB_TEXT(7, "name"), PB_OBJECT(8, "fieldSelector", field_selector_attributes),
	PB_OBJECT(9, "labelSelector", label_selector_attributes));
PB_MESSAGE(non_resource_attributes, PB_TEXT(1, "path"), PB_TEXT(2, "verb"));
PB_MESSAGE(self_subject_access_review_spec,
	PB_OBJECT(1, "resourceAttributes", resource_attributes), PB_OBJECT(2, "nonResourceAttributes", non_resource_attributes));
PB_MESSAGE(subject_access_review_status,
	PB_BOOL_ZERO(1, "allowed"), PB_TEXT(2, "reason"), PB_TEXT(3, "evaluationError"), PB_BOOL(4, "denied"));
PB_MESSAGE(self_subject_access_review,
	PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", self_subject_access_review_spec),
	PB_OBJECT(3, "status", subject_access_review_status));
PB_MESSAGE(self_subject_rules_review_spec, PB_TEXT(1, "namespace"));
PB_MESSAGE(resource_rule, PB_TEXTS(1, "verbs"), PB_TEXTS(2, "apiGroups"), PB_TEXTS(3, "resources"), PB_TEXTS(4, "resourceNames"));
PB_MESSAGE(non_resource_rule, PB_TEXTS(1, "verbs"), PB_TEXTS(2, "nonResourceURLs"));
PB_MESSAGE(subject_rules_review_status,
	PB_LIST(1, "resourceRules", resource_rule), PB_LIST(2, "nonResourceRules", non_resource_rule),
	PB_BOOL_ZERO(3, "incomplete"), PB_TEXT(4, "evaluationError"));
PB_MESSAGE(self_subject_rules_review,
	PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", self_subject_rules_review_spec),
	PB_OBJECT(3, "status", subject_rules_review_status));
PB_MESSAGE(user_info, PB_TEXT(1, "username"), PB_TEXT(2, "uid"), PB_TEXTS(3, "groups"));
PB_MESSAGE(self_subject_review_status, PB_OBJECT(1, "userInfo", user_info));
PB_MESSAGE(self_subject_review, PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "status", self_subject_review_status));
PB_MESSAGE(preconditions, PB_TEXT_ZERO(1, "uid"), PB_TEXT_ZERO(2, "resourceVersion"));
PB_MESSAGE(delete_options,
	PB_LONG_ZERO(1, "gracePeriodSeconds"), PB_OBJECT(2, "preconditions", preconditions), PB_BOOL_ZERO(3, "orphanDependents"),
	PB_TEXT_ZERO(4, "propagationPolicy"), PB_TEXTS(5, "dryRun"),
	PB_BOOL_ZERO(6, "ignoreStoreReadErrorWithClusterBreakingPotential"));

// ---- the table of messages

static const struct {
	const char *version, *kind; // version NULL: any, because clients send these with the version of the object they act on
	const struct protobuf_message *message;
} kinds[] = {
	{ "authentication.k8s.io/v1", "SelfSubjectReview", &proto_self_subject_review },
	{ "authorization.k8s.io/v1", "SelfSubjectAccessReview", &proto_self_subject_access_review },
	{ "authorization.k8s.io/v1", "SelfSubjectRulesReview", &proto_self_subject_rules_review },
	{ NULL, "DeleteOptions", &proto_delete_options },
};

const struct protobuf_message *protobuf_kind(struct str version, struct str kind)
{
	size_t slash = str_find(version, '/', 0);
	struct str group = slash < version.n ? str_part(version, 0, slash) : STR("");
	const struct type_parts *parts = type_parts_by_kind(group, kind);

	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (str_eq_c(kind, kinds[i].kind) && (kinds[i].version == NULL || str_eq_c(version, kinds[i].version)))
			return kinds[i].message;
	// Messages are those of v1.
	return str_eq(slash < version.n ? str_part(version, slash + 1, version.n) : version, STR("v1")) ? parts->message : NULL;
}
