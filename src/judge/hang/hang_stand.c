#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* A loop of the program's own code that calls nothing is a spin after this long, and after so many usual gaps. */
static const uint64_t spin_ns = 45 * NS_PER_S, busy_ns = 5 * 60 * NS_PER_S;
static const uint64_t gpu_busy_ns = 30 * 60 * NS_PER_S, busy_again_ns = 30 * NS_PER_S;
static const double spin_gaps = 20, busy_gaps = 30;
static const double spin_cores = 0.8;
/* The same by the silence of a log alone. */
static const uint64_t silent_log_spin_ns = 3 * 60 * NS_PER_S, silent_log_busy_ns = 15 * 60 * NS_PER_S;
static const uint64_t silent_log_again_ns = 60 * NS_PER_S;
static const double silent_log_spin_lines = 30, silent_log_busy_lines = 60;

/* ---- those who wait ---- */

static const struct stackgroup_rank *a_waiting(const struct hang_work *w)
{
	for (size_t i = 0; i < w->g.n; i++)
		if (hang_waits(w, &w->g.rank[i]))
			return &w->g.rank[i];
	return NULL;
}

/* "Ranks 0-2 wait in all_reduce at train.py:40 in step." */
static void say_who_waits(struct hang_work *w)
{
	int32_t ranks[STACKGROUP_RANKS];
	char text[200], doing[300];
	size_t n = 0;
	const struct stackgroup_rank *one = a_waiting(w);
	for (size_t i = 0; i < w->g.n; i++)
		if (hang_waits(w, &w->g.rank[i]))
			ranks[n++] = w->g.rank[i].rank;
	if (!one)
		return;
	hang_ranks_text(ranks, n, text, sizeof(text));
	hang_doing(w, one, doing, sizeof(doing));
	text[0] = 'R'; /* "ranks", at the beginning of a sentence */
	hang_says(w, "%s wait%s for the others: %s.", text, n == 1 ? "s" : "", doing);
}

/* Every rank was seen, stands where it stood, and uses no processor; those in a wait may spin. */
static bool complete(const struct hang_work *w)
{
	size_t ranks = 0;
	for (size_t i = 0; i < w->p->n; i++)
		ranks += !w->p->rank[i].serves && !w->p->rank[i].seen.exited;
	if (w->g.n < ranks || w->c->n_dumps < 2)
		return false;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (!r->has_stack || !r->unchanged || (!hang_waits(w, r) && !r->idle))
			return false;
	}
	return true;
}

static void accuse_all(struct hang_work *w)
{
	for (size_t i = 0; i < w->n_blocking; i++)
		if (!w->benign[i])
			hang_accuse(w, w->g.rank[w->blocking[i]].rank);
}

/* ---- busy ---- */

static const struct dump_frame *innermost(const struct dump_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++) {
		const struct dump_frame *f = &t->frames[i];
		if (f->kind == FRAME_PYTHON)
			return f;
		if (t->has_python && f->module && !strstr(f->module, "python") && !hang_c_library(f->module))
			return NULL;
	}
	/* of a program without Python its own functions alone: a library that computes for long is work */
	bool own = t->n_frames > 0 && !t->has_python && t->frames[0].module && !strstr(t->frames[0].module, ".so");
	return own ? &t->frames[0] : NULL;
}

/* In each look the same function of the program itself was on top: it goes round and calls nothing of weight. */
static bool circles(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_frame *top = r->acting ? innermost(r->acting) : NULL;
	/* what others take of the processor is not its doing */
	double wants = r->cores + hang_queues(w, r->rank);
	if (!r->compared || !top || wants < spin_cores || (top->kind == FRAME_PYTHON && top != r->activity.user))
		return false;
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct stackdump *d = w->c->dumps[i];
		const struct dump_frame *f = NULL;
		for (size_t k = 0; k < d->n; k++)
			for (size_t t = 0; d->processes[k].pid == r->process->pid && t < d->processes[k].n_threads; t++)
				if (d->processes[k].threads[t].tid == r->acting->tid)
					f = innermost(&d->processes[k].threads[t]);
		if (!f || strcmp(f->name, top->name) != 0)
			return false;
	}
	return true;
}

