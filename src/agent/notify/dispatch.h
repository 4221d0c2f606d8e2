/*
 * One notice to one channel, now: secrets read from their files, the message
 * made, sent, the answer understood. Blocks for the channel's timeout at most.
 */
#pragma once

#include "model/notify/channel.h"
#include "tell/notify/notify.h"

struct dispatch {
	enum notify_outcome outcome;
	char why[240]; /* what came back, also when it arrived; no secrets */
	int64_t retry_after_ms; /* what the server asked for; 0: nothing */
};

void dispatch_now(const struct channel *c, const struct notice *n, int64_t now_unix_ms, struct dispatch *ret);
