// SPDX-License-Identifier: Apache-2.0
// Reads WADL files (W3C submission, 31 August 2009) and compiles a route table.
//
// A dialect's WADL (tenancy.wadl) is the only list of its routes: <resources> with path templates, template parameters
// and their xsd types, methods with ids, parameters, representations in order of preference, response statuses. In
// Tenure's own namespace, xmlns:t="urn:tenure:wadl", as attributes of <method>: t:role (none reader member admin
// operator; required), t:txn (none read snapshot write; required), t:min, t:max (microversions).
//
// An endpoint's WADL is a composition: <resource path="{version}/{tenant}"> with <method href="tenancy.wadl#putTenant"/>. A
// referenced method keeps what its definition says: the parameters of the resource it is defined on, its representations, its
// role and its mode. <application t:role="operator"> in the composition is the least role of every method in it.
// Whole subtrees are included by type: <resource path="baremetal" type="tree-baremetal.wadl#users"> contains the references to
// methods and the resources of <resource_type id="users"> in that file, as if they stood there. Several types are separated by
// blanks. Each file on the way may raise the least role. A <resource_type> is read only where it is referred to.
// There is no other way of composing.
#ifndef TENURE_WADL_WADL_H
#define TENURE_WADL_WADL_H

#include "wadl/route.h"

// Finds the handler of a method. Returns NULL if there is none.
typedef const void *wadl_find_handler(void *arg, const char *dialect, const char *id);

// Loads dir/file and the files that it refers to, all in dir. file may be an absolute path: references are then searched in its
// folder first, and in dir after that. A reference is a file name without a folder. Network access, entities and DOCTYPE are not
// allowed; a file has at most 1 MiB and a depth of 64. NULL on failure: *error, from malloc, is "FILE:LINE: what is wrong"; the
// caller frees it.
// Errors are, among others: an href to a file or id that does not exist, a method without handler, files that refer to each other
// in a circle, two methods for one HTTP method at one path, a path whose template parameters differ from those of the method's
// definition, an unknown type, a pattern that does not compile, unknown elements and attributes.
struct route_table *wadl_load(const char *dir, const char *file, wadl_find_handler *find, void *arg, char **error);
void wadl_free(struct route_table **table);

#endif
