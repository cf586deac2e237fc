// SPDX-License-Identifier: Apache-2.0
// libtenure: tenants, resources, bare metal and resource providers of a Tenure service as objects that keep their etag.
// The manual is libtenure(3).
//
// Documents come and go as JSON text. Strings that the library returns belong to the object they came from and last
// until the next call that changes it. There is no global state: a client and what was made from it are for one thread
// at a time, different clients are independent. The library ends the process only when memory runs out.
#ifndef TENURE_TENURE_H
#define TENURE_TENURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TENURE_API __attribute__((visibility("default")))
#else
#define TENURE_API
#endif

struct tenure_client;
struct tenure_resource;
struct tenure_list;
struct tenure_move;

// How a call ended. Values stay as they are; new ones come at the end.
enum tenure_status {
	TENURE_OK = 0,
	TENURE_END = 1,           // a list is over
	TENURE_PENDING = 2,       // a move goes on in the background
	TENURE_INVALID = 3,       // the call makes no sense; nothing was sent
	TENURE_REFUSED = 4,       // 400, 413, 415 and the like: what was sent isn't right
	TENURE_UNAUTHENTICATED = 5, // 401
	TENURE_FORBIDDEN = 6,     // 403
	TENURE_NOT_FOUND = 7,     // 404
	TENURE_GONE = 8,          // 410: deleted, recoverable until the problem's "purge_at"
	TENURE_MOVED = 9,         // 301: tenure_error_location() says where to
	TENURE_CONFLICT = 10,     // 409 but for blocked moves
	TENURE_BLOCKED = 11,      // 409: the problem's "blockers" say what keeps a move from being done
	TENURE_STALE = 12,        // 412: it changed since its etag was read
	TENURE_NEEDS_ETAG = 13,   // 428: this service wants an etag with each change
	TENURE_UNAVAILABLE = 14,  // no connection, 503, or 429 (too many requests): nothing was changed
	TENURE_UNCERTAIN = 15,    // a change whose outcome is unknown: read again
	TENURE_PROTOCOL = 16,     // the answer is not one of a Tenure service, such as a redirect to a page for logging in
	TENURE_FAILED = 17,       // 5xx; or a move in the background that failed
};

// Which etag a change carries.
enum tenure_etag_kind { TENURE_ETAG_IS_NONE, TENURE_ETAG_IS_CURRENT, TENURE_ETAG_IS_TEXT, TENURE_ETAG_IS_NEW };
struct tenure_etag {
	enum tenure_etag_kind kind;
	const char *text;
};
#ifdef __cplusplus
#define TENURE_ETAG_OF(kind, text) (tenure_etag{ kind, text })
#else
#define TENURE_ETAG_OF(kind, text) ((struct tenure_etag){ kind, text })
#endif
// The etag that the object holds: the change is made only if the resource is still as it was read. TENURE_INVALID if the object
// holds no etag.
#define TENURE_ETAG_CURRENT TENURE_ETAG_OF(TENURE_ETAG_IS_CURRENT, NULL)
// No etag: the change is made whatever the resource is by now.
#define TENURE_ETAG_NONE TENURE_ETAG_OF(TENURE_ETAG_IS_NONE, NULL)
// This etag, written as in a header field or a document. "*": the change is made only if the resource exists.
#define TENURE_ETAG_TEXT(etag_text) TENURE_ETAG_OF(TENURE_ETAG_IS_TEXT, etag_text)
// The change is made only if nothing is there yet (If-None-Match: *); for tenure_resource_put().
#define TENURE_ETAG_NEW TENURE_ETAG_OF(TENURE_ETAG_IS_NEW, NULL)

// For people: "it changed since it was read". Never NULL.
TENURE_API const char *tenure_status_text(enum tenure_status status);
// The version of the library: "0.1.0".
TENURE_API const char *tenure_version(void);

// ---- clients

// url: of an endpoint, "https://tenure.example.org"; token may be NULL. Sends nothing. NULL if url is not an http or
// https URL, or token has a character that a header field may not have. All that is made from a client must be freed
// before it.
TENURE_API struct tenure_client *tenure_client_new(const char *url, const char *token);
// Sets *client to NULL; does nothing on NULL, as all these do.
TENURE_API void tenure_client_free(struct tenure_client **client);
// Milliseconds to connect (10,000), and for a whole call without its retries (60,000). 0: for ever.
TENURE_API void tenure_client_set_timeouts(struct tenure_client *client, long connect_ms, long call_ms);
// A PEM file of certificate authorities to trust in place of the system's.
TENURE_API void tenure_client_set_ca_file(struct tenure_client *client, const char *path);
// How often a call is sent again when that is safe (3), and the longest wait before it (5,000 ms): libtenure(3),
// RETRIES.
TENURE_API void tenure_client_set_retries(struct tenure_client *client, unsigned retries, long longest_wait_ms);

