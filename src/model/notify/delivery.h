/*
 * The state of a notification channel, kept between messages and between processes: what it was sent, how much of its
 * allowance is used, whether it answers. Plain data; stored by tell/notify/spool, changed by judge/notify. All zero
 * is a new channel. Times are unix milliseconds.
 */
#pragma once

#include "base/base.h"

#define DELIVERY_GROUPS 128

struct delivery_group {
	char key[128], id[96]; /* of the last notice sent */
	int64_t sent_ms;
	uint32_t sent; /* messages since the group was opened */
	bool open;
};

struct delivery {
	struct delivery_group group[DELIVERY_GROUPS];
	size_t n;
	double tokens_used;
	int64_t tokens_ms; /* time for which tokens_used is valid */
	uint32_t fails; /* failures in a row */
	int64_t failed_ms, retry_ms; /* do not try before retry_ms */
	uint64_t delivered, rejected;
	int64_t delivered_ms, rejected_ms;
	char trouble[240]; /* the last failure's sentence; "" after a success */
};
