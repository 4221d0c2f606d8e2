/* A new address of a page's server that runs already: `vigil dashboard --port N`, where that is this user's. */
#pragma once

#include "agent/web/webauth.h"
#include "agent/web/webserver.h"

#define DASHBOARD_NOT_OURS 1

/*
 * Asks what listens on this port of 127.0.0.1 for a code, with the admin's token of the state directory. The token is
 * sent only to a socket that is this user's by what the kernel says, and behind which vigil has answered.
 *
 * auth keeps the token that ret points to. DASHBOARD_NOT_OURS: it is another program, or another user's; f stays as it
 * is. -errno with a sentence.
 */
int must_check dashboard_ask(const char *state_dir, unsigned port, struct webauth *auth, struct web_address *ret,
			     struct fault *f);