// About the last call by this client or by what was made from it that did not end with TENURE_OK:
TENURE_API const char *tenure_error_text(const struct tenure_client *client); // a sentence for people; "" for none
TENURE_API int tenure_error_http(const struct tenure_client *client);         // HTTP status; 0: there was no answer
TENURE_API const char *tenure_error_location(const struct tenure_client *client); // of a 301, a URL; or NULL
// A member of the problem document, "type", "etag", "request_id", "purge_at": a string as it is, all else as JSON. NULL
// when there is none.
TENURE_API const char *tenure_error_member(struct tenure_client *client, const char *name);
// The whole problem document, or NULL.
TENURE_API const char *tenure_error_document(const struct tenure_client *client, size_t *length);

// ---- resources and tenants

// An object for this address; sends nothing. space: the namespace, NULL for types that stand in the tenant itself. Ids
// are UTF-8, not encoded. NULL if one of them is not valid ("", "..", or with "/").
TENURE_API struct tenure_resource *tenure_resource_new(struct tenure_client *client, const char *tenant,
	const char *space, const char *type, const char *name);
// A tenant, in the same way. Its documents are {"tenant": {…}}.
TENURE_API struct tenure_resource *tenure_tenant_new(struct tenure_client *client, const char *id);
TENURE_API void tenure_resource_free(struct tenure_resource **resource);

// Reads it; the object holds document and etag then.
TENURE_API enum tenure_status tenure_resource_get(struct tenure_resource *resource);
// Makes or replaces it. After TENURE_OK the object holds what it is now.
TENURE_API enum tenure_status tenure_resource_put(struct tenure_resource *resource, const char *document, size_t length,
	struct tenure_etag etag);
// Changes members by a JSON merge patch (RFC 7396). After TENURE_OK the object holds what it is now. Of a tenant and of a
// provider, the patch is applied here to the document that the object holds, and the result put with the etag asked for. null for
// a tenant's metadata or etag_required sets what a new tenant has.
TENURE_API enum tenure_status tenure_resource_update(struct tenure_resource *resource, const char *patch, size_t length,
	struct tenure_etag etag);
// Deletes it, recoverably.
TENURE_API enum tenure_status tenure_resource_delete(struct tenure_resource *resource, struct tenure_etag etag);
// Changes it by a JSON Patch (RFC 6902), all of it or nothing. After TENURE_OK the object holds what it is now.
TENURE_API enum tenure_status tenure_resource_patch(struct tenure_resource *resource, const char *patch, size_t length,
	struct tenure_etag etag);
// Recovers the resource with this uid that was deleted at this address; uid NULL: the one that was deleted last. With
// an etag only if the resource had that etag when it was deleted.
TENURE_API enum tenure_status tenure_resource_recover(struct tenure_resource *resource, const char *uid,
	struct tenure_etag etag);

// What the object holds: NULL before the first answer. NUL follows the text.
TENURE_API const char *tenure_resource_document(const struct tenure_resource *resource, size_t *length);
TENURE_API const char *tenure_resource_etag(const struct tenure_resource *resource);
// As if it had been read with this etag, remembered from another time. TENURE_INVALID if it is not a valid etag.
TENURE_API enum tenure_status tenure_resource_set_etag(struct tenure_resource *resource, const char *etag);
// "/v2.0/acme/namespaces/default/configmaps/web", encoded.
TENURE_API const char *tenure_resource_path(const struct tenure_resource *resource);

// ---- bare metal: what is below /baremetal/v1, at microversion 1.82
//
// The same objects, and the calls above do for them as well, but for what only PATCH can do:
//   tenure_resource_put()     makes the document out of what the object holds: the differences are sent as a JSON
//                             Patch. What the service alone sets (uuid, etag, times, links) is passed over.
//   tenure_resource_update()  makes a JSON Patch of the merge patch, by what the object holds.
//   tenure_resource_recover() is for the resource of the tenant, "nodes" and the node's UUID.
// The first two end with TENURE_INVALID before the object has been read.

// kind: "nodes", "ports", "portgroups", "chassis" or, to be read only, "drivers". ident: its UUID; the name of a node,
// a port group or a driver; NULL for one that tenure_resource_create() is to make. Sends nothing. NULL if kind or ident
// is not valid.
TENURE_API struct tenure_resource *tenure_metal_new(struct tenure_client *client, const char *kind, const char *ident);
// Makes what has no address yet. After TENURE_OK the object holds it and stands for it by its UUID.
TENURE_API enum tenure_status tenure_resource_create(struct tenure_resource *resource, const char *document,
	size_t length);

// Of nodes. After TENURE_OK the object holds the new etag, if the service told it, and no document.
// reason: NULL for none.
TENURE_API enum tenure_status tenure_node_set_maintenance(struct tenure_resource *node, bool maintenance,
	const char *reason, struct tenure_etag etag);
// Gives it exactly these traits, or one more, or one less.
TENURE_API enum tenure_status tenure_node_set_traits(struct tenure_resource *node, const char *const *traits, size_t n,
	struct tenure_etag etag);
TENURE_API enum tenure_status tenure_node_add_trait(struct tenure_resource *node, const char *trait,
	struct tenure_etag etag);
TENURE_API enum tenure_status tenure_node_remove_trait(struct tenure_resource *node, const char *trait,
	struct tenure_etag etag);