static bool busy_is(struct hang_work *w, const struct stackgroup_rank *r, const char *id, enum confidence c)
{
	char who[HANG_WHO], doing[300], stood[24];
	hang_is(w, id, c);
	accuse_all(w);
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s uses %.1f cores but has made no step for %s: %s.", hang_who(r->rank, who), r->cores,
		  duration_format(w->standstill_ns, stood), doing);
	if (strcmp(id, "spin") == 0)
		hang_says(w, "It is in the same function at each look: %s.",
			  c == CONFIDENCE_LOW ? "it goes round there without an end, or computes for long"
					      : "it goes round there without an end");
	say_who_waits(w);
	return true;
}

/* Something works, so it may be work. */
bool hang_busy(struct hang_work *w)
{
	const struct stackgroup_rank *r = NULL;
	for (size_t i = 0; i < w->n_blocking && !r; i++)
		if (!w->benign[i] && !hang_polls(w, &w->g.rank[w->blocking[i]]) &&
		    hang_works(w, &w->g.rank[w->blocking[i]]))
			r = &w->g.rank[w->blocking[i]];
	if (!r)
		return false;
	bool missed = w->stepping || a_waiting(w);
	double gap = w->stepping ? w->p->gap_ns : 0;
	uint64_t most = MAX(hang_gpu_works(w, r->rank) ? gpu_busy_ns : busy_ns, (uint64_t)(gap * busy_gaps));
	if (missed && circles(w, r) && (double)w->standstill_ns >= MAX((double)spin_ns, gap * spin_gaps))
		/* compiled code may well compute for long in one function, Python hardly does */
		return busy_is(w, r, "spin", r->acting->has_python ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	if (w->stepping && w->standstill_ns >= most)
		return busy_is(w, r, "busy_without_steps", CONFIDENCE_LOW);
	char doing[300], who[HANG_WHO];
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s works: %s", hang_who(r->rank, who), doing);
	if (missed)
		w->v->again_ns = MAX(
			MIN(sub_floor(w->standstill_ns < spin_ns ? spin_ns : most, w->standstill_ns), busy_again_ns),
			NS_PER_S);
	return true;
}

/*
 * A job that prints no steps, but printed: it works, and is silent for many times as long as ever. A phase of its own may do
 * so, too, so this is told as what it is, and nobody is ended for it.
 */
bool hang_silent_log(struct hang_work *w)
{
	const struct stackgroup_rank *r = NULL;
	char who[HANG_WHO], doing[300], stood[24], usual[24];
	for (size_t i = 0; i < w->n_blocking && !r; i++)
		if (!w->benign[i] && hang_works(w, &w->g.rank[w->blocking[i]]))
			r = &w->g.rank[w->blocking[i]];
	if (!r)
		return false;
	const struct liveness *l = liveness_find(w->p, r->rank);
	bool still = l && !liveness_reads(w->p, l) && !liveness_writes(w->p, l) && !hang_gpu_works(w, r->rank);
	uint64_t asked = w->s->has_after ? w->s->after_ns : silent_log_spin_ns;
	uint64_t spin_after = MAX(asked, (uint64_t)(w->usual_line_s * silent_log_spin_lines * 1e9));
	uint64_t busy_after = MAX(MAX(asked, silent_log_busy_ns), (uint64_t)(w->usual_line_s * silent_log_busy_lines * 1e9));
	bool spins = circles(w, r) && w->standstill_ns >= spin_after;
	if (!spins && !(still && w->standstill_ns >= busy_after)) {
		uint64_t next = w->standstill_ns < spin_after ? spin_after : busy_after;
		w->v->again_ns = MAX(MIN(sub_floor(next, w->standstill_ns), silent_log_again_ns), NS_PER_S);
		return false;
	}
	hang_is(w, spins ? "spin" : "busy_without_steps", CONFIDENCE_LOW);
	accuse_all(w);
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s uses %.1f cores but has printed nothing for %s, where a line came every %s: %s.",
		  hang_who(r->rank, who), r->cores, duration_format(w->standstill_ns, stood),
		  duration_format((uint64_t)(w->usual_line_s * 1e9), usual), doing);
	if (spins)
		hang_says(w, "It is in the same function at each look.");
	hang_says(w, "It prints no steps, so a phase that says nothing would look the same.");
	return true;
}

