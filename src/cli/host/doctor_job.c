#include "cli/host/doctor_job.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/speed/speedsteps.h"
#include "agent/speed/speedwatch.h"
#include "base/buf.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/options/subject.h"
#include "cli/screen/stopkey.h"
#include "cli/screen/view.h"
#include "judge/speed/speed.h"
#include "tell/host/findings.h"
#include "tell/host/speedshow.h"

/* So little work is none. */
#define IDLE_CORES 0.05

static void doctor_job_progress(void *ctx, uint64_t left_ns)
{
	(void)ctx;
	(void)fprintf(stderr, "\rwatching for %.1f s more ", (double)left_ns / 1e9);
	(void)fflush(stderr);
}

/* That may be meant, so it is no finding; but who asks why nothing gets faster wants to know where it rests. */
static void doctor_job_idle(const struct subject *s)
{
	char what[64];
	if (s->is_job)
		TEXT_COPY(what, s->job.id);
	else
		TEXT_FORMAT(what, "%d", (int)s->pid);
	printf("It rested or waited nearly all of the time: 'vigil stack %s' shows where, 'vigil waits %s' for whom.\n",
	       what, what);
}

static void doctor_job_show(const struct doctor_job *d, const struct subject *s, const struct speedfacts *facts,
			    const struct findings *all)
{
	struct speedview v;
	speedview_of(facts, &v);
	const struct speedshow show = {
		.facts = facts, .run = v.run, .queued = v.queued, .wanted = v.wanted, .room = v.room};
	if (d->json) {
		struct js *j = findings_json(all);
		js_put_text(j, "subject", s->text);
		js_put(j, "watched", speedshow_json(&show));
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
		return;
	}
	findings_text(all, view_colour(), stdout);
	if (all->n == 0)
		printf("Nothing that I can see holds %s back.\n", s->text);
	if (all->n == 0 && v.wanted < IDLE_CORES)
		doctor_job_idle(s);
	putchar('\n');
	speedshow_text(&show, stdout);
}

static int watched(const struct world *w, const struct doctor_job *d, const struct subject *s, struct speedfacts *ret)
{
	const struct members_want members = subject_members(s);
	const bool shows = isatty(STDERR_FILENO);
	const struct speedwatch_want want = {.members = &members,
					     .for_ns = d->for_ns,
					     .stop = stopkey_begin(false),
					     .progress = shows ? doctor_job_progress : NULL};
	struct speedsteps steps = {.n = 0};
	struct fault f = {.text = ""};
	if (s->is_job)
		speedsteps_begin(&steps, w, &s->job);
	int r = speedwatch_take(w, &want, ret, &f);
	if (shows)
		(void)fputs("\r\033[K", stderr);
	if (r) {
		log_error("%s: %s", s->text, f.text);
		return r == SPEEDWATCH_NONE ? EXIT_ABSENT : r == WORLD_DENIED ? EXIT_DENIED : EXIT_PROBLEM;
	}
	if (s->is_job)
		speedsteps_end(&steps, w, &ret->steps);
	return 0;
}

int doctor_job(const struct doctor_job *d)
{
	struct world w;
	struct subject s;
	struct speedfacts facts;
	static struct findings all;
	char state[256];
	int r = subject_open(d->state, d->what, &w, state, sizeof(state), &s);
	if (r)
		return r;
	r = watched(&w, d, &s, &facts);
	if (r)
		return r;
	speed_judge(&facts, &all);
	doctor_job_show(d, &s, &facts, &all);
	speedfacts_done(&facts);
	return findings_worst(&all) >= SEVERITY_WARNING ? EXIT_PROBLEM : 0;
}
