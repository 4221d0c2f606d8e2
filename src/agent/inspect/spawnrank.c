#include "agent/inspect/spawnrank.h"

#include <string.h>

#include "agent/inspect/procview.h"
#include "agent/inspect/siblingrank.h"
#include "sense/framework/rayworker.h"
#include "sense/native/livenv.h"
#include "sense/python/pylocals.h"
#include "sense/wait/threadwait.h"

#define RANK_LIMIT 100000
/* A process is asked this many times at most: it imports modules first. */
#define ASK_MOST 6
/* Children are compared half a second after each other, then ever more rarely, once a minute in the end. */
#define SIBLING_GAPS 7
static const uint64_t ask_gap_ns = NS_PER_S / 2;
static const uint64_t raytrain_gap_ns = 2 * NS_PER_S;
/* A join that is waited in is among this many innermost frames. */
#define WAIT_FRAMES 6

enum spawnrank {
	SPAWNRANK_LATER, /* no answer yet: it still imports, or could not be read just now */
	SPAWNRANK_OVER, /* the answer will not change */
};

static const char *const argument_names[] = {"rank", "local_rank", "global_rank", "proc_rank", "proc_id"};
/* Folders of libraries whose functions run in processes that serve their parent. */
static const char *const servants[] = {
	"/torch/utils/data/", "/torch/_inductor/", "/multiprocessing/", "/concurrent/futures/", "/joblib/",
};

static bool spawnrank_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_frame(const struct pyframe *f, const char *name, const char *file)
{
	return f->known && f->known->name && f->known->file && spawnrank_ends_with(f->known->name, name) &&
	       spawnrank_ends_with(f->known->file, file);
}

/* The outermost frame of the function that multiprocessing runs; NULL: it was not called yet. */
static const struct pyframe *target_of(const struct pystack *s)
{
	for (size_t i = s->n; i-- > 2;)
		if (is_frame(&s->frames[i], "_bootstrap", "multiprocessing/process.py"))
			return is_frame(&s->frames[i - 1], "run", "multiprocessing/process.py") ? &s->frames[i - 2]
												: &s->frames[i - 1];
	return NULL;
}

static bool local_number(const struct pylocals *l, const char *name, int32_t *ret)
{
	uint64_t v;
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].is_arg && strcmp(l->items[i].name, name) == 0 && l->items[i].value &&
		    span_u64(span_of(l->items[i].value), &v) == 0 && v < RANK_LIMIT) {
			*ret = (int32_t)v;
			return true;
		}
	return false;
}

static bool is_servant(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(servants); i++)
		if (strstr(file, servants[i]))
			return true;
	return false;
}

/* A function may set its rank's variable itself, as launchers do for programs that they start. */
static bool variable_read(const struct world *w, struct remote *r, const char *name, int32_t *ret)
{
	char text[16];
	uint64_t v;
	if (livenv_read(w, r, name, text, sizeof(text)) != 0 || span_u64(span_of(text), &v) != 0 || v >= RANK_LIMIT)
		return false;
	*ret = (int32_t)v;
	return true;
}

/* True for a shell, and for a program that waits for the end of a child at this moment. */
static bool starts_by_option(const struct world *w, const struct ownranks_process *parent)
{
	struct threadwait t;
	if (parent->who.role == ROLE_SHELL || parent->who.role == ROLE_LAUNCHER)
		return true;
	return threadwait_read(w, parent->pid, parent->pid, NULL, false, &t) == 0 && t.kind == WAIT_CHILD;
}

/*
 * It says itself which rank it is, and of how many, or which one alone if its parent only waits for its children.
 */
static bool world_ask(const struct world *w, const struct ownranks_process *p, const struct ownranks_process *parent,
		      struct spawnranks_one *one)
{
	struct remote r;
	int32_t rank = 0, world = 0;
	remote_open(w, p->pid, &r);
	const bool has = variable_read(w, &r, "RANK", &rank);
	const bool sized = has && variable_read(w, &r, "WORLD_SIZE", &world);
	remote_done(&r);
	if (!has || (sized ? rank >= world || world < 2 : !starts_by_option(w, parent)))
		return false;
	one->told = sized ? OWNRANKS_BY_WORLD : OWNRANKS_BY_NAME;
	one->number = rank;
	one->world = world;
	return true;
}

