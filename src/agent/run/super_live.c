#include <string.h>

#include "agent/run/super.h"
#include "base/buf.h"

void super_live_begin(struct super *s)
{
	livetell_open(&s->recorder, &s->live);
	if (s->live)
		super_poll_add(s, livetell_fd(s->live), SUPER_KEY_LIVE);
}

static const char *phase_name(enum super_phase p)
{
	static const char *const names[] = {"running", "ending", "lingering", "waiting", "over"};
	return names[p];
}

static int live_fill(void *ctx, struct live_state *n)
{
	const struct super *s = ctx;
	TEXT_COPY(n->phase, phase_name(s->phase));
	n->job = s->job;
	livetell_memory(s->services.guard.shm, s->services.guard.pid > 0, 0, super_peak_bytes(s), &n->memory);
	return sampler_show(s->sampler, s->job.attempt, n);
}

void super_live_turn(struct super *s)
{
	const uint64_t now_ns = s->w->mono_ns();
	sampler_attend(s->sampler, livetell_readers(s->live) > 0);
	/* a victim's stacks come first, and so does a look that is due: what is told then is fresh */
	if (now_ns < livetell_due_ns(s->live) || guard_case_pending(s->services.guard.shm) ||
	    (s->sampler && sampler_due_ns(s->sampler) <= now_ns))
		return;
	livetell_give(s->live, s->w, live_fill, s);
}

uint64_t super_live_due_ns(const struct super *s)
{
	/* the end of a case wakes the loop by itself */
	return guard_case_pending(s->services.guard.shm) ? UINT64_MAX : livetell_due_ns(s->live);
}

void super_live_end(struct super *s)
{
	if (livetell_readers(s->live) > 0)
		livetell_give(s->live, s->w, live_fill, s);
	s->live = livetell_close(s->live);
}
