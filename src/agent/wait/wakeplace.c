#include "agent/wait/wakeplace.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"

/* Outer frames beyond these do not tell places apart any more. */
#define FRAMES_MOST 64

uint64_t wakeplace_of(struct procview *v, const struct pythread *t)
{
	struct pystack stack;
	uint64_t h = HASH_START;
	if (!v->stacks || pystacks_read(v->stacks, t, false, &stack) != 0 || stack.n == 0)
		return 0;
	for (size_t i = 0; i < stack.n && i < FRAMES_MOST; i++) {
		const struct pyframe *f = &stack.frames[i];
		if (!f->known)
			return 0;
		int32_t line = pycode_line(&v->rt, f->known, f->instr);
		h = hash_bytes(h, f->known->file, strlen(f->known->file) + 1);
		h = hash_bytes(h, f->known->name, strlen(f->known->name) + 1);
		h = hash_bytes(h, &line, sizeof(line));
	}
	return h ? h : 1;
}

struct places {
	struct wakeplace *at;
	size_t n, cap;
};

static bool waits(const struct waitfact_thread *t)
{
	return !t->runs && !t->ended && t->n > 0 && t->nr >= 0 && wake_kind_of(t->nr) != WAKE_NONE;
}

void wakeplace_name(struct procview *v, const struct pythread *t, char *dst, size_t cap)
{
	const char *name = t->tid == v->pid ? NULL : procview_thread_name(v, t);
	(void)text_copy(dst, cap, name ? name : "");
}

static int wakeplace_process_read(const struct world *w, const struct waitfacts *f, const struct waitfact_process *p,
				  bool in_time, struct places *to)
{
	const struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *v = NULL;
	const struct pythread *list = NULL;
	struct fault fault = {.text = ""};
	size_t n_list = 0;
	bool opened = in_time && procview_open(w, p->pid, &want, &v, &fault) == 0;
	bool listed = opened && v->has_python && procview_python_threads(v, &list, &n_list) == 0;
	if (opened && !v->has_python && !v->python_later)
		return 0;
	for (uint32_t i = 0; i < p->n_threads; i++) {
		const struct waitfact_thread *t = &f->thread[p->first_thread + i];
		const struct pythread *py = listed ? procview_python_thread(list, n_list, t->tid) : NULL;
		struct wakeplace place = {.pid = t->pid, .tid = t->tid};
		if (listed && !py)
			continue;
		if (vec_room(&to->at, &to->cap, to->n + 1) < 0)
			return -ENOMEM;
		if (py && waits(t) && wake_kind_of(t->nr) == WAKE_LOCK)
			place.place = wakeplace_of(v, py);
		if (py)
			wakeplace_name(v, py, place.name, sizeof(place.name));
		to->at[to->n++] = place;
	}
	return 0;
}

int wakeplaces_read(const struct world *w, const struct waitfacts *facts, uint64_t until_ns, struct wakeplace **ret,
		    size_t *ret_n)
{
	struct places all = {.n = 0};
	for (size_t i = 0; i < facts->n_processes; i++) {
		const struct waitfact_process *p = &facts->process[i];
		bool any = false;
		for (uint32_t k = 0; k < p->n_threads && !any; k++)
			any = waits(&facts->thread[p->first_thread + k]);
		if (any && wakeplace_process_read(w, facts, p, w->mono_ns() < until_ns, &all) < 0) {
			free(all.at);
			return -ENOMEM;
		}
	}
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), wakeplace_compare);
	*ret = all.at;
	*ret_n = all.n;
	return 0;
}
