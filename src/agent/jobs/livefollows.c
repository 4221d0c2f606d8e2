#include "agent/jobs/livefollows.h"

#include <stdlib.h>
#include <string.h>

#include "agent/jobs/livefollow.h"
#include "base/buf.h"
#include "base/clock.h"

/* So many jobs are listened to at the same time; of others the store is read. */
#define LIVES 16
/* Nobody has asked for so long: it is left alone. */
#define UNUSED_NS (10 * NS_PER_S)
/* A job that has no live socket is tried again after this time. */
#define AGAIN_NS (5 * NS_PER_S)

struct livefollows_one {
	char job[64]; /* "": free */
	struct livefollow *follow; /* NULL: it has none */
	uint64_t asked_ns, tried_ns;
};

struct livefollows {
	struct livefollows_one of[LIVES];
};

static void livefollows_drop(struct livefollows_one *l)
{
	l->follow = livefollow_close(l->follow);
	*l = (struct livefollows_one){.follow = NULL};
}

struct livefollows *livefollows_new(void)
{
	return calloc(1, sizeof(struct livefollows));
}

struct livefollows *livefollows_free(struct livefollows *all)
{
	for (size_t i = 0; all && i < LIVES; i++)
		livefollows_drop(&all->of[i]);
	free(all);
	return NULL;
}

static struct livefollows_one *livefollows_place(struct livefollows *all, const char *job)
{
	struct livefollows_one *place = NULL;
	for (size_t i = 0; all && i < LIVES; i++) {
		if (strcmp(all->of[i].job, job) == 0)
			return &all->of[i];
		if (!place && !all->of[i].job[0])
			place = &all->of[i];
	}
	return place;
}

const struct live_state *livefollows_state(struct livefollows *all, const struct job *j)
{
	const uint64_t now_ns = clock_mono_ns();
	struct livefollows_one *l = livefollows_place(all, j->id);
	if (!l)
		return NULL;
	TEXT_COPY(l->job, j->id);
	l->asked_ns = now_ns;
	if (!l->follow && (l->tried_ns == 0 || now_ns - l->tried_ns > AGAIN_NS)) {
		l->tried_ns = now_ns;
		if (livefollow_open(j, &l->follow) != 0)
			l->follow = NULL;
	}
	if (l->follow && livefollow_take(l->follow, 0) != 0)
		l->follow = livefollow_close(l->follow);
	return livefollow_state(l->follow);
}

int livefollows_turn(struct livefollows *all)
{
	const uint64_t now_ns = clock_mono_ns();
	bool any = false;
	for (size_t i = 0; all && i < LIVES; i++) {
		if (all->of[i].job[0] && now_ns - all->of[i].asked_ns > UNUSED_NS)
			livefollows_drop(&all->of[i]);
		any |= all->of[i].job[0] != '\0';
	}
	return any ? (int)(UNUSED_NS / NS_PER_MS) : -1;
}
