#include <string.h>

#include "base/units.h"
#include "judge/hang/hang_advice.h"
#include "judge/hang/hang_parts.h"

static const uint64_t surer_again_ns = 10 * NS_PER_S;

static bool rank_exited(const struct hang_work *w, int32_t rank)
{
	const struct liveness *l = liveness_find(w->p, rank);
	return l && l->seen.exited;
}

/* Whether it was suspected for its silent log alone; a rank that has printed for long is not in a slow start. */
static void log_silent_make(struct hang_work *w, const struct hang_settings *s)
{
	w->log_silent = hang_log_silent(s, w->p, &w->usual_line_s) > 0;
	for (size_t i = 0; w->log_silent && i < w->p->n; i++)
		w->first_step &= !cadence_is_old(&w->p->rank[i].log);
}

/*
 * What it counted is weaker than steps: it may have to wait for the next thing to count, or be done. It only makes what
 * is explained by itself come sooner, if it went on until the job came to a stand.
 */
static bool counted_until_now(const struct hang_work *w)
{
	const uint64_t slack_ns = 5 * NS_PER_S;
	const double gaps = 3;
	const uint64_t since_ns = sub_floor(w->p->now_ns, w->standstill_ns);
	return w->p->count_ns > 0 &&
	       w->p->count_ns + slack_ns + hang_gap_times((double)w->p->count_gap_ns, gaps) >= since_ns;
}

static void work_make(struct hang_work *w, const struct hang_settings *asked)
{
	w->standstill_ns = sub_floor(w->p->now_ns, w->m->since_ns);
	w->stepping = w->p->progress_known && w->p->has_gap;
	w->counting = !w->stepping && counted_until_now(w);
	w->gap_ns = w->stepping ? w->p->gap_ns : w->counting ? (double)w->p->count_gap_ns : 0;
	w->first_step = !w->stepping && w->p->job_age_ns < hang_time(w->s->first_step_ns, HANG_FIRST_STEP_NS);
	log_silent_make(w, asked);
	w->ray_still = hang_ray_still(asked, w->p) > 0;
	w->made_anew = hang_only_made_anew(asked, w->p);
	size_t n = 0;
	for (size_t i = 0; i < w->p->n; i++)
		n += !w->p->rank[i].serves;
	w->many = n > 1;
	w->stalled_rank = hang_stalled_rank(w->p);
	w->has_stacks = w->c->n_dumps > 0;
	if (!w->has_stacks)
		return;
	stackgroups_make(w->c->dumps, MIN(w->c->n_dumps, HANG_DUMPS), &w->g);
	for (size_t i = 0; i < w->g.n; i++) {
		const struct stackgroup_rank *r = &w->g.rank[i];
		if (hang_waits(w, r) || rank_exited(w, r->rank) ||
		    (w->stalled_rank && r->rank != w->stalled_rank->rank))
			continue;
		if (r->has_stack || r->activity.kind != ACTIVITY_UNKNOWN ||
		    (r->main && r->main->wait.kind == WAIT_DISK))
			w->blocking[w->n_blocking++] = i;
		else
			w->unseen[w->n_unseen++] = r->rank;
	}
	for (size_t i = 0; i < w->p->n; i++) {
		const struct liveness *l = &w->p->rank[i];
		if (!l->serves && !l->seen.exited && !stackgroups_find(&w->g, l->rank) &&
		    w->n_unseen < STACKGROUP_RANKS)
			w->unseen[w->n_unseen++] = l->rank;
	}
}

/* Stores the sleep, so that the next verdict sees whether it is the same one. */
static void sleep_keep(struct hang_work *w)
{
	for (size_t i = 0; i < w->n_blocking; i++) {
		const struct stackgroup_rank *r = &w->g.rank[w->blocking[i]];
		if (r->activity.kind != ACTIVITY_SLEEP || !r->acting || r->acting->wait.sleep_until_ns == 0)
			continue;
		w->v->sleep_rank = r->rank;
		w->v->sleep_tid = r->acting->tid;
		w->v->sleep_until_ns = r->acting->wait.sleep_until_ns;
		w->v->sleep_ns = hang_sleep_made_again(w, r);
		return;
	}
}

static bool moved_meanwhile(struct hang_work *w)
{
	char text[200];
	if (w->s->rule == HANG_RULE_IO_GPU)
		return false;
	uint64_t since = hang_since(w->s, w->p, text, sizeof(text));
	if (w->m->since_ns > 0 && since > 0 && since <= w->m->since_ns + NS_PER_S)
		return false;
	TEXT_COPY(w->v->text, "it moves again");
	return true;
}