/* ---- one stands ---- */

static bool idle_worker(const struct dump_process *p)
{
	struct activity_found f;
	if (p->n_threads == 0)
		return false;
	activity_of(&p->threads[0], &f);
	for (size_t i = 0; i < p->threads[0].n_frames; i++) {
		const struct dump_frame *x = &p->threads[0].frames[i];
		if (x->kind == FRAME_PYTHON && x->file && strstr(x->file, "multiprocessing/queues.py") &&
		    strstr(x->name, "get"))
			return true;
	}
	return false;
}

/* What the data loader's workers of a rank are at. */
static void loader_is(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct stackdump *d = w->c->dumps[MIN(w->c->n_dumps, HANG_DUMPS) - 1];
	const struct liveness *l = liveness_find(w->p, r->rank);
	const struct dump_process *stuck = NULL;
	char who[HANG_WHO], doing[300];
	size_t n = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct dump_process *p = &d->processes[i];
		if (p->rank != r->rank || strcmp(p->role, "loader") != 0)
			continue;
		n++;
		if (!stuck && !idle_worker(p) && p->state != 'Z')
			stuck = p;
	}
	bool gone = l && strcmp(l->seen.last_gone.role, "loader") == 0;
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	if (gone && !stuck) {
		hang_is(w, "loader_worker_dead", n == 0 ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
		hang_says(w,
			  "The main process of %s waits for its data loader (%s), but worker %d (%s) has ended%s; %zu "
			  "%s left.",
			  who, doing, (int)l->seen.last_gone.pid, l->seen.last_gone.name,
			  l->seen.last_gone.has_status && (l->seen.last_gone.wait_status & 0x7f) == 9 ? " by SIGKILL"
												      : "",
			  n, n == 1 ? "is" : "are");
		return;
	}
	hang_is(w, "loader_stuck", stuck ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	hang_says(w, "The main process of %s waits for its data loader: %s.", who, doing);
	if (stuck && stuck->n_threads > 0) {
		struct stackgroup_rank s = {.rank = INT32_MIN, .process = stuck, .acting = &stuck->threads[0]};
		activity_of(s.acting, &s.activity);
		hang_doing(w, &s, doing, sizeof(doing));
		hang_says(w, "Worker %d does not move: %s; %s.", (int)stuck->pid, doing,
			  s.acting->wait.text[0] ? s.acting->wait.text : s.acting->wait_kind);
	} else if (n > 0) {
		hang_says(w,
			  "Its %zu workers wait for work themselves: what they made, or what they were asked for, got "
			  "lost.",
			  n);
	} else {
		hang_says(w, "It has no worker.");
	}
}

static void lock_says(struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_thread *t = r->acting;
	if (t->wait.kind != WAIT_LOCK || t->wait.owner == 0)
		return;
	for (size_t i = 0; i < r->process->n_threads; i++) {
		const struct dump_thread *o = &r->process->threads[i];
		struct stackgroup_rank s = {.rank = INT32_MIN, .process = r->process, .acting = o};
		char doing[300];
		if (o->tid != t->wait.owner)
			continue;
		activity_of(o, &s.activity);
		hang_doing(w, &s, doing, sizeof(doing));
		hang_says(w, "The lock is held by thread %d (%s), which is: %s.", (int)o->tid, o->name, doing);
	}
}

/* The cause's id by what the rank stands in; NULL: nothing of its own. */
static const char *hang_stand_cause_of(const struct hang_work *w, const struct stackgroup_rank *r, enum confidence *ret)
{
	*ret = CONFIDENCE_MEDIUM;
	switch (r->activity.kind) {
	case ACTIVITY_DATA_COPY:
		return "data_copy_stuck";
	case ACTIVITY_REMOTE_WRITER:
		return "tensorboard_remote";
	case ACTIVITY_CHECKPOINT:
		return "checkpoint_stuck";
	case ACTIVITY_DOWNLOAD:
		return "download_stuck";
	case ACTIVITY_EXIT:
		return w->many ? "rank_finishing" : "waits_for_process";
	case ACTIVITY_DEBUGGER:
		return "rank_traced";
	case ACTIVITY_GPU_SYNC:
		return "gpu_stuck";
	case ACTIVITY_SLEEP:
		return hang_sleep_ns_of(w, r) > 0 && hang_sleep_ns_of(w, r) < w->standstill_ns / 3 ? "poll_loop"
												   : "rank_sleeps";
	case ACTIVITY_JOIN:
		return a_waiting(w) ? NULL : "waits_for_process";
	case ACTIVITY_LOCK:
		return a_waiting(w) ? NULL : "lock_wait";
	default:
		break;
	}
	if (r->activity.also_checkpoint)
		return "checkpoint_stuck";
	if (!a_waiting(w) && r->acting && (r->acting->wait.kind == WAIT_SOCKET || r->acting->wait.kind == WAIT_PIPE))
		return r->acting->wait.kind == WAIT_SOCKET ? "network_wait" : "waits_for_process";
	return NULL;
}

/*
 * Ranks that share one output, as a launcher's do: it ends with an error, and its lines do not say whose it is. Where one rank
 * alone is at its end while the others are not, it is that one's.
 */
bool hang_shared_error(struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL;
	char doing[300];
	size_t n = 0;
	if (!w->c->nobodys_error || !w->c->nobodys_error[0] || w->g.n < 2)
		return false;
	for (size_t i = 0; i < w->g.n; i++) {
		if (w->g.rank[i].activity.kind != ACTIVITY_EXIT)
			continue;
		one = &w->g.rank[i];
		n++;
	}
	if (n != 1 || !one->has_stack || one->rank == NO_RANK || (one->compared && !one->unchanged))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "one_rank_failed", CONFIDENCE_MEDIUM);
	hang_accuse(w, one->rank);
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w, "The output that the ranks share ends with an error: %s.", w->c->nobodys_error);
	hang_says(w, "Its lines do not say whose it is, but rank %d alone is at its end and does not get there: %s.", one->rank,
		  doing);
	say_who_waits(w);
	return true;
}

