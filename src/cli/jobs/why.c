#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options/commands.h"
#include "agent/incident/ending.h"
#include "agent/incident/raycase.h"
#include "agent/jobs/past.h"
#include "agent/incident/story.h"
#include "agent/incident/workercase.h"
#include "cli/options/subject.h"
#include "cli/screen/view.h"
#include "sense/proc/proc.h"
#include "tell/incident/report.h"

struct why_options {
	bool all;
	bool json;
	const char *state;
};

static const struct option options[] = {
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .help = "every incident of the job, oldest first",
	 .offset = offsetof(struct why_options, all)},
	OPTION_JSON(why_options),
	OPTION_STATE(why_options),
	OPTION_END,
};

struct why {
	struct view *view;
	const struct why_options *options;
	size_t shown;
	bool broken;
};

/*
 * What Ray did about a worker that died, which its log tells while the node runs, where the report does not have it
 * yet. A job that has ended has nobody as whom to read it.
 */
static bool ray_retried(const struct why *w, const struct incident *i, struct rayretry *ret)
{
	struct job job;
	struct proc_stat st;
	char name[sizeof(i->victim.command)];
	if (i->ray_retry.valid || !w->view->has_world || !w->view->store || !raycase_name(i, name, sizeof(name)) ||
	    store_find_job(w->view->store, i->job, &job) != 0 || job.pid <= 0 ||
	    proc_stat_read(&w->view->world, job.pid, &st) != 0)
		return false;
	return rayretry_read(&w->view->world, job.pid, i->victim.ray_logs, i->victim.ray_job_id, name, i->time_unix_ms,
			     ret) == 0;
}

/*
 * JSON is printed as it was stored, on one line: a newer program may have written fields that are unknown here. end:
 * how the job ended after this hang; NULL or empty: it is not told.
 */
static int print_report_ended(struct why *w, const char *text, const struct incident_end *end)
{
	cleanup(js_freep) struct js *j = NULL;
	struct incident i;
	if (js_parse(text, strlen(text), &j, NULL) < 0 || report_from_json(j, &i) < 0) {
		log_error("a stored report cannot be read back; its file may still be whole: %s/jobs/*/incidents",
			  w->view->state);
		w->broken = true;
		return EXIT_PROBLEM;
	}
	struct rayretry again;
	if (ray_retried(w, &i, &again)) {
		raycase_tell(&i, &again);
		report_ray_put(j, &i);
	}
	if (end)
		i.ended = *end;
	if (w->options->json) {
		if (end)
			report_ended_put(j, &i);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
	} else {
		if (w->shown > 0)
			fputs("\n────────\n\n", stdout);
		enum report_style style = w->view->paper.colour ? REPORT_COLOUR : REPORT_PLAIN;
		report_text(&i, style, stdout);
		report_hang_text(js_get(j, "hang"), style, stdout);
		report_heap_text(js_get(j, "heap"), style, stdout);
		report_stacks_text(j, style, stdout);
	}
	w->shown++;
	return 0;
}

static int print_report(struct why *w, const char *text)
{
	return print_report_ended(w, text, NULL);
}

static void print_made(struct why *w, const struct incident *i)
{
	cleanup(js_freep) struct js *j = report_json(i);
	cleanup(freep) char *text = js_text(j, 0);
	if (text)
		ignore(print_report(w, text), "what we wrote ourselves can be read");
}

static int print_process(void *ctx, const struct job_process *stored)
{
	struct why *w = ctx;
	struct job_process p = *stored;
	char own[16];
	if (!view_process_now(w->view, &p))
		return 0;
	printf("  pid %-8ld ", (long)p.pid);
	if (p.rank != NO_RANK)
		printf("rank %-4d ", p.rank);
	printf("%10s own  ", size_format(p.own_bytes, own));
	textout_cut(&w->view->paper, p.command[0] ? p.command : p.name, 60);
	putchar('\n');
	return 0;
}

/* The newest events of a job, those of its beginning left out. */
#define RECENT_MOST 5
struct recent {
	struct job_event last[RECENT_MOST]; /* a ring: event i is at i % RECENT_MOST */
	size_t n; /* all events, also those no longer in the ring */
};

