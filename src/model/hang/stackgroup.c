#include "model/hang/stackgroup.h"

#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "model/hang/liveness.h"

/* A tick is 10 ms of processor time. A rank that polls now and then still counts as idle. */
static const double idle_ticks_per_s = 2;
/* A loop that sleeps most of the time uses less of a processor. */
static const double loop_cores = 0.2;

/* A byte that no name holds ends each item, so that "ab", "c" and "a", "bc" differ. */
static uint64_t key_add(uint64_t h, const void *data, size_t len)
{
	return hash_bytes(hash_bytes(h, data, len), "\xff", 1);
}

/* Length of a native function's name without parts that differ between builds and template instances. */
static size_t native_len(const char *name)
{
	static const char *const tails[] = {"@",     "+0x",   ".isra",	   ".constprop",
					    ".part", ".cold", ".lto_priv", " [clone"};
	size_t len = strcspn(name, "<(");
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		const char *at = strstr(name, tails[i]);
		if (at && (size_t)(at - name) < len)
			len = (size_t)(at - name);
	}
	return len;
}

/* True for frames that differ between equal waits: the C library, the loader, names that are only addresses. */
static bool left_out(const struct dump_frame *f)
{
	static const char *const modules[] = {"libc.so",    "libc-2", "ld-linux", "ld-2",
					      "libpthread", "[vdso]", "libm.so"};
	if (f->kind == FRAME_KERNEL || f->kind == FRAME_NOTE)
		return true;
	if (f->kind != FRAME_NATIVE)
		return false;
	if (strncmp(f->name, "0x", 2) == 0 || !f->name[0] || native_len(f->name) == 0)
		return true;
	for (size_t i = 0; f->module && i < ARRAY_SIZE(modules); i++)
		if (strstr(f->module, modules[i]))
			return true;
	return false;
}

/* Native frames count only in threads without Python frames. */
uint64_t stackgroup_key(const struct dump_thread *t)
{
	uint64_t h = HASH_START;
	bool any = false;
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		if (left_out(f) || (t->has_python && f->kind != FRAME_PYTHON))
			continue;
		any = true;
		if (f->kind == FRAME_PYTHON) {
			const char *file = f->file ? frame_file_short(f->file) : "";
			h = key_add(h, f->name, strlen(f->name));
			h = key_add(h, file, strlen(file));
			h = key_add(h, &f->line, sizeof(f->line));
		} else {
			h = key_add(h, f->name, native_len(f->name));
		}
	}
	return any ? h | 1 : 0;
}

static const struct dump_process *process_in(const struct stackdump *d, pid_t pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->processes[i].pid == pid)
			return &d->processes[i];
	return NULL;
}

static const struct dump_thread *thread_in(const struct stackdump *d, pid_t pid, pid_t tid)
{
	const struct dump_process *p = process_in(d, pid);
	for (size_t i = 0; p && i < p->n_threads; i++)
		if (p->threads[i].tid == tid)
			return &p->threads[i];
	return NULL;
}

/* Preference of a process as the one that represents its rank: the highest wins, and among equals the first. */
static int standing(const struct dump_process *p)
{
	if (strcmp(p->role, "main") == 0 || strcmp(p->role, "ray_worker") == 0)
		return 3;
	if (strcmp(p->role, "other") == 0 || !p->role[0])
		return 2;
	return strcmp(p->role, "helper") == 0 || strcmp(p->role, "shell") == 0 || strcmp(p->role, "launcher") == 0 ? 0
														   : 1;
}

static void rank_take(struct stackgroups *g, const struct dump_process *p)
{
	size_t at = 0;
	while (at < g->n && g->rank[at].rank < p->rank)
		at++;
	if (at < g->n && g->rank[at].rank == p->rank) {
		if (standing(p) > standing(g->rank[at].process))
			g->rank[at].process = p;
		return;
	}
	if (g->n == STACKGROUP_RANKS) {
		g->n_dropped++;
		return;
	}
	memmove(&g->rank[at + 1], &g->rank[at], (g->n - at) * sizeof(g->rank[0]));
	g->rank[at] = (struct stackgroup_rank){.rank = p->rank, .process = p};
	g->n++;
}

/* In a job with ranks, processes without one are the launcher and helpers, which are left out. */
static void ranks_make(const struct stackdump *d, struct stackgroups *g)
{
	bool has_ranks = false;
	for (size_t i = 0; i < d->n; i++)
		has_ranks |= d->processes[i].rank != NO_RANK;
	for (size_t i = 0; i < d->n; i++)
		if (!has_ranks || d->processes[i].rank != NO_RANK)
			rank_take(g, &d->processes[i]);
}

