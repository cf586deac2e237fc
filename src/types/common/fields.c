// SPDX-License-Identifier: Apache-2.0
// Members that objects of several types share.
#include "base/base.h"

#include "types/common/fields.h"

static const struct type_field owner_reference_fields[] = {
	MEMBER_MUST("apiVersion", OF_STRING, NULL, "The API of the owner."),
	MEMBER_MUST("kind", OF_STRING, NULL, "The kind of the owner."),
	MEMBER_MUST("name", OF_STRING, NULL, "The name of the owner."),
	MEMBER_MUST("uid", OF_STRING, NULL, "The uid of the owner."),
	MEMBER_BOOLEAN("blockOwnerDeletion", "Whether the owner waits for this object when it is deleted."),
	MEMBER_BOOLEAN("controller", "Whether the owner manages this object."), MEMBER_END
};
const struct type_field metadata_fields[] = {
	MEMBER_MAP("annotations", "Remarks of any kind, for tools."), MEMBER_TEXT("clusterName", "Not used."),
	MEMBER_TIME("creationTimestamp", "When the object was created. The server's."),
	MEMBER_INTEGER("deletionGracePeriodSeconds", "The server's."),
	MEMBER_TIME("deletionTimestamp", "When the object was asked to go. The server's."),
	MEMBER_TEXT("etag", "The tag of this state of the object. The server's."),
	MEMBER_TEXTS("finalizers", "Who has to be done before the object goes."),
	MEMBER_TEXT("generateName", "How the name begins that the server is to find."),
	MEMBER_INTEGER("generation", "Grows with each change of the object's spec. The server's."),
	MEMBER_INTEGER("hashKey", "Accepted and not used."), MEMBER_MAP("labels", "What the object is chosen by, by selectors."),
	MEMBER_BOOLEAN("locked", "Whether it may neither move nor be deleted."), MEMBER_ANY("managedFields"),
	MEMBER_TEXT("name", "Its name, unique in its namespace and of its type."),
	MEMBER_TEXT("namespace", "The namespace it is in."),
	MEMBER_OBJECTS("ownerReferences", owner_reference_fields, "What this object belongs to."),
	MEMBER_TIME("purgeTimestamp", "When what was deleted goes for good. The server's."),
	MEMBER_TEXT("resourceVersion", "Which change of the server made this state. The server's."),
	MEMBER_TEXT("selfLink", "The full path of the object. The server's."),
	MEMBER_TEXT("tenant", "The tenant in whose space the object is."), MEMBER_ANY("traits"),
	MEMBER_TEXT("uid", "What identifies the object for ever, wherever it moves. The server's."), MEMBER_END
};
const struct type_field condition_fields[] = {
	MEMBER_MUST("type", OF_STRING, NULL, "What it is about."),
	MEMBER_MUST("status", OF_STRING, NULL, "True, False or Unknown."),
	MEMBER_TIME("lastProbeTime", "When it was looked at last."), MEMBER_TIME("lastTransitionTime", "When it changed last."),
	MEMBER_TIME("lastUpdateTime", "When it was told last."), MEMBER_TEXT("reason", "Why, in a word."),
	MEMBER_TEXT("message", "Why."), MEMBER_INTEGER("observedGeneration", "Of which generation that was."), MEMBER_END
};
const struct type_field local_reference_fields[] = {
	MEMBER_TEXT("name", "The name of a secret in the same namespace."), MEMBER_END
};
const struct type_field object_reference_fields[] = {
	MEMBER_TEXT("apiVersion", ""), MEMBER_TEXT("fieldPath", ""), MEMBER_TEXT("kind", ""), MEMBER_TEXT("name", ""),
	MEMBER_TEXT("namespace", ""), MEMBER_TEXT("resourceVersion", ""), MEMBER_TEXT("uid", ""), MEMBER_END
};

const struct merge_rule metadata_merge[] = { MERGE_LIST("ownerReferences", "uid"), MERGE_SET("finalizers"), MERGE_END };
const struct merge_rule conditions_merge[] = { MERGE_LIST("conditions", "type"), MERGE_END };
const struct merge_rule plain_merge[] = { MERGE_IN("metadata", metadata_merge), MERGE_END };
const struct merge_rule with_conditions_merge[] = {
	MERGE_IN("metadata", metadata_merge), MERGE_IN("status", conditions_merge), MERGE_END
};