/* What it was called with, as a command line would have it: the function and "--NAME=NUMBER" of each small number. */
static void target_write(const struct pycode *code, const struct pylocals *l, struct spawnrank_target *ret)
{
	int n = snprintf(ret->text, sizeof(ret->text), "%s", code->name ? code->name : "?");
	for (size_t i = 0; i < l->n && n >= 0 && (size_t)n < sizeof(ret->text); i++) {
		uint64_t v;
		ret->len = (size_t)n;
		if (l->items[i].is_arg && l->items[i].value && span_u64(span_of(l->items[i].value), &v) == 0)
			n += snprintf(ret->text + n + 1, sizeof(ret->text) - (size_t)n - 1, "--%s=%llu",
				      l->items[i].name, (unsigned long long)v) + 1;
	}
	if (n >= 0 && (size_t)n < sizeof(ret->text))
		ret->len = (size_t)n;
}

static enum spawnrank of_target(struct procview *l, const struct pyframe *f, struct spawnranks_one *one)
{
	cleanup(pylocals_done) struct pylocals locals = {.n = 0};
	bool torch = is_frame(f, "_wrap", "torch/multiprocessing/spawn.py");
	if (!torch && (!f->known || !f->known->file || is_servant(f->known->file)))
		return SPAWNRANK_OVER;
	if (pylocals_read(&l->rt, &l->remote, f->addr, f->code, &locals) != 0)
		return SPAWNRANK_LATER;
	target_write(f->known, &locals, &one->target);
	if (torch && local_number(&locals, "i", &one->number))
		one->told = OWNRANKS_BY_TORCH;
	for (size_t i = 0; i < ARRAY_SIZE(argument_names) && !torch && !one->told; i++)
		if (local_number(&locals, argument_names[i], &one->number))
			one->told = OWNRANKS_BY_NAME;
	if (!one->told && variable_read(l->w, &l->remote, "RANK", &one->number))
		one->told = OWNRANKS_BY_NAME;
	return one->told ? SPAWNRANK_OVER : SPAWNRANK_LATER; /* it may set the variable later */
}

/* Reads the Python frames of the main thread. False: there are none now; *ret_later: there may be some later. */
static bool main_frames(const struct world *w, pid_t pid, struct procview **ret, struct procview_sample *sample,
			bool *ret_later)
{
	const struct procview_want want = {.natives = NULL};
	const struct pythread *list;
	struct fault f = {.text = ""};
	size_t n = 0;
	*ret_later = false;
	if (procview_open(w, pid, &want, ret, &f) != 0)
		return false;
	struct procview *l = *ret;
	*ret_later = l->has_python || l->python_later;
	const struct pythread *main = l->has_python && procview_python_threads(l, &list, &n) == 0
					      ? procview_python_thread(list, n, pid)
					      : NULL;
	return main && procview_sample(l, pid, main, PROCVIEW_RUNS, sample) == 0 && sample->python_result == 0;
}

/*
 * Reads a rank from the arguments of the function that the process runs, while it runs. Takes about half a millisecond.
 */
static enum spawnrank spawnrank_read(const struct world *w, pid_t pid, struct spawnranks_one *one)
{
	cleanup(procview_closep) struct procview *l = NULL;
	struct procview_sample sample;
	bool later;
	one->told = OWNRANKS_NOTHING;
	if (!main_frames(w, pid, &l, &sample, &later))
		return later ? SPAWNRANK_LATER : SPAWNRANK_OVER;
	const struct pyframe *target = target_of(&sample.python);
	return target ? of_target(l, target, one) : SPAWNRANK_LATER;
}

/* True: the program waits for processes that it started. A program that does other work is no launcher. */
static bool only_waits(const struct world *w, pid_t pid)
{
	cleanup(procview_closep) struct procview *l = NULL;
	struct procview_sample sample;
	bool later;
	if (!main_frames(w, pid, &l, &sample, &later))
		return false;
	for (size_t i = 0; i < MIN(sample.python.n, (size_t)WAIT_FRAMES); i++) {
		const struct pycode *c = sample.python.frames[i].known;
		if (c && c->name && c->file && spawnrank_ends_with(c->name, "join") &&
		    strstr(c->file, "/multiprocessing/"))
			return true;
	}
	return false;
}

/* Asks one process. */
static enum spawnrank number_ask(const struct world *w, const struct ownranks_process *p,
				 const struct ownranks_process *parent, struct spawnranks_one *one)
{
	bool starts;
	enum spawnrank done = SPAWNRANK_OVER;
	if (p->who.has_option) {
		one->told = OWNRANKS_BY_OPTION;
		one->number = p->who.option;
		starts = starts_by_option(w, parent) || only_waits(w, p->ppid);
	} else {
		done = spawnrank_read(w, p->pid, one);
		starts = one->told == OWNRANKS_NOTHING || only_waits(w, p->ppid);
	}
	if (starts && one->told != OWNRANKS_NOTHING)
		return done;
	if (!p->who.has_option && world_ask(w, p, parent, one))
		return SPAWNRANK_OVER;
	one->told = OWNRANKS_NOTHING;
	/* The parent may still be starting other processes. */
	return starts && done == SPAWNRANK_OVER ? SPAWNRANK_OVER : SPAWNRANK_LATER;
}

