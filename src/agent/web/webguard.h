/*
 * Which requests are looked at, by their headers: a page of a stranger that the user has open in the same browser
 * can send requests to this machine, and a name of the stranger's can be made to lead here (DNS rebinding). Pure.
 *
 * The name in Host must be one of this machine's own or one that the user named; its port does not matter, because a
 * forwarded port (ssh -L) has another. Requests for data must not come from another site, and those that are no plain
 * reading must carry a header of ours, which a page of a stranger cannot send without being asked first.
 */
#pragma once

#include "base/base.h"

#define WEBGUARD_HOSTS 16

struct webguard {
	char host[WEBGUARD_HOSTS][128]; /* beside localhost, 127.0.0.1 and [::1] */
	size_t n_hosts;
};

/* Headers; NULL: not sent. */
struct webguard_headers {
	const char *host, *origin, *fetch_site, *csrf;
	bool repeated; /* a header that may come once came twice */
};

struct webguard_refusal {
	int status;
	const char *error; /* id of the error */
	const char *text;
};

/* False: no room, or no name. */
bool webguard_allow(struct webguard *g, const char *host);
/* data: it is for data, not for a file of the page; reads: GET or HEAD. True: go on. */
bool webguard_check(const struct webguard *g, const struct webguard_headers *h, bool data, bool reads,
		    struct webguard_refusal *ret);

/*
 * Whether the head of a request may be taken: what stands in front of the server must not be able to read it otherwise
 * (RFC 9112, sections 2.3, 5 and 6). Looks at the fields as libmicrohttpd hands them on; how lines end, and lines that
 * are folded, it has dealt with by then. Begin with {.broken = false}.
 */
struct webguard_head {
	unsigned n_lengths, n_codings, n_hosts;
	bool broken;
};

void webguard_head_field(struct webguard_head *h, const char *name, const char *value);
/* False: it is to be refused, and the connection closed. */
bool webguard_head_is_sound(const struct webguard_head *h, const char *method);
