#include "agent/inspect/procview_parts.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mask/mask.h"
#include "judge/host/access.h"
#include "sense/proc/maps.h"
#include "sense/proc/proc.h"
#include "sense/python/pynames.h"

/* Times that a view is opened again because the process became another program meanwhile. */
#define OPEN_TRIES 3
#define NAMES_AGAIN_NS NS_PER_S

static void python_close(struct procview *l)
{
	struct procview_totals now;
	procview_count(l, &now);
	l->before.python = now.python;
	l->stacks = pystacks_free(l->stacks);
	freep(&l->others);
	l->others = NULL;
	l->n_others = 0;
	freep(&l->names);
	l->names = NULL;
	l->n_names = 0;
	l->names_ns = 0;
	l->has_interps = false;
	l->codes = pycodes_free(l->codes);
	l->has_python = false;
}

/* Hash of the files that the process has mapped as code. */
static uint64_t code_of(const struct maps *m)
{
	uint64_t h = HASH_START;
	for (size_t i = 0; i < m->n; i++) {
		const struct map_row *r = &m->rows[i];
		const uint64_t part[] = {r->start, r->end, r->offset, r->dev, r->inode};
		for (size_t k = 0; (r->flags & MAP_EXEC) && k < ARRAY_SIZE(part); k++)
			h = hash_mix(h ^ part[k]);
	}
	return h;
}

bool procview_code_changed(struct procview *l)
{
	cleanup(maps_done) struct maps m = {.n = 0};
	return maps_read(l->w, l->via, &m) != 0 || code_of(&m) != l->code;
}

/* 0, WORLD_GONE, WORLD_DENIED or -errno; anything else becomes a note. */
static int python_open(struct procview *l, struct fault *f)
{
	struct maps m = {.n = 0};
	l->python_later = false;
	l->note[0] = '\0';
	int r = maps_read(l->w, l->via, &m);
	if (r)
		return r;
	l->code = code_of(&m);
	struct fault why = {.text = ""};
	r = m.n ? pyrt_find(l->w, &l->remote, &m, &l->rt, &why) : PYRT_NONE;
	maps_done(&m);
	if (r == WORLD_GONE || r == WORLD_DENIED || r < 0) {
		if (f)
			*f = why;
		return r;
	}
	if (r != 0) {
		l->python_later = r == PYRT_NOT_YET || r == PYRT_NONE;
		if (r != PYRT_NONE)
			TEXT_COPY(l->note, why.text);
		return 0;
	}
	l->codes = pycodes_new(&l->rt, &l->remote);
	l->stacks = l->codes ? pystacks_new(l->w, &l->rt, &l->remote, l->codes) : NULL;
	if (!l->stacks) {
		python_close(l);
		return -ENOMEM;
	}
	if (l->has_program_id)
		pystacks_program_id(l->stacks, l->program_id_addr, l->program_id);
	l->has_python = true;
	return 0;
}

static void procview_explain(const struct world *w, pid_t pid, struct fault *f)
{
	struct access_facts a;
	if (access_read(w, pid, &a) == 0)
		access_explain(&a, f);
	else
		(void)fault_set(f, 0, "process %d may not be looked into, and why could not be found out", (int)pid);
}

static void native_close(struct procview *l)
{
	struct procview_totals now;
	procview_count(l, &now);
	l->before.pauses = now.pauses;
	l->stopper = stopper_free(l->stopper);
	l->native = native_free(l->native);
}

static int native_open(struct procview *l)
{
	if (!l->want.natives || (l->want.native_without_python && l->has_python))
		return 0;
	l->native = native_new(l->want.natives, l->w, &l->remote);
	l->stopper = l->native ? stopper_new(l->w, l->pid, &l->remote) : NULL;
	return l->stopper ? 0 : -ENOMEM;
}

bool procview_lost(const struct procview *l)
{
	char path[64], text[1024];
	size_t len;
	struct proc_stat st;
	TEXT_FORMAT(path, "%d/task/%d/stat", l->pid, l->via);
	return file_read_at(l->w->proc_fd, path, text, sizeof(text), &len) != 0 ||
	       proc_stat_parse((struct span){text, len}, &st) != 0 || st.state == 'Z' || st.state == 'X';
}

static void program_id_read(struct procview *l)
{
	l->has_program_id = proc_auxv_read(l->w, l->via, AT_RANDOM, &l->program_id_addr) == 0 &&
			    remote_u64(&l->remote, l->program_id_addr, &l->program_id) == 0;
}

bool procview_changed(struct procview *l)
{
	uint64_t now = 0;
	return l->has_program_id && (remote_u64(&l->remote, l->program_id_addr, &now) != 0 || now != l->program_id);
}

bool procview_ask_changed(struct procview *l)
{
	/* With native frames the check is made before each sample, as the maps must be right first. */
	if (!l->has_program_id || !l->stacks || l->stopper)
		return false;
	pystacks_ask_program_id(l->stacks);
	return true;
}