struct spawnranks *spawnranks_new(void)
{
	return calloc(1, sizeof(struct spawnranks));
}

void spawnranks_forget(struct spawnranks *s)
{
	if (s->n > 0) /* what was never used is not touched */
		memset(s, 0, sizeof(*s));
}

/* Slot of a pid, or the free slot where it belongs. */
static size_t spawnrank_slot(const struct spawnranks *s, pid_t pid)
{
	size_t at = (size_t)pid & (SPAWNRANKS - 1);
	while (s->of[at].pid && s->of[at].pid != pid)
		at = (at + 1) & (SPAWNRANKS - 1);
	return at;
}

/*
 * Asks a process when it is due. True: it reported a number now. *left is reduced by one for each process that was
 * read.
 */
static bool spawnrank_ask(struct spawnranks *s, const struct world *w, const struct ownranks_process *p,
			  const struct ownranks_process *parent, uint64_t first_ns, size_t *left)
{
	struct spawnranks_one *one = &s->of[spawnrank_slot(s, p->pid)];
	uint64_t now_ns = w->mono_ns();
	if (!one->pid && s->n == SPAWNRANKS / 2)
		return false; /* a program with more children than this has no ranks among them */
	if (!one->pid || one->start_ticks != p->start_ticks) {
		s->n += one->pid == 0;
		s->n_told -= one->told != OWNRANKS_NOTHING;
		*one = (struct spawnranks_one){
			.pid = p->pid, .start_ticks = p->start_ticks, .due_ns = now_ns + first_ns};
	}
	if (one->over || *left == 0 || now_ns < one->due_ns)
		return false;
	(*left)--;
	one->over = number_ask(w, p, parent, one) == SPAWNRANK_OVER;
	one->over |= ++one->asked == ASK_MOST;
	one->due_ns = now_ns + (ask_gap_ns << one->asked);
	s->n_told += one->told != OWNRANKS_NOTHING;
	return one->told != OWNRANKS_NOTHING;
}

/* As spawnrank_ask, of a Ray worker: it becomes one of Ray Train at any time, so it is asked until then. */
static bool raytrain_ask(struct spawnranks *s, const struct world *w, const struct ownranks_process *p, size_t *left)
{
	struct spawnranks_one *one = &s->of[spawnrank_slot(s, p->pid)];
	struct rayworker_train t;
	uint64_t now_ns = w->mono_ns();
	if (!one->pid && s->n == SPAWNRANKS / 2)
		return false;
	if (!one->pid || one->start_ticks != p->start_ticks) {
		s->n += one->pid == 0;
		s->n_told -= one->told != OWNRANKS_NOTHING;
		*one = (struct spawnranks_one){.pid = p->pid, .start_ticks = p->start_ticks, .due_ns = now_ns};
	}
	if (one->told != OWNRANKS_NOTHING || *left == 0 || now_ns < one->due_ns)
		return false;
	(*left)--;
	one->due_ns = now_ns + raytrain_gap_ns;
	if (!rayworker_train_read(w, p->pid, &t))
		return false;
	one->told = OWNRANKS_BY_RAY;
	one->number = t.rank;
	one->local = t.local_rank;
	s->n_told++;
	return true;
}

/* True if the children of a process are to be compared now. */
static bool parent_due(struct spawnranks *s, const struct ownranks_process *parent, uint64_t first_ns, uint64_t now_ns)
{
	struct spawnranks_parent *one = &s->parents[0];
	for (size_t i = 0; i < SPAWNRANK_PARENTS; i++) {
		struct spawnranks_parent *k = &s->parents[i];
		if (k->pid == parent->pid && k->start_ticks == parent->start_ticks) {
			one = k;
			break;
		}
		one = k->due_ns < one->due_ns ? k : one;
	}
	if (one->pid != parent->pid || one->start_ticks != parent->start_ticks)
		*one = (struct spawnranks_parent){parent->pid, parent->start_ticks, now_ns + first_ns, 0};
	if (now_ns < one->due_ns)
		return false;
	one->due_ns = now_ns + (ask_gap_ns << one->asked);
	one->asked += one->asked < SIBLING_GAPS;
	return true;
}

static void sibling_keep(struct spawnranks *s, const struct ownranks_process *p, int32_t number, int32_t world)
{
	struct spawnranks_one *one = &s->of[spawnrank_slot(s, p->pid)];
	if (!one->pid && s->n == SPAWNRANKS / 2)
		return;
	s->n += one->pid == 0;
	s->n_told += one->pid == 0 || one->told == OWNRANKS_NOTHING;
	*one = (struct spawnranks_one){.pid = p->pid, .start_ticks = p->start_ticks, .over = true,
				       .told = OWNRANKS_BY_SIBLINGS, .number = number, .world = world};
}