static int recent_take(void *ctx, const struct job_event *e)
{
	static const char *const begins[] = {"job_start", "attempt_start", "job_adopted", "protect"};
	struct recent *t = ctx;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (strcmp(e->kind, begins[i]) == 0)
			return 0;
	t->last[t->n++ % RECENT_MOST] = *e;
	return 0;
}

static void recent_print(const struct why *w, const struct recent *t)
{
	const struct textout *p = &w->view->paper;
	for (size_t i = t->n - MIN(t->n, (size_t)RECENT_MOST); i < t->n; i++) {
		const struct job_event *e = &t->last[i % RECENT_MOST];
		char when[24];
		printf("  %s  ", time_format(e->time_unix_ms, when));
		textout_cell(p, e->kind, 15);
		fputs("  ", stdout);
		textout_cut(p, e->text, view_rest(w->view, 38));
		putchar('\n');
	}
	putchar('\n');
}

/* Reports the newest events and the processes of a job that runs and has no incident. */
static int explain_live(struct why *w, const struct job *j)
{
	static struct recent recent; /* too large for the stack */
	static struct job_steps known;
	char ran[24], steps[160];
	recent.n = 0;
	int r = store_each_event(w->view->store, j->id, 0, recent_take, &recent);
	if (r < 0)
		return view_failed(w->view, r, "the events");
	const char *what = recent.n ? "there was no incident so far" : "nothing has happened to it so far";
	if (w->options->json) {
		log_error("job %s is %s and %s; there is no report", j->id, job_state_name(j->state), what);
		return EXIT_ABSENT;
	}
	printf("Job %s is %s, for %s, attempt %u; %s%s\n\n", j->id, job_state_name(j->state),
	       job_ran(j, clock_unix_ms(), ran), j->attempt, what, recent.n ? ". What was told of it last:" : ".");
	past_steps(j, &known);
	past_steps_text(j, &known, steps, sizeof(steps));
	if (steps[0])
		printf("  %s\n\n", steps);
	if (recent.n)
		recent_print(w, &recent);
	r = store_each_process(w->view->store, j->id, print_process, w);
	printf("\n  vigil ps %s  ·  vigil events %s  ·  vigil logs %s --follow\n", j->id, j->id, j->id);
	return r < 0 ? view_failed(w->view, r, "its processes") : 0;
}

static int explain_job(struct why *w, const struct job *j)
{
	static struct incident made; /* too large for the stack */
	if (!job_ending(j, &made))
		return explain_live(w, j);
	print_made(w, &made);
	return 0;
}

static int print_each(void *ctx, const char *id, const char *json)
{
	(void)id;
	ignore(print_report(ctx, json), "the next one may be whole");
	return 0;
}

/* What the report leaves open: whether the job goes on, and the hang that came before another end. */
static void print_after(const struct why *w, const struct job *j, const struct job_story *s)
{
	char text[300];
	if (w->options->json)
		return;
	if (s->before[0]) {
		fputs("\nBefore that it had hung: ", stdout);
		textout_text(&w->view->paper, 0, "%s  vigil why %s", s->before_text, s->before);
	}
	if (job_is_open(j)) {
		job_story_goes_on(j, s, clock_unix_ms(), text, sizeof(text));
		fputs("\n", stdout);
		textout_text(&w->view->paper, 0, "%s", text);
	} else if (j->state == JOB_DONE && !s->end.text[0]) {
		printf("\nAfter that job %s went on and ended as it should, in attempt %u.\n", j->id, j->attempt);
	}
}

static int why_job(struct why *w, const struct job *j)
{
	cleanup(job_story_done) struct job_story s = {.json = NULL};
	int r = w->options->all ? store_each_incident(w->view->store, j->id, print_each, w)
				: job_story_read(w->view->store, j, &s);
	if (r < 0)
		return view_failed(w->view, r, "the report");
	if (w->shown > 0)
		return w->broken ? EXIT_PROBLEM : 0;
	if (!job_story_leads(j, &s)) {
		int status = explain_job(w, j);
		if (s.json && !w->options->json)
			printf("\nEarlier in this job: vigil why %s\n", j->last_incident);
		return status;
	}
	int status = print_report_ended(w, s.json, &s.end);
	print_after(w, j, &s);
	return status;
}

