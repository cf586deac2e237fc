// SPDX-License-Identifier: Apache-2.0
// For the files of protobuf/ only: the messages of built-in kinds. A row is a field: its number in the protobuf API of Kubernetes
// (generated.proto of 1.32), which never changes there, and its member's name in JSON. _ZERO: the member is written to JSON even
// if it is false, 0 or ""; other fields are left out then.
#ifndef TENURE_API_SPACES_PROTOBUF_TABLES_H
#define TENURE_API_SPACES_PROTOBUF_TABLES_H

#include "repr/protobuf/protobuf.h"

#define MESSAGE_TOLD(name, tell, ...) \
	const struct protobuf_message proto_##name = { \
		(const struct protobuf_field[]){ __VA_ARGS__, { .number = 0 } }, tell }
#define SHARED_MESSAGE(name, ...) MESSAGE_TOLD(name, NULL, __VA_ARGS__)
#define MESSAGE(name, ...) static SHARED_MESSAGE(name, __VA_ARGS__)

#define TEXT(number, name) { number, PROTOBUF_TEXT, PROTOBUF_ONE, name, NULL }
#define TEXT_ZERO(number, name) { number, PROTOBUF_TEXT, PROTOBUF_ZERO, name, NULL }
#define TEXTS(number, name) { number, PROTOBUF_TEXT, PROTOBUF_LIST, name, NULL }
#define INT(number, name) { number, PROTOBUF_INT, PROTOBUF_ONE, name, NULL }
#define INT_ZERO(number, name) { number, PROTOBUF_INT, PROTOBUF_ZERO, name, NULL }
#define INTS(number, name) { number, PROTOBUF_INT, PROTOBUF_LIST, name, NULL }
#define BOOL(number, name) { number, PROTOBUF_BOOL, PROTOBUF_ONE, name, NULL }
#define BOOL_ZERO(number, name) { number, PROTOBUF_BOOL, PROTOBUF_ZERO, name, NULL }
#define DOUBLE_ZERO(number, name) { number, PROTOBUF_DOUBLE, PROTOBUF_ZERO, name, NULL }
#define BYTES(number, name) { number, PROTOBUF_BYTES, PROTOBUF_ONE, name, NULL }
#define JSON(number, name) { number, PROTOBUF_JSON, PROTOBUF_ZERO, name, NULL }
#define OBJECT(number, name, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_ONE, name, &proto_##inside }
#define LIST(number, name, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_LIST, name, &proto_##inside }
#define INLINE(number, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_INLINE, NULL, &proto_##inside }
#define MAP_OF(number, name, inside) { number, PROTOBUF_MESSAGE, PROTOBUF_MAP, name, &proto_##inside }
#define MAP_OF_TEXTS(number, name) { number, PROTOBUF_TEXT, PROTOBUF_MAP, name, NULL }
#define MAP_OF_BYTES(number, name) { number, PROTOBUF_BYTES, PROTOBUF_MAP, name, NULL }

// For a message of one field: its JSON is only that field's value.
bool proto_tell_alone(struct pool *pool, const struct doc *object, struct doc **told, const char **why);

// common.c
extern const struct protobuf_message proto_time, proto_quantity, proto_int_or_string;
extern const struct protobuf_message proto_object_meta, proto_condition;
extern const struct protobuf_message proto_label_selector, proto_label_selector_requirement,
	proto_field_selector_requirement, proto_node_selector, proto_node_selector_term;
extern const struct protobuf_message proto_local_object_reference, proto_typed_local_object_reference,
	proto_typed_object_reference, proto_object_reference, proto_secret_reference;
// volumes.c
extern const struct protobuf_message proto_volume, proto_persistent_volume_spec, proto_object_field_selector,
	proto_resource_field_selector;
// pods.c
extern const struct protobuf_message proto_pod_spec, proto_pod_status;
// crd.c
extern const struct protobuf_message proto_custom_resource_definition;

#endif