bool hang_one_stands(struct hang_work *w)
{
	const struct stackgroup_rank *r = hang_culprit(w);
	enum confidence c = CONFIDENCE_MEDIUM;
	char who[HANG_WHO], doing[300], slept[24];
	if (!r || !r->has_stack)
		return false;
	bool loader = r->activity.kind == ACTIVITY_LOADER_WAIT;
	const char *id = hang_stand_cause_of(w, r, &c);
	if (!loader && !id && !a_waiting(w))
		return false;
	if (r->compared && !r->unchanged && !id && !loader)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	if (loader) {
		loader_is(w, r);
	} else {
		bool sure = complete(w) && a_waiting(w);
		hang_is(w, id ? id : "missing_rank", sure ? CONFIDENCE_HIGH : c);
		hang_doing(w, r, doing, sizeof(doing));
		hang_who(r->rank, who);
		hang_says(w, "%s is not with the others: it stands still, %s%s%s.", who, doing,
			  r->acting->wait.text[0] ? "; " : "", r->acting->wait.text);
		if (!a_waiting(w)) {
			w->v->text[0] = '\0';
			hang_says(w, "%s stands still: %s%s%s.", who, doing, r->acting->wait.text[0] ? "; " : "",
				  r->acting->wait.text);
		}
		lock_says(w, r);
		if (id && strcmp(id, "poll_loop") == 0)
			hang_says(w, "It sleeps for at most %s at a time, again and again: a loop that waits for something.",
				  duration_format(hang_sleep_ns_of(w, r), slept));
	}
	accuse_all(w);
	say_who_waits(w);
	return true;
}

/* ---- all wait ---- */

struct ops {
	const char *op[8];
	size_t n[8], len;
};

static size_t op_of(struct ops *o, const char *op)
{
	for (size_t i = 0; i < o->len; i++)
		if (strcmp(o->op[i], op) == 0)
			return i;
	if (o->len == ARRAY_SIZE(o->op))
		return o->len - 1;
	o->op[o->len] = op;
	return o->len++;
}