static bool by_stacks(struct hang_work *w)
{
	static bool (*const parts[])(struct hang_work * w) = {
		/* that a lock was inherited says more than that nobody is left to give it back */
		hang_lock_proofs,
		hang_python_fork_locks,
		hang_graph_proof,
		hang_python_locks,
		hang_threads_circle,
		hang_lock_lost,
		hang_goroutines,
		hang_lock_kept,
		hang_ray_circle,
		hang_ray_places,
		hang_ray_async,
		hang_ray_ranks,
		hang_lost,
		hang_writer_failed,
		hang_child_fails,
		hang_asks_itself,
		hang_never_comes,
		hang_benign,
		hang_gil_blocked,
		hang_long_sleep,
		hang_call_refused,
		hang_barrier_short,
		hang_graph_benign,
		hang_collective_says,
		hang_gil,
		hang_disk,
		hang_busy,
		hang_shared_error,
		hang_graph_explains,
		hang_closed_job,
		hang_calls_fill,
		hang_server_of_all,
		hang_one_stands,
		hang_all_wait,
		hang_child_asks,
	};
	/*
	 * A job that moves does not stand still: only proofs by themselves count, and a log that has long been silent.
	 */
	static bool (*const log_silent[])(struct hang_work * w) = {
		hang_lock_proofs, hang_lost, hang_ray_circle, hang_ray_places,
		hang_benign,	  hang_gil,  hang_disk,	      hang_silent_log,
	};
	if (w->made_anew)
		return hang_child_fails(w) || hang_child_asks(w) || w->made_anew;
	if (w->ray_still)
		return hang_lock_proofs(w) || hang_ray_circle(w) || hang_ray_places(w) || w->ray_still;
	for (size_t i = 0; !w->log_silent && i < ARRAY_SIZE(parts); i++)
		if (parts[i](w))
			return true;
	for (size_t i = 0; w->log_silent && i < ARRAY_SIZE(log_silent); i++)
		if (log_silent[i](w))
			return true;
	return w->log_silent;
}

bool hang_may_end(const struct hang_settings *s, const struct hang_verdict *v)
{
	if (v->kind != HANG_HANG)
		return false;
	if (s->rule == HANG_RULE_IO_GPU || v->proved)
		return true;
	return s->end_by != HANG_END_BY_PROOF &&
	       v->confidence >= (s->end_by == HANG_END_BY_HIGH ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM);
}

/* What is told early though somebody may still end it is low, and is looked at again. */
static void early_says(struct hang_work *w)
{
	struct hang_verdict *v = w->v;
	if (v->proved || !(w->by_file || w->by_loop || w->by_pid || w->may_visit))
		return;
	v->confidence = CONFIDENCE_LOW;
	w->may_end = true;
	if (!w->may_visit)
		v->again_ns = surer_again_ns; /* after its time it is told as before */
	if (w->by_file)
		hang_says(w, "Nothing of the job is left that acts. Somebody outside of the job may still make that "
			     "file.");
	if (w->by_loop)
		hang_says(w, "That loop was there before the job came to a stand, and no step has needed its end: it "
			     "may be one that never ends, as a monitor.");
	if (w->by_pid)
		hang_says(w, "What it asks for is the process that waits for it, and nobody else of the job acts. It "
			     "may give up by itself.");
	if (w->may_visit)
		hang_says(w, "No goroutine is left that acts. A visitor may still bring one of them what it waits "
			     "for.");
}

/* asked: the settings by which it was suspected. */
static void judge_stand(struct hang_work *w, const struct hang_settings *asked)
{
	struct hang_verdict *v = w->v;
	work_make(w, asked);
	v->standstill_ns = w->standstill_ns;
	v->steps_known = w->stepping;
	hang_groups(w);
	sleep_keep(w);
	hang_armed_keep(w);
	/* what is started anew is judged by the stacks of all others */
	bool decided = hang_stopped(w) || hang_restarts(w) || hang_dead(w) || hang_not_started(w) ||
		       (w->has_stacks ? by_stacks(w)
				      : w->made_anew || hang_collective_says(w) || hang_by_counters(w));
	/* Stacks that say nothing do not contradict it. */
	if (!decided && !hang_collective_alone(w))
		hang_unknown(w);
	if (w->s->rule == HANG_RULE_IO_GPU)
		hang_io_gpu_judge(w);
	if (v->kind == HANG_NONE) {
		hang_look_again(w);
		return;
	}
	v->proved |= w->dead;
	hang_signal_joins(w);
	if (w->by_ticks && !v->proved) {
		v->confidence = CONFIDENCE_LOW;
		v->again_ns = surer_again_ns; /* another rule may say more at a second look */
		hang_says(w, "No thread of the job takes in anything of others%s; they only wake up by their own "
			     "clocks.", w->c->graph->asks ? " but answers of its own processes" : "");
	}
	early_says(w);
	text_capital(v->text);
	hang_collective_joins(w);
	hang_book_joins(w);
	hang_advise_for(w, w->advice ? w->advice : v->id);
}

void hang_judge(const struct hang_settings *s, const struct hang_history *m, const struct hang_case *c,
		struct hang_verdict *ret)
{
	struct hang_work w = {.s = s, .m = m, .c = c, .p = c->liveness, .v = ret};
	*ret = (struct hang_verdict){.kind = HANG_NONE};
	if (m->shares_asked) {
		hang_pace_judge(&w);
		return;
	}
	if (m->since_ns == 0 || moved_meanwhile(&w))
		return;
	judge_stand(&w, s);
	bool surer = (ret->proved && !m->proved) || ret->confidence > m->confidence;
	ret->known_already |= m->state == HANG_HUNG && ret->kind == HANG_HANG && !surer;
	if (ret->kind != HANG_NONE)
		hang_common_evidence(&w);
}

void hang_glance(const struct hang_settings *s, uint64_t since_ns, const struct hang_case *c, struct hang_verdict *ret)
{
	/* The glance does not wait until the job has stood long enough. */
	struct hang_settings at_once = *s;
	struct hang_history stands = {.since_ns = since_ns};
	struct hang_work w = {.s = &at_once, .m = &stands, .c = c, .p = c->liveness, .v = ret};
	*ret = (struct hang_verdict){.kind = HANG_NONE};
	at_once.rule = HANG_RULE_EVIDENCE;
	at_once.has_after = true;
	at_once.after_ns = 0;
	judge_stand(&w, s);
	if (!ret->benign)
		hang_common_evidence(&w);
}
