// SPDX-License-Identifier: Apache-2.0
// Counts in a resource that others count in at the same time, and loses nothing: read, change, write with the etag of
// what was read; when somebody else was faster, from the start.
//
//   cc -o libtenure-example libtenure-example.c $(pkg-config --cflags --libs tenure)
//   TENURE_TOKEN=… ./libtenure-example https://tenure.example.org acme counter 25
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenure/tenure.h>

// A program with a JSON library would use that here.
static long count_in(const char *document)
{
	const char *count = strstr(document, "\"count\":");

	return count != NULL ? strtol(count + strlen("\"count\":"), NULL, 10) : 0;
}

// Adds one, however often that must be tried.
static enum tenure_status increment(struct tenure_resource *counter, unsigned long *lost_races)
{
	char patch[64];

	for (;;) {
		enum tenure_status status = tenure_resource_get(counter);
		if (status != TENURE_OK)
			return status;
		int n = snprintf(patch, sizeof(patch), "{\"count\":%ld}", count_in(tenure_resource_document(counter, NULL)) + 1);
		status = tenure_resource_update(counter, patch, (size_t)n, TENURE_ETAG_CURRENT);
		if (status != TENURE_STALE)
			return status;
		++*lost_races;
	}
}

// Makes the counter unless somebody has.
static enum tenure_status make(struct tenure_resource *counter)
{
	static const char zero[] = "{\"count\":0}";
	enum tenure_status status = tenure_resource_put(counter, zero, sizeof(zero) - 1, TENURE_ETAG_NEW);

	return status == TENURE_STALE ? TENURE_OK : status;
}

static int run(struct tenure_client *client, const char *tenant, const char *name, long times)
{
	struct tenure_resource *counter = tenure_resource_new(client, tenant, "default", "configmaps", name);
	unsigned long lost_races = 0;

	if (counter == NULL) {
		fprintf(stderr, "%s in %s can't be a resource\n", name, tenant);
		return 1;
	}
	enum tenure_status status = make(counter);
	for (long i = 0; i < times && status == TENURE_OK; i++)
		status = increment(counter, &lost_races);
	if (status == TENURE_OK)
		printf("count %ld, began again %lu times\n", count_in(tenure_resource_document(counter, NULL)), lost_races);
	else
		fprintf(stderr, "%s: %s\n", tenure_status_text(status), tenure_error_text(client));
	tenure_resource_free(&counter);
	return status == TENURE_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: %s URL TENANT NAME TIMES\n", argv[0]);
		return 64;
	}
	struct tenure_client *client = tenure_client_new(argv[1], getenv("TENURE_TOKEN"));
	if (client == NULL) {
		fprintf(stderr, "%s: no URL of a service, or the token is no token\n", argv[1]);
		return 1;
	}
	tenure_client_set_ca_file(client, getenv("TENURE_CA_FILE"));
	int code = run(client, argv[2], argv[3], strtol(argv[4], NULL, 10));
	tenure_client_free(&client);
	return code;
}
