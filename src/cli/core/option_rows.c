// SPDX-License-Identifier: Apache-2.0
// The table of all options, for parsing, help and completion.
#include "base/base.h"

#include "cli/core/cli.h"

const struct option_row option_rows[OPT__COUNT] = {
	[OPT_URL] = { "--url", 0, "URL", "the URL of the service's endpoint" },
	[OPT_TOKEN] = { "--token", 0, "TOKEN", "the token to send; other users see it in the list of processes" },
	[OPT_TOKEN_FILE] = { "--token-file", 0, "FILE", "a file with the token, readable only by its owner" },
	[OPT_CA_FILE] = { "--ca-file", 0, "FILE", "a PEM file of certificate authorities to trust" },
	[OPT_TIMEOUT] = { "--timeout", 0, "SECONDS", "the time limit of one request; default 60" },
	[OPT_FORMAT] = { "--format", 0, "table|json|csv", "the output format; default table" },
	[OPT_COLUMNS] = { "--columns", 0, "NAME,…", "the columns to show: names, or paths such as data.color" },
	[OPT_HELP] = { "--help", 'h', NULL, "show this help" },
	[OPT_TENANT] = { "--tenant", 't', "TENANT", "the tenant that owns the resources" },
	[OPT_NAMESPACE] = { "--namespace", 'n', "NAMESPACE", "the namespace; default \"default\", in lists all" },
	[OPT_ETAG] = { "--etag", 0, "TAG|auto|new", "only if the etag is TAG or the one shown last, or the object is new" },
	[OPT_NO_ETAG] = { "--no-etag", 0, NULL, "do not check the etag, and do not warn about it" },
	[OPT_RETRY] = { "--retry", 0, NULL, "if others changed other fields, merge and try again" },
	[OPT_DRY_RUN] = { "--dry-run", 0, NULL, "print the request as a curl command; send nothing" },
	[OPT_YES] = { "--yes", 'y', NULL, "do not ask for confirmation" },
	[OPT_FILE] = { "--file", 'f', "FILE", "the file with the document; - is standard input" },
	[OPT_PATCH] = { "--patch", 'p', "JSON", "a JSON merge patch (RFC 7396); for bare metal a JSON Patch (RFC 6902)" },
	[OPT_DELETED] = { "--deleted", 0, NULL, "list deleted ones that can be recovered" },
	[OPT_UID] = { "--uid", 0, "UID", "the one to recover if several were deleted" },
	[OPT_TIER] = { "--tier", 0, "TIER", "the tenant's tier" },
	[OPT_TO] = { "--to", 0, "TENANT", "the tenant to move to" },
	[OPT_ALL] = { "--all", 0, NULL, "all of them; of a move, SOURCE is a tenant" },
	[OPT_PREVIEW] = { "--preview", 0, NULL, "show what would be done and what blocks it" },
	[OPT_IF_MATCH] = { "--if-match", 0, "TAG|auto", "only if the preview with this etag, or the last one, still holds" },
	[OPT_ASYNC] = { "--async", 0, NULL, "move in the background, and wait for the end" },
	[OPT_NO_WAIT] = { "--no-wait", 0, NULL, "print the id of the background move and do not wait" },
	[OPT_FIELDS] = { "--fields", 0, "NAME,…", "request and show only these members" },
	[OPT_LONG] = { "--long", 0, NULL, "show more columns" },
	[OPT_SORT] = { "--sort", 0, "FIELD[:desc]", "the member to sort by" },
	[OPT_LIMIT] = { "--limit", 0, "N", "list at most N; default all" },
	[OPT_MARKER] = { "--marker", 0, "UUID", "begin behind this one" },
	[OPT_REASON] = { "--reason", 0, "TEXT", "the reason to record" },
	[OPT_GENERATION] = { "--generation", 0, "N|auto", "only if the provider's generation is N, or the one shown last" },
	[OPT_REPLACE] = { "--replace", 0, NULL, "replace all; what you do not name gets its default" },
};
