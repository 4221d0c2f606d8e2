#include "agent/stacks/snapgo.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"
#include "sense/go/goroutine.h"

/* A table of functions may be made so that each frame takes long. */
static const uint64_t most_ns = 5 * NS_PER_S;

/* The groups of a process, and what tells them apart. */
struct groups {
	struct dump_process *p;
	uint64_t *key; /* owned */
	size_t cap, cap_keys;
};

static void groups_done(struct groups *s)
{
	free(s->key);
}

/* Foreign text, which may be no UTF-8 and have no end. */
static char *text_of(struct span s)
{
	char text[1024];
	span_copy(s, text, sizeof(text));
	return strdup(text);
}

static int go_frames_fill(const struct goroutine_frame *from, size_t n, struct dump_goroutines *to)
{
	to->frames = calloc(n + 1, sizeof(*to->frames));
	for (size_t i = 0; to->frames && i < n; i++) {
		struct dump_frame *f = &to->frames[to->n_frames++];
		*f = (struct dump_frame){.kind = FRAME_NATIVE, .name = text_of(from[i].name), .line = from[i].line};
		f->file = from[i].file.len ? text_of(from[i].file) : NULL;
		if (!f->name || (from[i].file.len && !f->file))
			return -ENOMEM;
	}
	return to->frames ? 0 : -ENOMEM;
}

static uint64_t snapgo_key_of(const struct goroutine *g, const struct goroutine_frame *f, size_t n)
{
	uint64_t h = hash_mix(HASH_START ^ (uint64_t)g->state ^ (uint64_t)g->wait << 8);
	h = hash_mix(h ^ (uint64_t)(unsigned char)g->reason[0] ^ strlen(g->reason) << 8);
	for (size_t i = 0; i < n; i++) {
		h = hash_mix(h ^ (uint64_t)(uintptr_t)f[i].name.p);
		h = hash_mix(h ^ (uint64_t)(uint32_t)f[i].line);
	}
	return h;
}

static int group_new(struct groups *s, const struct goroutine *g, const struct goroutine_frame *f, size_t n, bool cut)
{
	if (vec_room(&s->p->goroutines, &s->cap, s->p->n_goroutines + 1) < 0 ||
	    vec_room(&s->key, &s->cap_keys, s->p->n_goroutines + 1) < 0)
		return -ENOMEM;
	s->key[s->p->n_goroutines] = snapgo_key_of(g, f, n);
	struct dump_goroutines *to = &s->p->goroutines[s->p->n_goroutines++];
	*to = (struct dump_goroutines){.cut = cut, .runtime = g->wait == GOWAIT_RUNTIME};
	TEXT_COPY(to->state, goroutine_state_name(g->state));
	TEXT_COPY(to->wait, g->reason);
	return go_frames_fill(f, n, to);
}

static int snapgo_group_add(struct groups *s, const struct goroutine *g, const struct goroutine_frame *f, size_t n,
			    bool cut)
{
	uint64_t key = snapgo_key_of(g, f, n);
	size_t at = 0;
	while (at < s->p->n_goroutines && s->key[at] != key)
		at++;
	int r = at == s->p->n_goroutines ? group_new(s, g, f, n, cut) : 0;
	if (r)
		return r;
	struct dump_goroutines *to = &s->p->goroutines[at];
	to->n++;
	if (to->n_ids == DUMP_GOROUTINE_IDS)
		return 0;
	if (vec_room(&to->ids, &to->cap_ids, to->n_ids + 1) < 0)
		return -ENOMEM;
	to->ids[to->n_ids++] = g->id;
	return 0;
}

/* Of one that runs only where it began is known. */
static int goroutine_add(struct groups *s, struct goproc *go, const struct goroutine *g)
{
	struct goroutine_frame f[GOROUTINE_FRAMES];
	size_t n = 0;
	bool cut = false;
	int r = goroutine_frames(go, g, f, &n, &cut);
	if (r)
		return r;
	if (n == 0)
		f[n++] = (struct goroutine_frame){.name = goroutine_start(go, g)};
	return snapgo_group_add(s, g, f, n, cut);
}

int snapgo_fill(const struct world *w, struct procview *v, struct dump_process *p)
{
	cleanup(goproc_done) struct goproc go = {.table = NULL};
	cleanup(goroutines_done) struct goroutines all = {.n = 0};
	cleanup(groups_done) struct groups s = {.p = p};
	int r = goproc_open(w, &v->remote, &go);
	TEXT_COPY(p->go, go.version);
	if (r == 0)
		r = goroutines_read(&go, &all);
	size_t i = 0;
	uint64_t end_ns = w->mono_ns() + most_ns;
	for (; i < all.n && r == 0 && w->mono_ns() < end_ns; i++)
		r = goroutine_add(&s, &go, &all.item[i]);
	p->n_unread = all.n_all - i;
	if (r == GO_UNKNOWN && p->note[0] == '\0')
		TEXT_FORMAT(p->note, "its goroutines are not shown: how %s keeps them is not known here",
			    go.version[0] ? go.version : "its Go");
	return r == GO_NONE || r == GO_UNKNOWN ? 0 : r;
}
