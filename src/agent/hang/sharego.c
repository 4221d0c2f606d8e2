#include "agent/hang/sharego.h"

#include <string.h>

#include "agent/inspect/goview.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/units.h"

/* A program with more goroutines is not looked at so often. */
#define GOROUTINES_MOST 200
/* Above all numbers of system calls. */
#define SHAREGO_NR 1000000

/* Time for where goroutine 1 stands, of all looks at a process: a table of functions may be made to cost much. */
static const uint64_t places_ns = 300 * NS_PER_MS;

struct sharego {
	struct remote remote; /* borrowed by go */
	struct goproc go;
	uint64_t spent_ns; /* of places_ns */
};

struct sharego *sharego_free(struct sharego *g)
{
	if (g) {
		goproc_done(&g->go);
		remote_done(&g->remote);
	}
	free(g);
	return NULL;
}

static bool sharego_read(struct sharego *g, struct goroutines *ret)
{
	return goroutines_read(&g->go, ret) == 0 && ret->n > 0 && ret->n_all <= GOROUTINES_MOST &&
	       ret->item[0].id == 1;
}

struct sharego *sharego_new(const struct world *w, pid_t pid)
{
	cleanup(goroutines_done) struct goroutines s = {.n = 0};
	struct sharego *g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	remote_open(w, pid, &g->remote);
	if (goproc_open(w, &g->remote, &g->go) != 0 || !sharego_read(g, &s))
		return sharego_free(g);
	return g;
}

/* In a call it may as well wait, and in the runtime's care it is about to run. */
static bool has_processor(const struct goroutine *g)
{
	return g->state == GOROUTINE_RUNS || g->state == GOROUTINE_RUNNABLE || g->state == GOROUTINE_OTHER;
}

/* The waits of the others in any order: objects are new ones in each step, descriptors are not. */
static uint64_t stand_of(const struct goroutines *s)
{
	uint64_t sum = 0;
	for (size_t i = 1; i < s->n; i++) {
		const struct goroutine *g = &s->item[i];
		if (g->wait != GOWAIT_RUNTIME)
			sum += hash_mix((uint64_t)g->state << 48 ^ (uint64_t)g->wait << 40 ^ (uint64_t)(uint32_t)g->fd);
	}
	return sum;
}

bool sharego_wait(const struct goroutines *s, struct threadwait *ret)
{
	const struct goroutine *g = &s->item[0];
	for (size_t i = 0; i < s->n; i++)
		if (has_processor(&s->item[i]))
			return false;
	if (g->wait == GOWAIT_SLEEP || g->wait == GOWAIT_RUNTIME || g->state == GOROUTINE_SYSCALL)
		return false;
	ret->has_syscall = true;
	ret->nr = SHAREGO_NR + (int64_t)g->wait;
	ret->kind = g->wait == GOWAIT_IO ? WAIT_SOCKET : WAIT_LOCK;
	ret->arg[0] = g->wait == GOWAIT_IO ? (uint64_t)(uint32_t)g->fd : stand_of(s);
	return g->wait != GOWAIT_IO || g->fd >= 0;
}

static void place_take(struct sharego *g, const struct goroutine *of, char *dst, size_t cap)
{
	const uint64_t began_ns = g->go.w->mono_ns();
	if (g->spent_ns >= places_ns)
		return;
	char place[120];
	g->go.frames_end_ns = began_ns + (places_ns - g->spent_ns);
	goview_place(&g->go, of, place, sizeof(place));
	if (place[0])
		text_format(dst, cap, "at %s", place);
	g->spent_ns += g->go.w->mono_ns() - began_ns;
}

bool sharego_look(struct sharego *g, struct threadwait *ret, char *ret_place, size_t cap)
{
	cleanup(goroutines_done) struct goroutines s = {.n = 0};
	if (!sharego_read(g, &s))
		return false;
	ret->has_syscall = false;
	ret->kind = WAIT_RUNNING;
	bool waits = sharego_wait(&s, ret);
	if (!waits && s.item[0].wait == GOWAIT_SLEEP)
		ret->kind = WAIT_SLEEP;
	ret_place[0] = '\0';
	if (ret->kind != WAIT_RUNNING)
		place_take(g, &s.item[0], ret_place, cap);
	return true;
}