/* "train.2" is the second incident of the newest job that is called train, as "train-x7k2.2" is by its id. */
static int incident_of_name(struct why *w, const char *what, char **ret_json)
{
	struct job j;
	char name[64], id[sizeof(j.id) + 16];
	const char *dot = strrchr(what, '.');
	uint64_t number;
	if (!dot || dot == what || (size_t)(dot - what) >= sizeof(name) || span_u64(span_of(dot + 1), &number) < 0)
		return STORE_NONE;
	TEXT_FORMAT(name, "%.*s", (int)(dot - what), what);
	int r = store_find_job(w->view->store, name, &j);
	if (r != 0)
		return r;
	TEXT_FORMAT(id, "%s.%llu", j.id, (unsigned long long)number);
	return store_find_incident(w->view->store, id, ret_json);
}

/* what: an incident's id, or the pid of a process that was ended and is not a job's main one. */
static int why_incident(struct why *w, const char *what, bool *ret_found)
{
	cleanup(freep) char *json = NULL;
	struct job j;
	*ret_found = false;
	if (!w->view->store || strcmp(what, "last") == 0)
		return 0;
	int r = store_find_job(w->view->store, what, &j);
	if (r == 0)
		return 0; /* a job of that name: why_job reports its state, too */
	if (r == STORE_NONE)
		r = store_find_incident(w->view->store, what, &json);
	if (r == STORE_NONE)
		r = incident_of_name(w, what, &json);
	if (r < 0)
		return view_failed(w->view, r, "the report");
	if (r == STORE_NONE)
		return 0;
	*ret_found = true;
	return print_report(w, json);
}

/* Workers of Ray that live and of which nothing is reported. */
static int why_living(struct why *w, const char *what, bool *ret_found)
{
	struct subject s;
	struct fault f;
	uint64_t number;
	if (!w->view->has_world || span_u64(span_of(what), &number) == 0 ||
	    subject_find_all(&w->view->world, w->view->state, what, &s, &f) != 0 || s.is_job)
		return 0;
	*ret_found = true;
	if (w->options->json) {
		log_error("there is no report on %s: alive", s.text);
		return EXIT_ABSENT;
	}
	textout_text(&w->view->paper, 0, "There is no report on %s: alive.", s.text);
	textout_text(&w->view->paper, 0, "  vigil stack '%s'  ·  vigil mem '%s'  ·  vigil doctor '%s'", what, what,
		     what);
	return 0;
}

/* what: the name of a task or actor of Ray, unless a job is called so. Its newest report counts. */
static int why_worker(struct why *w, const char *what, bool *ret_found)
{
	cleanup(freep) char *json = NULL;
	struct job j;
	*ret_found = false;
	if (!w->view->store || strcmp(what, "last") == 0 || store_find_job(w->view->store, what, &j) != STORE_NONE)
		return 0;
	int r = workercase_find(w->view->store, what, &json);
	if (r < 0)
		return view_failed(w->view, r, "the reports");
	*ret_found = r == 0;
	return r == 0 ? print_report(w, json) : why_living(w, what, ret_found);
}

static int why_run(const void *opts, int argc, char **argv)
{
	const struct why_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	struct why w = {.view = &v, .options = o};
	const char *what = argc == 1 ? argv[0] : "last";
	struct job j;
	bool found = false;
	int status = view_words("why", argc, argv, 1);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status == 0)
		status = why_incident(&w, what, &found);
	if (status == 0 && !found)
		status = why_worker(&w, what, &found);
	if (status != 0 || found)
		return status;
	status = view_job(&v, what, &j);
	return status != 0 ? status : why_job(&w, &j);
}

const struct command command_why = {
	.name = "why",
	.usage = "vigil why [JOB|INCIDENT|PID|TASK|last] [--all] [--json]",
	.summary = "say what happened to a job, why, and what to do",
	.about = "Without a name it is about the last job. A job that runs is said to run; one that ended well, too. A "
		 "hang "
		 "that nothing resolved leads, even if somebody then ended the job by a signal: how it ended is the "
		 "line "
		 "below. TASK is the name of a task or actor of Ray; the newest report on its worker counts.",
	.examples = "vigil why\n"
		    "vigil why digits --all\n"
		    "vigil why 4242 --json",
	.options = options,
	.options_size = sizeof(struct why_options),
	.run = why_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