bool stackgroup_of_ray(const struct dump_process *p)
{
	return strcmp(p->role, "ray_worker") == 0 || strncmp(p->name, "ray::", 5) == 0;
}

/* A worker of Ray Train runs the program in a thread beside the main one, which is Ray's. */
static void ray_acting_make(struct stackgroup_rank *r)
{
	const struct dump_thread *found = NULL;
	struct activity_found activity, own;
	for (size_t i = 1; i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		activity_of(t, &activity);
		if (!activity.user)
			continue;
		if (found)
			return;
		found = t;
		own = activity;
	}
	if (!found)
		return;
	r->activity = own;
	r->acting = found;
}

/* On a GPU the backward pass runs in threads of its own, so the main thread only waits for them. */
static void acting_make(struct stackgroup_rank *r)
{
	r->main = r->process->n_threads > 0 ? &r->process->threads[0] : NULL;
	r->acting = r->main;
	r->activity.op = "";
	if (!r->main)
		return; /* it ended while it was looked at */
	r->has_stack = r->main->n_frames > 0;
	activity_of(r->main, &r->activity);
	if (!r->activity.user && stackgroup_of_ray(r->process)) {
		ray_acting_make(r);
		return;
	}
	enum activity a = r->activity.kind;
	if (a != ACTIVITY_BACKWARD && a != ACTIVITY_JOIN && a != ACTIVITY_LOCK && a != ACTIVITY_UNKNOWN)
		return;
	for (size_t i = 1; i < r->process->n_threads; i++) {
		const struct dump_thread *t = &r->process->threads[i];
		struct activity_found found;
		if (strncmp(t->name, "pt_autograd", 11) != 0)
			continue;
		activity_of(t, &found);
		if (!activity_waits_for_ranks(found.kind) && found.kind != ACTIVITY_GPU_SYNC)
			continue;
		if (!found.user)
			found.user = r->activity.user;
		r->activity = found;
		r->acting = t;
		return;
	}
}

static uint64_t ticks_of(const struct dump_thread *t)
{
	return t->wait.user_ticks + t->wait.system_ticks;
}

/* True if the thread has the same stack in all dumps. */
static bool thread_unchanged(const struct stackdump *const *dumps, size_t n, pid_t pid, const struct dump_thread *t)
{
	uint64_t key = stackgroup_key(t);
	for (size_t i = 0; i + 1 < n; i++) {
		const struct dump_thread *before = thread_in(dumps[i], pid, t->tid);
		if (!before || stackgroup_key(before) != key || before->roams)
			return false;
		/* without frames its wait is compared instead */
		if (key == 0 && (before->wait.kind != t->wait.kind || before->wait.nr != t->wait.nr))
			return false;
	}
	return !t->roams;
}

static void process_compare(const struct stackdump *const *dumps, size_t n, const struct dump_process *p,
			    struct stackgroup_rank *r, uint64_t *ticks)
{
	for (size_t k = 0; k < p->n_threads; k++) {
		const struct dump_thread *t = &p->threads[k];
		bool acts = p == r->process && (t->main || t == r->acting);
		if (!acts && liveness_service_thread(t->name))
			continue;
		const struct dump_thread *first = thread_in(dumps[0], p->pid, t->tid);
		*ticks += first ? sub_floor(ticks_of(t), ticks_of(first)) : ticks_of(t);
		if (!thread_unchanged(dumps, n, p->pid, t)) {
			if (acts)
				r->unchanged = false;
			else
				r->others_unchanged = false;
		}
	}
}

static void rank_compare(const struct stackdump *const *dumps, size_t n, struct stackgroup_rank *r)
{
	const struct stackdump *newest = dumps[n - 1];
	r->compared = n > 1 && process_in(dumps[0], r->process->pid) != NULL;
	r->unchanged = r->others_unchanged = r->compared;
	if (!r->compared)
		return;
	uint64_t ticks = 0;
	for (size_t i = 0; i < newest->n; i++)
		if (newest->processes[i].rank == r->rank)
			process_compare(dumps, n, &newest->processes[i], r, &ticks);
	double elapsed_s = (double)(newest->captured_unix_ms - dumps[0]->captured_unix_ms) / 1e3;
	r->idle = (double)ticks <= MAX(2, elapsed_s * idle_ticks_per_s);
	r->cores = elapsed_s > 0 ? (double)ticks / 100 / elapsed_s : 0;
}

static bool same_function(const struct dump_frame *a, const struct dump_frame *b)
{
	return a && b && strcmp(a->name, b->name) == 0 && strcmp(a->file ? a->file : "", b->file ? b->file : "") == 0;
}

static bool is_on_stack(const struct dump_thread *t, const struct dump_frame *f)
{
	for (size_t i = 0; i < t->n_frames; i++)
		if (same_function(&t->frames[i], f))
			return true;
	return false;
}

