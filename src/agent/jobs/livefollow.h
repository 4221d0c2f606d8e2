/*
 * A reader of a running job's live socket (docs/formats/live.md), for commands and the page's server. Where there is
 * none, or nobody answers in time, its caller goes on with the store.
 *
 * Connecting makes the supervisor look at the job anew, and while a reader stays it looks every second: the series of
 * the job is then as fresh as what is told.
 *
 * Never waits but where a function says so. The socket is opened without following a link, and must be its owner's.
 */
#pragma once

#include "tell/jobs/live.h"

/* Nobody tells anything of this job, or not any more. */
#define LIVEFOLLOW_NONE 1

struct livefollow;

/* j: as stored. LIVEFOLLOW_NONE, or -ENOMEM. */
int must_check livefollow_open(const struct job *j, struct livefollow **ret);
/* Takes NULL, returns it. */
struct livefollow *livefollow_close(struct livefollow *f);
static inline void livefollow_closep(struct livefollow **f)
{
	*f = livefollow_close(*f);
}
/*
 * Takes over what was told meanwhile. Where nothing was told yet it waits for that, at most wait_ns. 0, also where
 * there is nothing new; LIVEFOLLOW_NONE; -ENOMEM.
 */
int must_check livefollow_take(struct livefollow *f, uint64_t wait_ns);
/* NULL: nothing was told yet. Borrowed until the next call. */
const struct live_state *livefollow_state(const struct livefollow *f);
/* Ends it, and gives its state away, which is then the caller's (live_done). */
void livefollow_give(struct livefollow **f, struct live_state *ret);
