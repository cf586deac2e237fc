// SPDX-License-Identifier: Apache-2.0
// The table of all options, for parsing, help and completion.
#include "base/base.h"

#include "cli/core/cli.h"

const struct option_row option_rows[OPT__COUNT] = {
	[OPT_URL] = { "--url", 0, "URL", "the service's endpoint" },
	[OPT_TOKEN] = { "--token", 0, "TOKEN", "who asks; others see it in the list of processes" },
	[OPT_TOKEN_FILE] = { "--token-file", 0, "FILE", "a file with the token, readable by its owner alone" },
	[OPT_CA_FILE] = { "--ca-file", 0, "FILE", "certificate authorities to trust, PEM" },
	[OPT_TIMEOUT] = { "--timeout", 0, "SECONDS", "for one call; default 60" },
	[OPT_FORMAT] = { "--format", 0, "table|json|csv", "how results are shown; default table" },
	[OPT_COLUMNS] = { "--columns", 0, "NAME,…", "which columns; a name, or a path as data.color" },
	[OPT_HELP] = { "--help", 'h', NULL, "what the command takes" },
	[OPT_TENANT] = { "--tenant", 't', "TENANT", "whose resources" },
	[OPT_NAMESPACE] = { "--namespace", 'n', "NAMESPACE", "default: \"default\"; of a list, all" },
	[OPT_ETAG] = { "--etag", 0, "TAG|auto|new", "only if it still is TAG, what was shown last, or not there" },
	[OPT_NO_ETAG] = { "--no-etag", 0, NULL, "change it whatever it is now, without a warning" },
	[OPT_RETRY] = { "--retry", 0, NULL, "when others changed other fields, merge and try again" },
	[OPT_DRY_RUN] = { "--dry-run", 0, NULL, "print the request as a line of curl, send nothing" },
	[OPT_YES] = { "--yes", 'y', NULL, "don't ask" },
	[OPT_FILE] = { "--file", 'f', "FILE", "read the document there; - is standard input" },
	[OPT_PATCH] = { "--patch", 'p', "JSON", "a JSON merge patch (RFC 7396); of bare metal a JSON Patch (RFC 6902)" },
	[OPT_DELETED] = { "--deleted", 0, NULL, "those that can be recovered" },
	[OPT_UID] = { "--uid", 0, "UID", "which one, where several were deleted" },
	[OPT_TIER] = { "--tier", 0, "TIER", "the tenant's tier" },
	[OPT_TO] = { "--to", 0, "TENANT", "where to" },
	[OPT_ALL] = { "--all", 0, NULL, "all there is; of a move: SOURCE is a tenant" },
	[OPT_PREVIEW] = { "--preview", 0, NULL, "show what would move and what is in the way" },
	[OPT_IF_MATCH] = { "--if-match", 0, "TAG|auto", "only if the preview with this tag, or the last, is still true" },
	[OPT_ASYNC] = { "--async", 0, NULL, "let it go on in the background, and watch it" },
	[OPT_NO_WAIT] = { "--no-wait", 0, NULL, "print a background move's id and leave it" },
	[OPT_FIELDS] = { "--fields", 0, "NAME,…", "ask for these members alone, and show them" },
	[OPT_LONG] = { "--long", 0, NULL, "more columns" },
	[OPT_SORT] = { "--sort", 0, "FIELD[:desc]", "in this order" },
	[OPT_LIMIT] = { "--limit", 0, "N", "not more than so many; all without it" },
	[OPT_MARKER] = { "--marker", 0, "UUID", "what comes after this one" },
	[OPT_REASON] = { "--reason", 0, "TEXT", "why" },
	[OPT_GENERATION] = { "--generation", 0, "N|auto", "only if the provider still is at N, or as it was shown last" },
	[OPT_REPLACE] = { "--replace", 0, NULL, "these and no others, with defaults for what isn't said" },
};
