/*
 * One message handed to a server over HTTP(S) or SMTP(S). libcurl is loaded
 * when the first message is sent, so that no other start of vigil pays for it.
 *
 * Certificates are verified, redirects are not followed, at most 64 KiB of an
 * answer and of its head are read and 4 KiB kept, and everything has one
 * deadline (a mail server's last answer one second more). Proxies are
 * taken from the environment (https_proxy, no_proxy), as curl does.
 */
#pragma once

#include "tell/notify/notify.h"

/* *ret is set in every case, also without an answer. Blocks for at most the channel's timeout. */
void http_send(const struct channel *c, const struct notify_secrets *s, const struct notify_request *r,
	       struct notify_answer *ret);
