#include "model/speed/tracefacts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/vec.h"

#define TRACE_ROWS 4096
/* 24 bytes each. */
#define TRACE_TASKS ((size_t)4 << 20)
#define TRACE_NAMES ((size_t)1 << 16)

void tracefacts_done(struct tracefacts *t)
{
	for (size_t i = 0; i < t->n_rows; i++)
		free(t->row[i].task);
	free(t->row);
	free(t->name);
	free(t->slot);
	*t = (struct tracefacts){.n_rows = 0};
}

static bool slots_grow(struct tracefacts *t)
{
	size_t n = t->n_slots ? t->n_slots * 2 : 256;
	uint32_t *slot = calloc(n, sizeof(*slot));
	if (!slot)
		return false;
	for (size_t i = 0; i < t->n_names; i++) {
		size_t at = t->name[i].hash & (n - 1);
		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(t->slot);
	t->slot = slot;
	t->n_slots = n;
	return true;
}

/* Names beyond the limit share the last one. */
static uint32_t trace_name_of(struct tracefacts *t, const char *text)
{
	uint64_t hash = hash_bytes(HASH_START, text, strlen(text));
	if ((t->n_names + 1) * 2 > t->n_slots && !slots_grow(t)) {
		t->no_memory = true;
		return 0;
	}
	size_t at = hash & (t->n_slots - 1);
	for (; t->slot[at]; at = (at + 1) & (t->n_slots - 1)) {
		const struct trace_name *n = &t->name[t->slot[at] - 1];
		if (n->hash == hash && strcmp(n->text, text) == 0)
			return t->slot[at] - 1;
	}
	if (t->n_names == TRACE_NAMES)
		return TRACE_NAMES - 1;
	if (vec_room(&t->name, &t->name_cap, t->n_names + 1) < 0) {
		t->no_memory = true;
		return 0;
	}
	t->name[t->n_names] = (struct trace_name){.hash = hash};
	TEXT_COPY(t->name[t->n_names].text, text);
	t->slot[at] = (uint32_t)++t->n_names;
	return (uint32_t)t->n_names - 1;
}

static bool is_row(const struct trace_row *r, const char *pid, const char *tid)
{
	return strcmp(r->pid, pid) == 0 && strcmp(r->tid, tid) == 0;
}

static struct trace_row *row_of(struct tracefacts *t, const char *pid, const char *tid)
{
	if (t->last < t->n_rows && is_row(&t->row[t->last], pid, tid))
		return &t->row[t->last];
	for (size_t i = 0; i < t->n_rows; i++)
		if (is_row(&t->row[i], pid, tid)) {
			t->last = i;
			return &t->row[i];
		}
	if (t->n_rows == TRACE_ROWS) {
		t->full = true;
		return NULL;
	}
	if (vec_room(&t->row, &t->row_cap, t->n_rows + 1) < 0) {
		t->no_memory = true;
		return NULL;
	}
	struct trace_row *r = &t->row[t->n_rows];
	*r = (struct trace_row){.n = 0};
	TEXT_COPY(r->pid, pid);
	TEXT_COPY(r->tid, tid);
	t->last = t->n_rows++;
	return r;
}

static int task_order(const void *a, const void *b)
{
	const struct trace_task *x = a, *y = b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

/* What begins before the one before it has ended is a part of it; where it ends later, that one is made longer. */
static void row_settle(struct tracefacts *t, struct trace_row *r)
{
	size_t n = 0;
	if (r->n > 1)
		qsort(r->task, r->n, sizeof(*r->task), task_order);
	for (size_t i = 0; i < r->n; i++) {
		if (n > 0 && r->task[i].begin_ns < r->task[n - 1].end_ns)
			r->task[n - 1].end_ns = MAX(r->task[n - 1].end_ns, r->task[i].end_ns);
		else
			r->task[n++] = r->task[i];
	}
	t->n_tasks -= r->n - n;
	r->n = n;
}

void tracefacts_seal(struct tracefacts *t)
{
	for (size_t i = 0; i < t->n_rows; i++)
		row_settle(t, &t->row[i]);
}

static void task_add(struct tracefacts *t, struct trace_row *r, int64_t begin_ns, int64_t end_ns, uint32_t name)
{
	/* Most traces write the outer event before its parts, or right after them. */
	if (r->n > 0 && begin_ns >= r->task[r->n - 1].begin_ns && end_ns <= r->task[r->n - 1].end_ns)
		return;
	while (r->n > 0 && begin_ns <= r->task[r->n - 1].begin_ns && end_ns >= r->task[r->n - 1].end_ns) {
		r->n--;
		t->n_tasks--;
	}
	if (t->n_tasks >= TRACE_TASKS && !t->full) {
		tracefacts_seal(t);
		t->full = t->n_tasks >= TRACE_TASKS - TRACE_TASKS / 8;
	}
	if (t->full)
		return;
	if (vec_room(&r->task, &r->cap, r->n + 1) < 0) {
		t->no_memory = true;
		return;
	}
	r->task[r->n++] = (struct trace_task){begin_ns, end_ns, name};
	t->n_tasks++;
}

static void metadata(struct tracefacts *t, const struct chrometrace_event *e)
{
	if (strcmp(e->name, "thread_name") == 0) {
		struct trace_row *r = row_of(t, e->pid, e->tid);
		if (r)
			TEXT_COPY(r->thread, e->arg_name);
	} else if (strcmp(e->name, "process_name") == 0) {
		for (size_t i = 0; i < t->n_rows; i++)
			if (strcmp(t->row[i].pid, e->pid) == 0)
				TEXT_COPY(t->row[i].process, e->arg_name);
	}
}

static bool is_device(const char *cat)
{
	return strcmp(cat, "kernel") == 0 || strcmp(cat, "Kernel") == 0 || strcmp(cat, "gpu_memcpy") == 0 ||
	       strcmp(cat, "gpu_memset") == 0;
}

/* The kinds that say who works; others are notes, counters and ranges that span rows. */
static bool is_work(struct tracefacts *t, const struct chrometrace_event *e)
{
	const bool task = strncmp(e->name, "task::", 6) == 0 || strncmp(e->cat, "task::", 6) == 0;
	if (task && !t->ray) {
		for (size_t i = 0; i < t->n_rows; i++) {
			t->n_tasks -= t->row[i].n;
			t->row[i].n = 0;
		}
		t->ray = true;
	}
	if (t->ray)
		return task;
	return strcmp(e->cat, "gpu_user_annotation") != 0 && strcmp(e->cat, "Trace") != 0 &&
	       strcmp(e->cat, "overhead") != 0;
}

static void nested(struct tracefacts *t, const struct chrometrace_event *e)
{
	struct trace_row *r = row_of(t, e->pid, e->tid);
	if (!r || (e->ph == 'E' && r->open == 0))
		return;
	if (e->ph == 'B') {
		if (r->open++ == 0) {
			r->open_ns = e->ts_ns;
			r->open_name = trace_name_of(t, e->name);
		}
	} else if (--r->open == 0 && e->ts_ns >= r->open_ns) {
		task_add(t, r, r->open_ns, e->ts_ns, r->open_name);
	}
}

/* A function's task is called without its module. */
static bool is_call_of_actor(const char *text)
{
	return strncmp(text, "task::", 6) == 0 && strchr(text + 6, '.');
}

void tracefacts_event(struct tracefacts *t, const struct chrometrace_event *e)
{
	if (e->ph == 'M') {
		metadata(t, e);
		return;
	}
	if (!e->has_ts || !is_work(t, e))
		return;
	if (e->ph == 'B' || (e->ph == 'E' && !t->ray)) {
		nested(t, e);
		return;
	}
	if (e->ph != 'X' || !e->has_dur)
		return;
	struct trace_row *r = row_of(t, e->pid, e->tid);
	if (!r)
		return;
	r->device |= is_device(e->cat);
	const uint32_t name = trace_name_of(t, e->name[0] ? e->name : e->cat);
	if (name < t->n_names)
		t->name[name].actor |= is_call_of_actor(e->cat) || is_call_of_actor(e->name);
	task_add(t, r, e->ts_ns, e->ts_ns + e->dur_ns, name);
}

char *trace_row_text(const struct trace_row *r, char *dst, size_t cap)
{
	const char *thread = r->thread[0] ? r->thread : r->tid, *process = r->process[0] ? r->process : r->pid;
	text_format(dst, cap, "%s of %s", thread[0] ? thread : "?", process[0] ? process : "?");
	return dst;
}
