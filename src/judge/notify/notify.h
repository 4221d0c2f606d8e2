/*
 * What is sent on one channel, and when. Pure: from waiting notices, what was sent before and the time to the next
 * step.
 *
 *  - The first notice of a key goes out at once. More of the same key are gathered: for group_ms, then twice as long
 *    each time, up to repeat_ms.
 *  - The same notice (same id) again is a reminder: one in repeat_ms.
 *  - A resolved notice goes out once, if the key had been reported.
 *  - A token bucket bounds the messages a minute. When more keys are due than it has tokens, they become one digest.
 *  - After a failure: exponential back-off with jitter, or the time that the server asked for.
 *
 * Times are unix milliseconds: they outlive reboots. A clock that was set back never makes anything wait longer than
 * its own interval.
 */
#pragma once

#include "base/base.h"
#include "model/notify/delivery.h"

#define NOTIFY_ITEMS 256
/* The longest back-off for a channel that fails, and the longest wait that a server may ask for. */
#define NOTIFY_BACKOFF_MAX_MS 300000
#define NOTIFY_RETRY_AFTER_MAX_MS 3600000

struct notify_rules {
	int64_t group_ms, repeat_ms;
	double per_minute; /* also the bucket's size */
	bool digest; /* this kind of channel can put several keys into one message */
};

struct notify_item {
	const char *key, *id; /* borrowed */
	bool resolved;
};

enum notify_act {
	NOTIFY_IDLE, /* nothing waits */
	NOTIFY_WAIT, /* until until_ms */
	NOTIFY_SEND, /* the taken ones, all of one key, as one message */
	NOTIFY_DIGEST, /* the taken ones as one message */
	NOTIFY_DROP, /* the taken ones need not be sent */
};

struct notify_step {
	enum notify_act act;
	int64_t until_ms;
	bool taken[NOTIFY_ITEMS];
};

/* items: oldest first, at most NOTIFY_ITEMS. */
void notify_judge(const struct notify_rules *r, const struct delivery *l, const struct notify_item *items, size_t n,
		  int64_t now_ms, struct notify_step *ret);
/* The step's message was delivered. */
void notify_delivered(struct delivery *l, const struct notify_rules *r, const struct notify_item *items, size_t n,
		      const struct notify_step *step, int64_t now_ms);
/*
 * It was not, and another try is worth it. retry_after_ms: the wait that the server asked for, 0: none; dice: 0 to 1.
 */
void notify_failed(struct delivery *l, int64_t now_ms, int64_t retry_after_ms, double dice);
/* The message was rejected and is not sent again. */
void notify_refused(struct delivery *l, const struct notify_rules *r, int64_t now_ms);