/* What a loop of looks may be met at in the place of its sleep: on a processor, or asking somebody. */
static bool may_be_a_look(const struct stackgroup_rank *r)
{
	switch (r->activity.kind) {
	case ACTIVITY_UNKNOWN:
	case ACTIVITY_DOWNLOAD:
	case ACTIVITY_UPLOAD:
	case ACTIVITY_DATA_COPY:
		return r->compared && !r->unchanged;
	default:
		return false;
	}
}

/*
 * The newest look may meet a loop of sleeps between two of them, the more often the busier the machine is. If the rank
 * slept before in a function that it is still in, and does next to nothing, it is taken as it was then.
 */
static void between_sleeps(const struct stackdump *const *dumps, size_t n, struct stackgroup_rank *r)
{
	bool awake = r->acting && r->acting->wait.kind == WAIT_RUNNING && r->activity.kind == ACTIVITY_UNKNOWN;
	awake = r->acting && (awake || may_be_a_look(r));
	for (size_t i = n; awake && r->compared && r->cores < loop_cores && i-- > 0;) {
		const struct dump_thread *before = thread_in(dumps[i], r->process->pid, r->acting->tid);
		struct activity_found was;
		if (!before)
			return;
		activity_of(before, &was);
		if (was.kind != ACTIVITY_SLEEP || !was.user || !is_on_stack(r->acting, was.user))
			continue;
		r->activity = was;
		r->acting = before;
		return;
	}
}

static void groups_make(struct stackgroups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct stackgroup_rank *r = &g->rank[i];
		r->key = r->acting ? stackgroup_key(r->acting) : 0;
		size_t k = 0;
		while (k < g->n_groups && g->group[k].key != r->key)
			k++;
		if (k == g->n_groups)
			g->group[g->n_groups++] =
				(struct stackgroup_group){.key = r->key, .first = i, .activity = r->activity.kind};
		g->group[k].n++;
	}
	/* Insertion sort is stable: groups of one size stay in the order of their first ranks. */
	for (size_t i = 1; i < g->n_groups; i++)
		for (size_t k = i; k > 0 && g->group[k].n > g->group[k - 1].n; k--) {
			struct stackgroup_group swap = g->group[k];
			g->group[k] = g->group[k - 1];
			g->group[k - 1] = swap;
		}
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->n_groups; k++)
			if (g->group[k].key == g->rank[i].key)
				g->rank[i].group = k;
}

void stackgroups_make(const struct stackdump *const *dumps, size_t n_dumps, struct stackgroups *ret)
{
	*ret = (struct stackgroups){.n = 0};
	ranks_make(dumps[n_dumps - 1], ret);
	for (size_t i = 0; i < ret->n; i++) {
		acting_make(&ret->rank[i]);
		rank_compare(dumps, n_dumps, &ret->rank[i]);
		between_sleeps(dumps, n_dumps, &ret->rank[i]);
		ret->n_waiting += activity_waits_for_ranks(ret->rank[i].activity.kind);
	}
	groups_make(ret);
}

const struct stackgroup_rank *stackgroups_find(const struct stackgroups *g, int32_t rank)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->rank[i].rank == rank)
			return &g->rank[i];
	return NULL;
}

void stackgroups_ranks_text(const struct stackgroups *g, size_t group, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t i = 0; i < g->n; i++) {
		if (g->rank[i].group != group || g->rank[i].rank == NO_RANK)
			continue;
		size_t to = i;
		while (to + 1 < g->n && g->rank[to + 1].group == group && g->rank[to + 1].rank == g->rank[to].rank + 1)
			to++;
		buf_printf(&b, "%s%d", b.len ? ", " : "", g->rank[i].rank);
		if (to > i)
			buf_printf(&b, "%s%d", to > i + 1 ? "-" : ", ", g->rank[to].rank);
		i = to;
	}
}

void stackgroups_stack_text(const struct stackgroups *g, size_t group, size_t lines, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	const struct stackgroup_rank *r = &g->rank[g->group[group].first];
	if (!r->acting) {
		buf_add(&b, r->process->note);
		return;
	}
	if (r->acting->n_frames == 0)
		buf_add(&b, r->acting->note[0] ? r->acting->note : r->process->note);
	for (size_t i = 0; i < r->acting->n_frames && lines > 0; i++, lines--) {
		const struct dump_frame *f = &r->acting->frames[i];
		struct frame text = {.kind = f->kind,
				     .name = f->name,
				     .file = f->file ? f->file : "",
				     .module = f->module ? f->module : "",
				     .line = f->line};
		char label[200];
		frame_label(&text, label, sizeof(label));
		buf_printf(&b, "%s%s", b.len ? "\n" : "", label);
	}
}