/* Ranks that are in another epoch, or two and more steps away; the minority is named. */
static bool uneven(struct hang_work *w)
{
	const struct liveness *low = NULL, *high = NULL;
	size_t n_low = 0, n = 0;
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves || !l->seen.has_progress)
			continue;
		const struct liveness_progress *x = &l->seen.progress;
		n++;
		double at = x->has_epoch ? x->epoch : (double)x->step;
		double lo = low ? (x->has_epoch ? low->seen.progress.epoch : (double)low->seen.progress.step) : 0;
		double hi = high ? (x->has_epoch ? high->seen.progress.epoch : (double)high->seen.progress.step) : 0;
		if (!low || at < lo)
			low = l;
		if (!high || at > hi)
			high = l;
	}
	if (n < 2)
		return false;
	bool epochs = low->seen.progress.has_epoch && high->seen.progress.has_epoch;
	bool apart = epochs ? high->seen.progress.epoch >= low->seen.progress.epoch + 1
			    : high->seen.progress.step >= low->seen.progress.step + 2;
	if (!apart)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "uneven_last_epoch", epochs ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	double lowest = epochs ? low->seen.progress.epoch : (double)low->seen.progress.step;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < w->p->n; i++) {
			const struct liveness *l = &w->p->rank[i];
			if (l->serves || !l->seen.has_progress)
				continue;
			bool is_low = (epochs ? l->seen.progress.epoch : (double)l->seen.progress.step) < lowest + 1;
			if (pass == 0)
				n_low += is_low;
			else if (is_low == (n_low * 2 <= n))
				hang_accuse(w, l->rank);
		}
	const char *unit = epochs ? "epoch" : "step";
	hang_says(w,
		  "The ranks are not at the same place: rank %d is in %s %.6g, rank %d in %s %.6g, and all wait for "
		  "one another.",
		  low->rank, unit, lowest, high->rank, unit,
		  epochs ? high->seen.progress.epoch : (double)high->seen.progress.step);
	hang_says(w, "They have had different numbers of batches: the data are split unevenly.");
	return true;
}

static bool same_line(const struct stackgroup_rank *a, const struct stackgroup_rank *b)
{
	const struct dump_frame *x = a->activity.user, *y = b->activity.user;
	if (!x || !y)
		return true;
	return x->line == y->line && strcmp(x->file ? x->file : "", y->file ? y->file : "") == 0;
}

static bool alike(const struct stackgroup_rank *a, const struct stackgroup_rank *b)
{
	return strcmp(a->activity.op, b->activity.op) == 0 && same_line(a, b);
}

/* One of the call that most ranks are in, and how many that are: what the library does below it may differ. */
static const struct stackgroup_rank *most_alike(const struct hang_work *w, size_t *ret_n)
{
	const struct stackgroup_rank *first = &w->g.rank[w->g.group[0].first];
	*ret_n = 0;
	for (size_t i = 0; i < w->g.n; i++) {
		size_t n = 0;
		for (size_t k = 0; k < w->g.n; k++)
			n += alike(&w->g.rank[i], &w->g.rank[k]);
		if (n > *ret_n)
			first = &w->g.rank[i];
		*ret_n = MAX(*ret_n, n);
	}
	return first;
}

/* It has printed the end of its epoch, or has made the last of its steps, which are not as many as somebody else's. */
static bool epoch_over(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct liveness *l = liveness_find(w->p, r->rank);
	if (!l || !l->seen.has_progress)
		return false;
	const struct liveness_progress *x = &l->seen.progress;
	if (x->epoch_ended)
		return true;
	bool last = x->has_step && x->has_total && x->step + 1 >= x->total, differs = false;
	for (size_t i = 0; last && i < w->p->n; i++) {
		const struct liveness_progress *y = &w->p->rank[i].seen.progress;
		differs |= !w->p->rank[i].serves && w->p->rank[i].seen.has_progress && y->has_total && y->total > x->total;
	}
	return differs;
}

/* Some have come to the end of their epoch and call what comes after it, the others are still in the midst of theirs. */
static bool epoch_over_for_some(struct hang_work *w)
{
	const struct stackgroup_rank *over = NULL, *amid = NULL;
	size_t n_over = 0;
	char a[300], b[300];
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i], **of = epoch_over(w, r) ? &over : &amid;
		const struct liveness *l = liveness_find(w->p, r->rank);
		n_over += of == &over;
		/* each side is in one call, and who is amid an epoch has made steps */
		if ((*of && !alike(*of, r)) || (of == &amid && !(l && l->stepping)))
			return false;
		*of = *of ? *of : r;
	}
	if (!over || !amid || alike(over, amid))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "uneven_last_epoch", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->g.n; i++)
		if (epoch_over(w, &w->g.rank[i]) == (n_over * 2 <= w->g.n))
			hang_accuse(w, w->g.rank[i].rank);
	hang_doing(w, over, a, sizeof(a));
	hang_doing(w, amid, b, sizeof(b));
	hang_says(w, "Rank %d has come to the end of its epoch and waits in %s, rank %d is still within its own, in %s.",
		  over->rank, a, amid->rank, b);
	hang_says(w, "They have had different numbers of batches: the data are split unevenly.");
	return true;
}

