// SPDX-License-Identifier: Apache-2.0
// Texts of CustomResourceDefinitions, for tests.
#ifndef TENURE_T_UNIT_DEFINITION_TEXTS_H
#define TENURE_T_UNIT_DEFINITION_TEXTS_H

#define CRDS "customresourcedefinitions.apiextensions.k8s.io"
#define WIDGETS "widgets.example.com"
#define SCHEMA(size) \
	"{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"size\":" size "," \
	"\"color\":{\"type\":\"string\",\"default\":\"red\"}}},\"status\":{\"type\":\"object\"," \
	"\"x-kubernetes-preserve-unknown-fields\":true}}}"
#define CRD(plural, kind, scope, schema, more) \
	"{\"spec\":{\"group\":\"example.com\",\"scope\":\"" scope "\",\"names\":{\"plural\":\"" plural "\",\"kind\":\"" kind "\"}," \
	"\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":" schema "}}]" more "}}"
#define WIDGET(size) CRD("widgets", "Widget", "Namespaced", SCHEMA(size), "")
#define SHARED(range) CRD("gadgets", "Gadget", "Cluster", SCHEMA("{\"type\":\"integer\"}"), ",\"applicableRange\":" range)
#define FORCED "{\"labels\":{\"" CRD_SHARING_LABEL "\":\"Forced\"}}"
#define SMALL "{\"type\":\"integer\",\"maximum\":9}"

#endif