// ---- resource providers: what is below /placement/resource_providers, at microversion 1.39
//
// The same objects. Of what is put, name and parent_provider_uuid are sent, since nothing else can be set there;
// tenure_resource_update() does its part by what the object holds, so that it must have been read before;
// tenure_resource_patch() is not for them, and tenure_resource_recover() is for the resource of the tenant,
// "resourceproviders" and the provider's UUID.

// uuid NULL: one that tenure_resource_create() is to make. Sends nothing. NULL if uuid is not valid.
TENURE_API struct tenure_resource *tenure_provider_new(struct tenure_client *client, const char *uuid);

// ---- lists: pages are fetched as they are needed

enum tenure_list_what { TENURE_LIST_LIVE, TENURE_LIST_DELETED };

// Resources of one type; space NULL: of all namespaces, or of a type that stands in the tenant itself.
TENURE_API struct tenure_list *tenure_list_resources(struct tenure_client *client, const char *tenant,
	const char *space, const char *type, enum tenure_list_what what);
TENURE_API struct tenure_list *tenure_list_tenants(struct tenure_client *client, enum tenure_list_what what);
// Bare metal, kind as in tenure_metal_new(). Items are whole unless the filter "fields" asks for some members only:
// then they must be read before put and update.
TENURE_API struct tenure_list *tenure_list_metal(struct tenure_client *client, const char *kind);
// Resource providers. Items hold no etag: that is told of one alone.
TENURE_API struct tenure_list *tenure_list_providers(struct tenure_client *client);
// A parameter of the list's query, not encoded: "maintenance", "true". Call it again for one that may be repeated, and
// before the first tenure_list_next(). False: it came too late, or name or value is not valid.
TENURE_API bool tenure_list_filter(struct tenure_list *list, const char *name, const char *value);
TENURE_API void tenure_list_free(struct tenure_list **list);
// Items in a page, 1 to 1,000 (100).
TENURE_API void tenure_list_set_page(struct tenure_list *list, unsigned items);
// TENURE_OK: *item is the next one; the caller frees it. It holds its document and, except for providers, its etag.
// TENURE_END: there are no more. After an error the next call goes on where this one stood. TENURE_PROTOCOL also after a
// page that says that there are more, but not where: the list is not whole then.
TENURE_API enum tenure_status tenure_list_next(struct tenure_list *list, struct tenure_resource **item);

// ---- moves

// Moves of all of a tenant's resources; of one resource; of a namespace with its content; or of a node with its ports.
// A node must have been read before. Sends nothing. NULL if the names are not valid, or the resource is a provider, or
// is bare metal other than such a node.
TENURE_API struct tenure_move *tenure_move_all(struct tenure_client *client, const char *tenant,
	const char *destination);
TENURE_API struct tenure_move *tenure_move_resource(const struct tenure_resource *resource, const char *destination);
// A move that went into the background, by the id that tenure_move_id() told.
TENURE_API struct tenure_move *tenure_move_known(struct tenure_client *client, const char *tenant, const char *id);
TENURE_API void tenure_move_free(struct tenure_move **move);

// Asks what the move would do. The object keeps the answer and its etag. TENURE_OK with blockers, too.
TENURE_API enum tenure_status tenure_move_preview(struct tenure_move *move);
TENURE_API const char *tenure_move_etag(const struct tenure_move *move);
// The preview, or a background move's progress: {"move": {…}}.
TENURE_API const char *tenure_move_document(const struct tenure_move *move, size_t *length);
TENURE_API uint64_t tenure_move_size(const struct tenure_move *move); // resources that would move
TENURE_API size_t tenure_move_blockers(const struct tenure_move *move);
// One of them; false when there are not so many. Each pointer may be NULL.
TENURE_API bool tenure_move_blocker(const struct tenure_move *move, size_t index, const char **resource,
	const char **reason, const char **detail);

enum tenure_move_how { TENURE_MOVE_NOW, TENURE_MOVE_BACKGROUND };
// Does it; with TENURE_ETAG_CURRENT only if the preview is still true. TENURE_PENDING: it goes on in the background, as
// large ones do even when asked for now.
TENURE_API enum tenure_status tenure_move_run(struct tenure_move *move, struct tenure_etag etag,
	enum tenure_move_how how);
// Of a background move: TENURE_PENDING while it runs, TENURE_OK when it is done, TENURE_FAILED when it has moved
// nothing; of an undo of a large request, which is followed as a move is, when nothing was taken back. Any other status, and
// TENURE_FAILED with tenure_error_http() above 0, is of this call alone: the move may go on.
TENURE_API enum tenure_status tenure_move_poll(struct tenure_move *move);
TENURE_API void tenure_move_progress(const struct tenure_move *move, uint64_t *moved, uint64_t *total);
TENURE_API const char *tenure_move_id(const struct tenure_move *move); // NULL unless in the background
// URL of where the moved things are now; NULL before it is done.
TENURE_API const char *tenure_move_location(const struct tenure_move *move);

#ifdef __cplusplus
}
#endif

#endif
