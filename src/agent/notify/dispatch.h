/*
 * Sends one notice to one channel at once: reads the secrets from their files, builds the message, sends it and judges
 * the answer. Blocks for the channel's timeout at most.
 */
#pragma once

#include "model/notify/channel.h"
#include "tell/notify/notify.h"

struct dispatch {
	enum notify_outcome outcome;
	char why[240]; /* what was answered, also on success; never contains secrets */
	int64_t retry_after_ms; /* delay that the server asked for; 0: none */
};

void dispatch_now(const struct channel *c, const struct notice *n, int64_t now_unix_ms, struct dispatch *ret);
