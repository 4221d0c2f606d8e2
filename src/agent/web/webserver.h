/*
 * The page's server: `vigil dashboard`, and beside `vigil run --dashboard`. One process, one thread, one loop. It reads
 * the store, and leaves what may take long (looking into processes) to children of its own program. It serves what
 * docs/formats/api.md lists.
 *
 * It changes nothing of a job but by a signal that an admin asks for.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"
#include "base/digest.h"
#include "base/fault.h"
#include "tell/store/store.h"

#define WEB_PORT 9877
#define WEB_HOSTS 8

/* Where it can be reached. */
struct web_address {
	char url[400]; /* with the code */
	char plain[300]; /* without it; a socket's path for a unix socket */
	char code[DIGEST_HEX_CAP]; /* opens the page once, as admin */
	char note[640]; /* what was different from what one expects; empty: nothing */
	const char *token; /* of the admin, for programs; it is never in the url */
	pid_t pid; /* of the server; 0: not known */
	bool is_unix, tokens_kept;
};

struct web_want {
	const char *state_dir;
	bool state_given; /* by --state: children are told so */
	/* Where to listen: "ADDR:PORT", "unix:PATH"; NULL: 127.0.0.1, at port or the next that is free */
	const char *listen;
	uint32_t port; /* 0: WEB_PORT or the next free one */
	const char *allow_host[WEB_HOSTS]; /* NULL at the end */
	const char *tls_cert, *tls_key; /* files; NULL: no TLS */
	const char *otlp, *otlp_token; /* a receiver of metrics and a file with its token; NULL: none */
	bool otlp_insecure; /* http:// also to other machines */
	pid_t until; /* end when this process has ended; 0: by a signal only */
	/*
	 * Opens the store for reading. STORE_NONE: there is none yet. *ret_lent: it holds copies of rows of another
	 * store, which grow old.
	 */
	int (*open_store)(void *ctx, struct store **ret, bool *ret_lent, struct fault *f);
	/* It listens; told once. */
	void (*listens)(void *ctx, const struct web_address *a);
	void *ctx;
};

/* Serves until it is told to end. 0, or a negative errno with a sentence. */
int must_check webserver_run(const struct web_want *want, struct fault *f);