bool procview_found_changed(struct procview *l, const struct procview_sample *sample)
{
	return sample->python_result == PYSTACK_OTHER ||
	       (l->stacks && pystacks_program_id_is_open(l->stacks) && procview_changed(l));
}

void procview_count(const struct procview *l, struct procview_totals *ret)
{
	*ret = l->before;
	if (l->stacks) {
		struct pystack_stats s = pystacks_stats(l->stacks);
		ret->python.samples += s.samples;
		ret->python.dropped += s.dropped;
		ret->python.unproved += s.unproved;
		ret->python.retries += s.retries;
		ret->python.walks += s.walks;
		ret->python.shortened += s.shortened;
	}
	if (l->stopper) {
		struct stopper_stats s = stopper_stats(l->stopper);
		stopper_stats_add(&ret->pauses, &s);
	}
}

enum procview_still procview_still_of(enum wait_kind kind, int64_t syscall)
{
	if (kind == WAIT_STOPPED)
		return PROCVIEW_STOPPED;
	if (kind == WAIT_RUNNING)
		return PROCVIEW_RUNS;
	return stopper_would_fail(syscall) ? PROCVIEW_TOUCHY : PROCVIEW_WAITS;
}

/* Checks that the process can have a stack. 0, WORLD_GONE, or WORLD_DENIED with the reason. */
static int stack_possible(const struct world *w, pid_t pid, struct proc_stat *ret, struct fault *f)
{
	int r = proc_stat_read(w, pid, ret);
	if (r)
		return r;
	const struct proc_stat st = *ret;
	if (st.kernel_thread || proc_is_over(&st)) {
		fault_set(
			f, 0,
			st.kernel_thread
				? "process %d (%s) is a thread of the kernel: it has no stack of its own to show"
				: "process %d (%s) has ended and waits for its parent to notice: it has no stack left",
			(int)pid, st.comm);
		return WORLD_DENIED;
	}
	return 0;
}

int procview_why_none(const struct world *w, pid_t root, struct fault *f)
{
	struct proc_stat st;
	if (root > 0 && stack_possible(w, root, &st, f) == WORLD_DENIED)
		return WORLD_DENIED;
	(void)fault_set(f, 0, "nothing of it is running any more");
	return WORLD_GONE;
}

int procview_open(const struct world *w, pid_t pid, const struct procview_want *want, struct procview **ret,
		  struct fault *f)
{
	struct proc_stat st;
	int r = stack_possible(w, pid, &st, f);
	if (r)
		return r;
	cleanup(procview_closep) struct procview *l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->w = w;
	l->pid = pid;
	l->start_ticks = st.start_ticks;
	l->want = *want;
	l->patience_us = procview_patience_us(want);
	l->via = proc_living_thread(w, pid);
	if (l->via == 0)
		return WORLD_GONE;
	remote_open(w, l->via, &l->remote);
	program_id_read(l);
	r = python_open(l, f);
	if (r == 0)
		r = native_open(l);
	for (int tries = 1; r == 0 && tries < OPEN_TRIES && procview_changed(l); tries++)
		procview_again(l);
	if (r == WORLD_DENIED)
		procview_explain(w, pid, f);
	if (r)
		return r;
	*ret = take(&l);
	return 0;
}

struct procview *procview_close(struct procview *l)
{
	if (!l)
		return NULL;
	python_close(l);
	native_close(l);
	remote_done(&l->remote);
	free(l);
	return NULL;
}

void procview_again(struct procview *l)
{
	python_close(l);
	native_close(l);
	remote_done(&l->remote); /* an open memory file belongs to the old program */
	program_id_read(l);
	ignore(python_open(l, NULL), "it is as it was: without Python");
	ignore(native_open(l), "then without native frames");
}

/*
 * A new thread enters Python's own list of threads later than the interpreter's, so the list is read again when a name
 * is missing, at most once in NAMES_AGAIN_NS.
 */
const char *procview_thread_name(struct procview *l, const struct pythread *t)
{
	if (!l->stacks || !t || t->interp_id != 0 || t->tid == l->pid)
		return NULL;
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < l->n_names; i++)
			if (l->names[i].thread_id == t->thread_id)
				return l->names[i].name;
		uint64_t now_ns = l->w->mono_ns();
		if (l->names_ns && now_ns - l->names_ns < NAMES_AGAIN_NS)
			return NULL;
		free(l->names);
		l->names = NULL;
		l->n_names = 0;
		l->names_ns = now_ns;
		ignore(pynames_read(&l->rt, &l->remote, t->interp, &l->names, &l->n_names),
		       "the kernel's names do, too");
		for (size_t i = 0; i < l->n_names; i++)
			mask_text(l->names[i].name);
	}
	return NULL;
}
