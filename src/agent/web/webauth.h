/*
 * Who may do what on the page: three tokens of 256 bits, one a role, in "<state>/web-tokens" (0600, made at the first
 * start), codes that open the page once, and sessions of a browser that was given one of either.
 *
 * A code stands in the address that is printed. It is as random as a token, in this process's memory only, and good for
 * one login: whoever reads the address later has nothing.
 *
 * A session is a cookie "<role>.<end>.<HMAC>", so the server keeps none, and a new file of tokens ends them all. All
 * comparisons with secrets take the same time whatever is wrong with them. Errors: -errno.
 */
#pragma once

#include "agent/web/webroute.h"
#include "base/digest.h"
#include "base/fault.h"

#define WEBAUTH_FILE "web-tokens"
#define WEBAUTH_SESSION_S (INT64_C(7) * 24 * 3600)
#define WEBAUTH_CODES 64

struct webauth {
	char token[WEB_ADMIN + 1][DIGEST_HEX_CAP]; /* by role; [WEB_NOBODY] is empty */
	uint8_t key[DIGEST_BYTES]; /* of the sessions */
	char cookie[32]; /* name of the cookie */
	bool kept; /* the tokens are in the file; false: only in this process */
};

/* Codes that nobody has used yet. Of each role the first that was made stays, of the others the newest do. */
struct webcodes {
	char code[WEB_ADMIN + 1][WEBAUTH_CODES][DIGEST_HEX_CAP]; /* by role; an empty one is no code */
	size_t made[WEB_ADMIN + 1];
};

/* Reads the file or makes it. One that others may read, or that is none of ours, is refused with a sentence. */
int must_check webauth_open(const char *state_dir, struct webauth *ret, struct fault *f);
/* Tokens for this process only, where the state directory cannot be written. */
int must_check webauth_make(struct webauth *ret);
/* The text of the file taken apart. -EINVAL. Pure. */
int must_check webauth_parse(const char *text, size_t len, struct webauth *ret);
/* Names the cookie; sessions of one port are none of another. Pure. */
void webauth_name(struct webauth *a, unsigned port);
/* The role of a token; WEB_NOBODY. Pure. */
enum web_role webauth_token(const struct webauth *a, const char *token);
/* A new code of this role. */
int must_check webcodes_make(struct webcodes *c, enum web_role role, char dst[static DIGEST_HEX_CAP]);
/* The role of a code, which is none from then on; WEB_NOBODY. */
enum web_role webcodes_take(struct webcodes *c, const char *code);
/* The role that a request's headers prove; each may be NULL. Pure. */
enum web_role webauth_request(const struct webauth *a, const char *authorization, const char *cookies,
			      int64_t now_unix_s);
/* The value of a cookie for this role. Pure. */
void webauth_session(const struct webauth *a, enum web_role role, int64_t now_unix_s, char dst[static 112]);
