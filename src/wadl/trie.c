// SPDX-License-Identifier: Apache-2.0
// Builds the tree of paths.
#include "base/base.h"

#include "base/buf.h"
#include "wadl/table.h"

void *table_grow(struct pool *pool, const void *items, size_t n, size_t size)
{
	if (n > 0 && (n & (n - 1)) != 0)
		return (void *)(uintptr_t)items; // there is room: the capacity is always a power of two
	char *larger = pool_calloc(pool, n > 0 ? 2 * n : 1, size);
	if (n > 0)
		memcpy(larger, items, n * size);
	return larger;
}

static struct route_node *find_literal(const struct route_node *node, struct str literal)
{
	struct route_node *child = node->literals;

	while (child != NULL && !str_eq(child->literal, literal))
		child = child->next;
	return child;
}

// The child of node for the segment, which is made if it does not exist.
static struct route_node *descend(struct pool *pool, struct route_node *node, const struct route_segment *segment)
{
	if (segment->is_template) {
		if (node->any == NULL)
			node->any = POOL_NEW(pool, struct route_node);
		return node->any;
	}
	struct route_node *child = find_literal(node, segment->text);
	if (child == NULL) {
		child = POOL_NEW(pool, struct route_node);
		child->literal = segment->text;
		child->next = node->literals;
		node->literals = child;
	}
	return child;
}

bool table_insert(struct route_table *table, const struct route_segment *segments, size_t n,
	const struct wadl_method *method)
{
	struct route_node *node = &table->root;

	for (size_t i = 0;; i++) {
		if (node->dialect == NULL)
			node->dialect = method->route.dialect;
		if (i == n)
			break;
		node = descend(table->pool, node, &segments[i]);
	}
	if (node->methods[method->route.method] != NULL)
		return false;
	node->methods[method->route.method] = method;
	if (node->first == NULL)
		node->first = method;
	table->methods = table_grow(table->pool, table->methods, table->n_methods, sizeof(*table->methods));
	table->methods[table->n_methods++] = method;
	return true;
}

// The value of Allow for a node: HEAD comes with GET, and OPTIONS is always answered.
static struct str allow_of(struct pool *pool, const struct route_node *node)
{
	struct buf out = buf_new(pool, 32);

	for (int m = 0; m < METHOD__COUNT; m++) {
		const struct wadl_method *get = node->methods[METHOD_GET];
		bool by_get = m == METHOD_HEAD && get != NULL && !get->no_head;
		if (node->methods[m] == NULL && !by_get && m != METHOD_OPTIONS)
			continue;
		buf_addf(&out, "%s%s", out.n > 0 ? ", " : "", http_method_name((enum http_method)m));
	}
	return buf_str(&out);
}

// Recursive; the depth is that of the longest path, at most URI_MAX_SEGMENTS.
static void finish_node(struct pool *pool, struct route_node *node)
{
	if (node->first != NULL)
		node->allow = allow_of(pool, node);
	for (struct route_node *child = node->literals; child != NULL; child = child->next)
		finish_node(pool, child);
	if (node->any != NULL)
		finish_node(pool, node->any);
}

void table_finish(struct route_table *table)
{
	finish_node(table->pool, &table->root);
}
