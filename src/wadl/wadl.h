// SPDX-License-Identifier: Apache-2.0
// Reads WADL files (W3C submission, 31 August 2009) and compiles a route table.
//
// A dialect's WADL (tenancy.wadl) is the only list of its routes: <resources> with path templates, template parameters
// and their xsd types, methods with ids, parameters, representations in order of preference, response statuses. In
// Tenure's own namespace, xmlns:t="urn:tenure:wadl", as attributes of <method>: t:role (none reader member admin
// operator; required), t:txn (none read snapshot write; required), t:min, t:max (microversions).
//
// An endpoint's WADL composes: <resource path="{version}/{tenant}"> with <method href="tenancy.wadl#putTenant"/>. What is
// referred to keeps what its definition says: the parameters of the resource it is defined on, its representations,
// role, mode. The composition's <application t:role="operator"> is the least role of every method in it.
// Whole subtrees are composed as WADL has it: <resource path="baremetal" type="tree-baremetal.wadl#users"> has what the
// <resource_type id="users"> of that file holds, references to methods and resources, as if they stood there; several types
// stand with blanks between them. Each file on the way may raise the least role. A <resource_type> is read only where it is
// referred to.
// No other way of composing exists.
#ifndef TENURE_WADL_WADL_H
#define TENURE_WADL_WADL_H

#include "wadl/route.h"

// Looks up the handler of a method: called with (arg, dialect, method id), returns NULL if there is none.
typedef const void *wadl_find_handler(void *arg, const char *dialect, const char *id);

// Loads dir/file and the files it refers to, all in dir. file may be an absolute path as well: what it refers to is then
// looked up in its folder first, then in dir. References are names without a folder. No network, no
// entities, no DOCTYPE, at most 1 MiB and depth 64 each. NULL on failure: *error, from malloc, is "FILE:LINE: what is
// wrong" and the caller frees it. Refused, among others: an href to a file or id that does not exist, a method without
// handler, files that refer to each other in a circle, two methods of one name at one path, a path whose template
// parameters differ from those of the method's definition, an unknown type, a pattern that does not compile, unknown
// elements and attributes.
struct route_table *wadl_load(const char *dir, const char *file, wadl_find_handler *find, void *arg, char **error);
void wadl_free(struct route_table **table);

#endif
