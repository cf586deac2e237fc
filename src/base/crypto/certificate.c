// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/crypto/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <time.h>

#include "base/buf.h"
#include "base/pool.h"

static const char upn_oid[] = "1.3.6.1.4.1.311.20.2.3";

struct reader {
	struct pool *pool;
	struct certificate *certificate;
	const char *wrong; // NULL: nothing
};

static void add_name(struct reader *reader, enum certificate_kind kind, struct str attribute, struct str value)
{
	struct certificate *certificate = reader->certificate;

	if (certificate->n == CERTIFICATE_NAMES_MAX)
		reader->wrong = "the certificate has more than 100 names";
	else if (str_find(value, '\0', 0) < value.n || !str_utf8_ok(value, NULL))
		reader->wrong = "a name in the certificate has NUL, or is no text";
	else
		certificate->names[certificate->n++] = (struct certificate_name){ .kind = kind, .attribute = str_dup(reader->pool, attribute),
			.value = str_dup(reader->pool, value) };
}

// Any kind of ASN.1 text as UTF-8.
static void add_string(struct reader *reader, enum certificate_kind kind, struct str attribute, const ASN1_STRING *string)
{
	unsigned char *utf8 = NULL;
	int n = ASN1_STRING_to_UTF8(&utf8, string);

	if (n < 0)
		reader->wrong = "a name in the certificate has NUL, or is no text";
	else
		add_name(reader, kind, attribute, str_n((const char *)utf8, (size_t)n));
	OPENSSL_free(utf8);
}

static void read_subject(struct reader *reader, const X509 *x509)
{
	const X509_NAME *subject = X509_get_subject_name(x509);
	char numbers[128];

	for (int i = 0; i < X509_NAME_entry_count(subject) && reader->wrong == NULL; i++) {
		const X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, i);
		const ASN1_OBJECT *object = X509_NAME_ENTRY_get_object(entry);
		int nid = OBJ_obj2nid(object), n = OBJ_obj2txt(numbers, sizeof(numbers), object, 1);
		struct str attribute = nid != NID_undef ? str_c(OBJ_nid2sn(nid)) : str_c(numbers);

		if (n <= 0 || (size_t)n >= sizeof(numbers))
			reader->wrong = "an attribute of the certificate's subject has no readable type";
		else
			add_string(reader, CERTIFICATE_SUBJECT, attribute, X509_NAME_ENTRY_get_data(entry));
	}
}

// The names of an IA5String: ASCII alone. DNS names are compared without regard to case, so they are kept in lower case.
static void add_ascii(struct reader *reader, enum certificate_kind kind, const ASN1_IA5STRING *string)
{
	struct str text = str_n((const char *)ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string));
	struct buf lower = buf_new(reader->pool, text.n + 1);

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c <= ' ' || c > '~')
			reader->wrong = "a name in the certificate has NUL, or is no text";
		buf_addc(&lower, kind == CERTIFICATE_DNS ? ascii_to_lower(c) : c);
	}
	if (reader->wrong == NULL)
		add_name(reader, kind, STR(""), buf_str(&lower));
}

static void read_other_name(struct reader *reader, const OTHERNAME *name)
{
	char numbers[128];

	if (OBJ_obj2txt(numbers, sizeof(numbers), name->type_id, 1) > 0 && strcmp(numbers, upn_oid) == 0 &&
		name->value->type == V_ASN1_UTF8STRING)
		add_string(reader, CERTIFICATE_UPN, STR(""), name->value->value.utf8string);
}

static void read_alternatives(struct reader *reader, const X509 *x509)
{
	int critical;
	GENERAL_NAMES *names = X509_get_ext_d2i(x509, NID_subject_alt_name, &critical, NULL);

	if (names == NULL && critical != -1) // -1: there are none
		reader->wrong = "the certificate's alternative names can't be read";
	for (int i = 0; i < sk_GENERAL_NAME_num(names) && reader->wrong == NULL; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
		switch (name->type) {
		case GEN_EMAIL:
			add_ascii(reader, CERTIFICATE_EMAIL, name->d.rfc822Name);
			break;
		case GEN_DNS:
			add_ascii(reader, CERTIFICATE_DNS, name->d.dNSName);
			break;
		case GEN_URI:
			add_ascii(reader, CERTIFICATE_URI, name->d.uniformResourceIdentifier);
			break;
		case GEN_OTHERNAME:
			read_other_name(reader, name->d.otherName);
			break;
		default:
			break;
		}
	}
	GENERAL_NAMES_free(names);
}

static bool read_time(const ASN1_TIME *time, int64_t *us)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(time, &tm) != 1)
		return false;
	*us = (int64_t)timegm(&tm) * 1000000;
	return true;
}

// Parses the bytes between the first two lines of PEM, which are in *der afterwards.
static X509 *parse(struct pool *pool, struct str pem, struct str *der)
{
	static const struct str begin = STR_INIT("-----BEGIN CERTIFICATE-----"), end = STR_INIT("-----END CERTIFICATE-----");
	const char *from = pem.n > 0 ? memmem(pem.p, pem.n, begin.p, begin.n) : NULL;
	const char *to = from != NULL ? memmem(from, (size_t)(pem.p + pem.n - from), end.p, end.n) : NULL;

	if (to == NULL)
		return NULL;
	struct buf text = buf_new(pool, (size_t)(to - from) + 1);
	for (const char *p = from + begin.n; p < to; p++) {
		if (strchr(" \t\r\n", *p) == NULL || *p == '\0')
			buf_addc(&text, *p);
	}
	struct str base64 = buf_str(&text);
	if (base64.n == 0 || !base64_is_valid(base64))
		return NULL;
	*der = base64_decoded(pool, base64);
	const unsigned char *at = (const unsigned char *)der->p;
	X509 *x509 = d2i_X509(NULL, &at, (long)der->n);
	if (x509 != NULL && at != (const unsigned char *)der->p + der->n) {
		X509_free(x509);
		x509 = NULL;
	}
	return x509;
}

const char *certificate_read(struct pool *pool, struct str pem, struct certificate *certificate)
{
	struct reader reader = { .pool = pool, .certificate = certificate };
	struct str der;

	certificate->n = 0;
	if (pem.n > CERTIFICATE_PEM_MAX)
		return "the certificate has more than 32768 bytes";
	X509 *x509 = parse(pool, pem, &der);
	if (x509 == NULL) {
		reader.wrong = "the certificate can't be read";
	} else {
		digest_sha256(der, certificate->thumbprint);
		read_subject(&reader, x509);
		if (reader.wrong == NULL)
			read_alternatives(&reader, x509);
		if (reader.wrong == NULL && (!read_time(X509_get0_notBefore(x509), &certificate->from_us) ||
			!read_time(X509_get0_notAfter(x509), &certificate->until_us)))
			reader.wrong = "the certificate's times can't be read";
	}
	X509_free(x509);
	ERR_clear_error(); // or a later call of TLS would be taken to have failed
	return reader.wrong;
}
