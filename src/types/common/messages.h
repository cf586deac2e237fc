// SPDX-License-Identifier: Apache-2.0
// The messages that typed clients send objects as. A row is a field: its number in the protobuf API of Kubernetes
// (generated.proto of 1.32), which never changes, and the name of its member in JSON. _ZERO: the member is in the JSON even if it
// is false, 0 or ""; other fields are then left out. _VALUE: so it is, too, but its absence means the same. INT has 32 bits, LONG
// has 64.
#ifndef TENURE_TYPES_COMMON_MESSAGES_H
#define TENURE_TYPES_COMMON_MESSAGES_H

#include "repr/protobuf/protobuf.h"
#include "repr/schema/field_fault.h"

#define PB_MESSAGE_CONVERTED(name, to_json, ...) \
	const struct protobuf_message proto_##name = { \
		(const struct protobuf_field[]){ __VA_ARGS__, { .number = 0 } }, to_json }
#define PB_SHARED_MESSAGE(name, ...) PB_MESSAGE_CONVERTED(name, NULL, __VA_ARGS__)
#define PB_MESSAGE(name, ...) static PB_SHARED_MESSAGE(name, __VA_ARGS__)

#define PB_TEXT(number, name) { number, PROTOBUF_TEXT, PROTOBUF_ONE, name, NULL }
#define PB_TEXT_ZERO(number, name) { number, PROTOBUF_TEXT, PROTOBUF_ZERO, name, NULL }
#define PB_TEXTS(number, name) { number, PROTOBUF_TEXT, PROTOBUF_LIST, name, NULL }
#define PB_TEXT_VALUE(number, name) { number, PROTOBUF_TEXT, PROTOBUF_VALUE, name, NULL }
#define PB_INT(number, name) { number, PROTOBUF_INT32, PROTOBUF_ONE, name, NULL }
#define PB_INT_ZERO(number, name) { number, PROTOBUF_INT32, PROTOBUF_ZERO, name, NULL }
#define PB_INT_VALUE(number, name) { number, PROTOBUF_INT32, PROTOBUF_VALUE, name, NULL }
#define PB_LONG(number, name) { number, PROTOBUF_INT64, PROTOBUF_ONE, name, NULL }
#define PB_LONG_ZERO(number, name) { number, PROTOBUF_INT64, PROTOBUF_ZERO, name, NULL }
#define PB_LONGS(number, name) { number, PROTOBUF_INT64, PROTOBUF_LIST, name, NULL }
#define PB_BOOL(number, name) { number, PROTOBUF_BOOL, PROTOBUF_ONE, name, NULL }
#define PB_BOOL_ZERO(number, name) { number, PROTOBUF_BOOL, PROTOBUF_ZERO, name, NULL }
#define PB_DOUBLE_ZERO(number, name) { number, PROTOBUF_DOUBLE, PROTOBUF_ZERO, name, NULL }
#define PB_BYTES(number, name) { number, PROTOBUF_BYTES, PROTOBUF_ONE, name, NULL }
#define PB_JSON(number, name) { number, PROTOBUF_JSON, PROTOBUF_ZERO, name, NULL }
#define PB_OBJECT(number, name, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_ONE, name, &proto_##inside }
#define PB_VALUE(number, name, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_VALUE, name, &proto_##inside }
#define PB_LIST(number, name, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_LIST, name, &proto_##inside }
#define PB_INLINE(number, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_INLINE, NULL, &proto_##inside }
#define PB_MAP_OF(number, name, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_MAP, name, &proto_##inside }
#define PB_MAP_OF_TEXTS(number, name) { number, PROTOBUF_TEXT, PROTOBUF_MAP, name, NULL }
#define PB_MAP_OF_BYTES(number, name) { number, PROTOBUF_BYTES, PROTOBUF_MAP, name, NULL }

// For a message with a single field: its JSON is that field's value.
bool message_single_value(struct pool *pool, const struct doc *object, struct doc **json, const char **why);

// ---- message_values.c: JSON values as a program reads them that has the messages compiled in

// Adds a fault for each value, at any depth of an object, that such a program can't read: one of another type, an integer written
// with a point or of too many bits, a text that is no time or quantity. A value that is null counts as absent, and members that
// the message lacks are not looked at. before: the stored object, or NULL; what is stored in the same place is not refused.
void message_check(struct field_faults *faults, const struct protobuf_message *message, const struct doc *object,
	const struct doc *before);
// A copy for a comparison by doc_equal_by_value(): objects that are equal to such a program have equal copies. Members that mean
// the same as their absence are left out, and each quantity is written in one way ("1Gi" and "1024Mi").
struct doc *message_normal(struct pool *pool, const struct protobuf_message *message, const struct doc *object);
// The same of one member of such an object. NULL: it means the same as its absence, or is null.
struct doc *message_normal_member(struct pool *pool, const struct protobuf_message *message, struct str name, const struct doc *value);

// ---- messages.c
extern const struct protobuf_message proto_time, proto_quantity, proto_int_or_string;
extern const struct protobuf_message proto_object_meta, proto_condition;
extern const struct protobuf_message proto_label_selector, proto_label_selector_requirement,
	proto_field_selector_requirement, proto_node_selector, proto_node_selector_term;
extern const struct protobuf_message proto_local_object_reference, proto_typed_local_object_reference,
	proto_typed_object_reference, proto_object_reference, proto_secret_reference;
// ---- volumes.c
extern const struct protobuf_message proto_volume, proto_persistent_volume_spec, proto_object_field_selector,
	proto_resource_field_selector;
// ---- pod_messages.c
extern const struct protobuf_message proto_pod_spec, proto_pod_status;

#endif
