// SPDX-License-Identifier: Apache-2.0
// The argument of libxml2's error handlers, which is const since 2.12.
#ifndef TENURE_REPR_XML_ERROR_H
#define TENURE_REPR_XML_ERROR_H

#include <libxml/xmlerror.h>
#include <libxml/xmlversion.h>

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_parser_error;
#else
typedef xmlError *xml_parser_error;
#endif

#endif