static bool mismatched(struct hang_work *w)
{
	struct ops o = {.len = 0};
	const struct stackgroup_rank *other = NULL;
	size_t n;
	char a[300], b[300];
	const struct stackgroup_rank *first = most_alike(w, &n);
	for (size_t i = 0; i < w->g.n; i++) {
		o.n[op_of(&o, w->g.rank[i].activity.op)]++;
		if (!other && !alike(first, &w->g.rank[i]))
			other = &w->g.rank[i];
	}
	if (!other)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	bool named = o.len > 1;
	bool clear = n * 2 > w->g.n;
	/* of two who should have sent and received, one is wrong, and it may be the other one */
	bool paired = first->activity.kind == ACTIVITY_P2P || other->activity.kind == ACTIVITY_P2P;
	bool sure = named && clear && !paired && complete(w);
	hang_is(w, "mismatched_collective", sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->g.n; i++)
		if (!clear || !alike(first, &w->g.rank[i]))
			hang_accuse(w, w->g.rank[i].rank);
	hang_doing(w, first, a, sizeof(a));
	hang_doing(w, other, b, sizeof(b));
	hang_says(w, "The ranks wait in different calls: rank %d in %s, rank %d in %s.", first->rank, a, other->rank,
		  b);
	if (!clear)
		hang_says(w, "Neither side is the larger one: which of them is wrong cannot be told.");
	return true;
}

/* Are all that neither send nor receive in one call? */
static bool others_alike(const struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL;
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (r->activity.kind == ACTIVITY_P2P)
			continue;
		if (one && !alike(one, r))
			return false;
		one = r;
	}
	return one != NULL;
}

static bool p2p(struct hang_work *w)
{
	size_t n = 0;
	const struct stackgroup_rank *one = NULL;
	char doing[300];
	for (size_t i = 0; i < w->g.n; i++) {
		if (w->g.rank[i].activity.kind != ACTIVITY_P2P)
			continue;
		n++;
		if (!one)
			one = &w->g.rank[i];
	}
	/* Few of them beside many in one collective: those are not missing in it, these are. */
	if (n == 0 || (n * 2 < w->g.n && others_alike(w)))
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "p2p_wait", CONFIDENCE_MEDIUM);
	/* Those outside of it are what the others wait for; where all are in it, each may be. */
	for (size_t i = 0; i < w->g.n; i++)
		if (n == w->g.n || w->g.rank[i].activity.kind != ACTIVITY_P2P)
			hang_accuse(w, w->g.rank[i].rank);
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w, "%zu of %zu ranks wait in a send or receive whose counterpart does not come: rank %d in %s.", n,
		  w->g.n, one->rank, doing);
	return true;
}

static bool store(struct hang_work *w)
{
	const struct stackgroup_rank *one = NULL;
	const struct liveness *zero = liveness_find(w->p, 0);
	char doing[300];
	for (size_t i = 0; i < w->g.n && !one; i++)
		if (w->g.rank[i].activity.kind == ACTIVITY_STORE)
			one = &w->g.rank[i];
	if (!one)
		return false;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	bool lost = w->stepping || (zero && zero->seen.exited);
	hang_is(w, lost ? "store_lost" : "rendezvous", CONFIDENCE_MEDIUM);
	if (lost)
		hang_accuse(w, 0);
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w,
		  lost ? "The ranks wait for the store that rank 0 serves, and it does not answer: rank %d in %s."
		       : "The ranks wait to meet, and do not: rank %d in %s.",
		  one->rank, doing);
	return true;
}