/* Children of a process that run a function of the program and have told nothing yet. */
static bool has_target(const struct spawnranks *s, const struct ownranks_process *p, const struct spawnranks_one **ret)
{
	*ret = &s->of[spawnrank_slot(s, p->pid)];
	return !p->ended && role_serves(p->who.role) && (*ret)->pid && (*ret)->start_ticks == p->start_ticks &&
	       (*ret)->told == OWNRANKS_NOTHING && (*ret)->target.len > 0;
}

/* Compares what the children of one process were called with. True: they have numbers now. */
static bool targets_compare(struct spawnranks *s, const struct world *w, const struct ownranks_process *p, size_t n,
			    const struct ownranks_process *parent)
{
	const struct spawnranks_one *one;
	cleanup(freep) struct siblingrank_list *l = calloc(1, sizeof(*l));
	if (l) {
		l->w = w;
		l->parent = parent->pid;
	}
	for (size_t i = 0; l && i < n; i++)
		if (p[i].ppid == parent->pid && has_target(s, &p[i], &one) &&
		    !siblingrank_add(l, i, &p[i], (struct span){one->target.text, one->target.len}))
			return false;
	if (!l || !siblingrank_number(l, (struct span){"", 0}) || !only_waits(w, parent->pid))
		return false;
	for (size_t i = 0; i < l->n; i++)
		if (l->of[i].world > 0)
			sibling_keep(s, &p[l->of[i].at], l->of[i].number, l->of[i].world);
	return true;
}

/* Counts, for each process, the children that may have numbers by comparison. */
static void siblings_count(const struct spawnranks *s, const struct ownranks_process *p, size_t n, int32_t *children)
{
	const struct spawnranks_one *one;
	memset(children, 0, n * sizeof(*children));
	for (size_t i = 0; i < n; i++) {
		const struct ownranks_process *up = ownranks_parent(p, n, &p[i]);
		if (up && (siblingrank_may_be(&p[i], up) || has_target(s, &p[i], &one)))
			children[up - p]++;
	}
}

/* Compares the children of each process that may have started ranks. True: some have numbers now. */
static bool siblings_ask(struct spawnranks *s, const struct world *w, const struct ownranks_process *p, size_t n,
			 uint64_t first_ns)
{
	cleanup(freep) int32_t *children = calloc(n ? n : 1, 3 * sizeof(*children));
	int32_t *number = children ? children + n : NULL, *world = children ? number + n : NULL;
	bool any = false;
	if (!children)
		return false;
	siblings_count(s, p, n, children);
	for (size_t i = 0; i < n; i++) {
		if (children[i] < 2 || !parent_due(s, &p[i], first_ns, w->mono_ns()))
			continue;
		any |= targets_compare(s, w, p, n, &p[i]);
		if (!siblingrank_read(w, p, n, &p[i], number, world))
			continue;
		for (size_t k = 0; k < n; k++)
			if (world[k] > 0)
				sibling_keep(s, &p[k], number[k], world[k]);
		any = true;
	}
	return any;
}

static void told_fill(const struct spawnranks *s, struct ownranks_process *p)
{
	const struct spawnranks_one *one = &s->of[spawnrank_slot(s, p->pid)];
	if (!one->pid || one->start_ticks != p->start_ticks)
		return;
	p->reported = one->told;
	p->number = one->number;
	p->world = one->world;
	p->local = one->local;
}

bool spawnranks_update(struct spawnranks *s, const struct world *w, struct ownranks_process *p, size_t n,
		       uint64_t first_ns, size_t most, bool others)
{
	for (size_t i = 0; i < n; i++) {
		const struct ownranks_process *up = NULL;
		bool may = role_serves(p[i].who.role) || p[i].who.has_option;
		if (may && p[i].who.rank == NO_RANK && !p[i].ended)
			up = ownranks_parent(p, n, &p[i]);
		if (up && ownranks_may_be(&p[i].who, &up->who))
			others |= spawnrank_ask(s, w, &p[i], up, first_ns, &most);
		else if (p[i].who.role == ROLE_RAY_WORKER && p[i].who.rank == NO_RANK && !p[i].ended)
			others |= raytrain_ask(s, w, &p[i], &most);
	}
	others |= siblings_ask(s, w, p, n, first_ns);
	if (!others)
		return false;
	for (size_t i = 0; i < n && s->n_told > 0; i++)
		told_fill(s, &p[i]);
	ownranks_name(p, n);
	return true;
}
