/* A rank of a job of one that waits for its device, on which one kernel runs and does not end. */
#include <string.h>

#include "judge/hang/hang_parts.h"

/* Who spins for the device uses one processor; more than this is another thread's work. */
static const double spinner_cores = 1.2;

static const struct dump_frame *top_python(const struct dump_thread *t)
{
	for (size_t i = 0; t && i < t->n_frames; i++)
		if (t->frames[i].kind == FRAME_PYTHON)
			return &t->frames[i];
	return NULL;
}

/*
 * True if it is one wait, not one of a loop of short kernels: the thread has not run, or its own function's variables
 * had the same values at each look.
 */
static bool is_one_wait(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct dump_frame *top = top_python(r->acting);
	if (r->idle)
		return true;
	if (!top || top != r->activity.user || top->state == 0)
		return false;
	for (size_t i = 0; i < MIN(w->c->n_dumps, HANG_DUMPS); i++) {
		const struct dump_thread *t = hang_thread_in(w->c->dumps[i], r->process->pid, r->acting->tid);
		const struct dump_frame *f = top_python(t);
		if (!f || f->state != top->state)
			return false;
	}
	return true;
}

bool hang_awaits_kernel(const struct hang_work *w, const struct stackgroup_rank *r)
{
	const struct liveness *l = liveness_find(w->p, r->rank);
	return !w->many && r->activity.kind == ACTIVITY_GPU_SYNC && r->compared && r->unchanged &&
	       r->cores <= spinner_cores && l && l->gpu_spins && !hang_gpu_works(w, r->rank) && is_one_wait(w, r);
}

/* Members of its collectives that are on other machines. */
static bool has_peers(const struct hang_work *w)
{
	return w->c->environment && w->c->environment->world_size > 1;
}

void hang_kernel_is(struct hang_work *w, const struct stackgroup_rank *r)
{
	char doing[300], who[HANG_WHO];
	const struct liveness *l = liveness_find(w->p, r->rank);
	hang_is(w, "gpu_stuck", has_peers(w) ? CONFIDENCE_LOW : CONFIDENCE_MEDIUM);
	hang_doing(w, r, doing, sizeof(doing));
	hang_says(w, "%s waits for its device: %s.", hang_who(r->rank, who), doing);
	hang_says(w,
		  "The device is %.0f %% busy, takes little power (%.0f W) and hardly touches its memory: one kernel "
		  "runs there and does not end.",
		  l->seen.gpu[LIVENESS_GPU_BUSY], l->seen.gpu[LIVENESS_GPU_POWER]);
	if (has_peers(w))
		hang_says(w, "A collective to which a rank on another machine has not come looks the same.");
}