static bool stalled(struct hang_work *w)
{
	const struct stackgroup_rank *one = &w->g.rank[0];
	char doing[300];
	bool bn = false;
	for (size_t i = 0; i < w->g.n; i++)
		bn |= w->g.rank[i].activity.also_sync_bn;
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, bn ? "sync_batch_norm" : "equal_count_stall", CONFIDENCE_MEDIUM);
	hang_doing(w, one, doing, sizeof(doing));
	hang_says(w, "All %zu ranks are in the same call, and it does not end: %s.", w->g.n, doing);
	if (bn)
		hang_says(w, "It is the exchange of a synchronised batch normalisation.");
	else
		hang_says(w, "No rank is missing, so what is below does not move: the network, a GPU, or the library.");
	return true;
}

/* All that could be seen wait; so it is one of those that could not. */
static bool one_unseen(struct hang_work *w)
{
	char ranks[200];
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	hang_is(w, "missing_rank", CONFIDENCE_LOW);
	for (size_t i = 0; i < w->n_unseen; i++)
		hang_accuse(w, w->unseen[i]);
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_says(w, "All ranks that could be looked into wait for others; the stacks of %s could not be read.", ranks);
	say_who_waits(w);
	return true;
}

bool hang_all_wait(struct hang_work *w)
{
	if (w->n_blocking > 0 || w->g.n < 2)
		return false;
	for (size_t i = 0; i < w->g.n; i++)
		if (w->g.rank[i].compared && !w->g.rank[i].unchanged) {
			TEXT_COPY(w->v->text, "the ranks wait for one another, but their stacks change");
			return true;
		}
	if (w->n_unseen > 0)
		return w->n_unseen * 2 < w->g.n && one_unseen(w);
	return uneven(w) || p2p(w) || store(w) || epoch_over_for_some(w) || mismatched(w) || stalled(w);
}

/* ---- without stacks, and without an idea ---- */

/* The GPU of who waits for others spins; that of the one who never got there does not. */
static bool one_does_not_spin(struct hang_work *w)
{
	size_t spins = 0, known = 0;
	char ranks[200];
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (l->serves || l->seen.exited)
			continue;
		if (!l->gpu_known)
			return false;
		known++;
		spins += l->gpu_spins;
	}
	if (spins == 0 || spins == known || spins * 2 < known)
		return false;
	hang_is(w, "missing_rank", CONFIDENCE_MEDIUM);
	for (size_t i = 0; i < w->p->n; i++)
		if (!w->p->rank[i].serves && !w->p->rank[i].seen.exited && !w->p->rank[i].gpu_spins)
			hang_accuse(w, w->p->rank[i].rank);
	hang_ranks_text(w->v->culprits, w->v->n_culprits, ranks, sizeof(ranks));
	hang_says(w,
		  "%zu of %zu GPUs spin, as in a collective that does not end; those of %s do not: what they should do "
		  "there "
		  "was never started.",
		  spins, known, ranks);
	return true;
}

bool hang_by_counters(struct hang_work *w)
{
	if (!hang_old_enough(w, HANG_FIRM))
		return true;
	return one_does_not_spin(w) || uneven(w);
}

void hang_unknown(struct hang_work *w)
{
	char stood[24], doing[300], who[HANG_WHO];
	const struct stackgroup_rank *r = hang_culprit(w);
	if (!hang_old_enough(w, HANG_VAGUE))
		return;
	for (size_t i = 0; i < w->g.n && !w->stalled_rank; i++)
		if (w->g.rank[i].compared && !w->g.rank[i].unchanged && w->s->rule != HANG_RULE_IO_GPU) {
			TEXT_COPY(w->v->text, "nothing moves but the stacks");
			return;
		}
	hang_is(w, "hang_unknown", CONFIDENCE_LOW);
	hang_says(w, "Nothing has moved for %s, and nothing that was looked at says why.",
		  duration_format(w->standstill_ns, stood));
	if (!w->has_stacks) {
		hang_says(w, "No stacks could be read.");
		return;
	}
	if (!r)
		return;
	hang_doing(w, r, doing, sizeof(doing));
	hang_who(r->rank, who);
	who[0] = r->rank == NO_RANK ? 'T' : 'R';
	hang_says(w, "%s stands %s.", who, doing);
	if (a_waiting(w) || w->stalled_rank)
		accuse_all(w);
}
