#include "agent/inspect/goview.h"

#include <string.h>

#include "base/buf.h"
#include "model/stacks/frame.h"
#include "sense/go/gonear.h"
#include "sense/go/goreach.h"

static int open_and_read(const struct world *w, pid_t pid, struct remote *r, struct goproc *p, struct goroutines *s)
{
	remote_open(w, pid, r);
	int e = goproc_open(w, r, p);
	return e ? e : goroutines_read(p, s);
}

int goview_look(const struct world *w, pid_t pid, int32_t rank, struct goview *ret)
{
	cleanup(remote_done) struct remote r;
	cleanup(goproc_done) struct goproc p = {.table = NULL};
	struct goview v = {.pid = pid, .rank = rank};
	int e = open_and_read(w, pid, &r, &p, &v.first);
	if (e == 0)
		*ret = v;
	return e;
}

void goview_done(struct goview *v)
{
	goroutines_done(&v->first);
}

/* ---- in words ---- */

static void span_add(struct buf *b, struct span s)
{
	char text[120];
	span_copy(s, text, sizeof(text));
	buf_add(b, text);
}

void goview_place(struct goproc *p, const struct goroutine *g, char *dst, size_t cap)
{
	struct buf place = {.text = dst, .cap = cap}, *b = &place;
	buf_reset(b);
	struct goroutine_frame f[GOROUTINE_FRAMES];
	size_t n = 0, at = 0;
	bool cut = false;
	if (goroutine_frames(p, g, f, &n, &cut) != 0)
		return;
	while (at < n && f[at].library)
		at++;
	if (at == n)
		return;
	char file[400];
	span_copy(f[at].file, file, sizeof(file));
	buf_printf(b, "%s:%d in ", frame_file_short(file), f[at].line);
	span_add(b, f[at].name);
}

static void goroutine_text(struct goproc *p, const struct goroutine *g, char *dst, size_t cap)
{
	char place[160];
	goview_place(p, g, place, sizeof(place));
	text_format(dst, cap, "goroutine %llu waits in %s%s%s", (unsigned long long)g->id,
		    g->reason[0] ? g->reason : "the runtime", place[0] ? " at " : "", place);
}

static bool shares_object(const struct goroutine *a, const struct goroutine *b)
{
	for (size_t i = 0; i < a->n_on; i++)
		for (size_t k = 0; k < b->n_on; k++)
			if (a->on[i] == b->on[k])
				return true;
	return false;
}

/* Another one that stands: for the same object, else any. */
static void other_find(struct goproc *p, const struct goroutines *s, const bool *reached, struct gostand *ret)
{
	const struct goroutine *found = NULL;
	for (size_t i = 1; i < s->n; i++) {
		const struct goroutine *g = &s->item[i];
		if (reached[i] || !gostand_waits_inside(g))
			continue;
		bool same = shares_object(&s->item[0], g);
		if (same || !found)
			found = g;
		if (same)
			break;
	}
	ret->other[0] = '\0';
	if (found)
		goroutine_text(p, found, ret->other, sizeof(ret->other));
}

/* ---- the second look ---- */

/* Whether goroutines that stand for ever are what the main one waits for. */
static int owed_find(struct goproc *p, const struct goroutines *now, const bool *reached, bool *ret)
{
	bool cut = false;
	cleanup(freep) bool *stuck = calloc(now->n + 1, sizeof(*stuck));
	if (!stuck)
		return -ENOMEM;
	if (!gostand_stuck(now, reached, stuck))
		return 0;
	int r = goreach_spread(p, now, stuck, &cut);
	*ret = r == 0 && !cut && stuck[0];
	return r;
}

/* True if it waits for a Mutex or a RWMutex; Go 1.19 tells these by their frames alone. */
static bool waits_for_lock(struct goproc *p, const struct goroutine *g)
{
	struct goroutine_frame f[GOROUTINE_FRAMES];
	size_t n = 0;
	bool cut = false;
	if (g->wait != GOWAIT_SEMAPHORE || goroutine_frames(p, g, f, &n, &cut) != 0)
		return g->wait == GOWAIT_LOCK;
	for (size_t i = 0; i < n; i++)
		if (span_starts(f[i].name, "sync.(*Mutex).") || span_starts(f[i].name, "sync.(*RWMutex)."))
			return true;
	return false;
}

/* True if it waits for somebody to come: in Accept, or for the next request on a connection of net/http's. */
static bool waits_at_door(struct goproc *p, const struct goroutine *g)
{
	struct goroutine_frame f[GOROUTINE_FRAMES];
	size_t n = 0;
	bool cut = false;
	if (g->wait != GOWAIT_IO || goroutine_frames(p, g, f, &n, &cut) != 0 || cut || n == 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (span_eq(f[i].name, "internal/poll.(*FD).Accept"))
			return true;
	if (!span_eq(f[n - 1].name, "net/http.(*conn).serve"))
		return false;
	for (size_t i = 0; i < n; i++)
		if (span_eq(f[i].name, "net/http.(*conn).readRequest"))
			return true;
	return false;
}

/*
 * A lock is given back only by who has it. A goroutine at a door comes to it by what visitors will be handed, but who
 * has it in hand has it on its stack.
 */
static int doors_leave(struct goproc *p, const struct goroutines *now, bool *lives)
{
	cleanup(gonear_done) struct gonear near = {.n = 0};
	int r = gonear_find(p, now, &near);
	if (r || near.cut)
		return r;
	for (uint32_t i = 0; i < now->n; i++) {
		bool in_hand = false;
		for (size_t k = 0; k < near.n; k++)
			in_hand |= near.link[k].by == i && near.link[k].to == 0 && near.link[k].steps <= 1;
		if (lives[i] && !in_hand && waits_at_door(p, &now->item[i]))
			lives[i] = false;
	}
	return 0;
}

static int conclude(struct goproc *p, const struct goroutines *before, const struct goroutines *now,
		    struct gostand *ret)
{
	cleanup(freep) bool *lives = calloc(now->n + 1, sizeof(*lives));
	cleanup(freep) bool *reached = calloc(now->n + 1, sizeof(*reached));
	bool cut = false;
	if (!lives || !reached)
		return -ENOMEM;
	gostand_living(before, now, lives);
	int e = now->n && !lives[0] && waits_for_lock(p, &now->item[0]) ? doors_leave(p, now, lives) : 0;
	if (e)
		return e;
	memcpy(reached, lives, now->n * sizeof(*lives));
	/* Only where the main goroutine stands is it asked who could end that. */
	int r = now->n && !lives[0] ? goreach_spread(p, now, reached, &cut) : 0;
	if (r)
		return r;
	gostand_make(before, now, lives, reached, cut, ret);
	if (now->n == 0 || now->item[0].state != GOROUTINE_WAITS)
		return 0;
	goroutine_text(p, &now->item[0], ret->text, sizeof(ret->text));
	if (ret->kind != GOSTAND_NOBODY)
		return 0;
	other_find(p, now, reached, ret);
	return owed_find(p, now, reached, &ret->owed);
}

int goview_compare(const struct world *w, const struct goview *v, struct gostand *ret)
{
	cleanup(remote_done) struct remote r;
	cleanup(goproc_done) struct goproc p = {.table = NULL};
	cleanup(goroutines_done) struct goroutines now = {.n = 0};
	struct gostand s = {.pid = v->pid, .rank = v->rank};
	int e = open_and_read(w, v->pid, &r, &p, &now);
	if (e == 0)
		e = conclude(&p, &v->first, &now, &s);
	TEXT_COPY(s.version, p.version);
	if (e == 0)
		*ret = s;
	return e;
}
