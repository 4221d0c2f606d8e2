#include <stdio.h>

#include "base/log.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/view.h"
#include "model/incident.h"
#include "tell/job_json.h"

struct ps_options {
	bool all;
	bool json;
	const char *state;
};

static const struct option options[] = {
	{.name = "all", .letter = 'a', .type = OPTION_FLAG, .help = "show processes that have ended, too",
	 .offset = offsetof(struct ps_options, all)},
	OPTION_JSON(ps_options),
	OPTION_STATE(ps_options),
	OPTION_END,
};

struct list {
	const struct view *view;
	const struct ps_options *options;
	bool all;
	size_t shown;
};

static void print_row(struct list *l, const struct job_process *p, bool live)
{
	const struct paper *out = &l->view->paper;
	char rank[12] = "-", own[16], rss[16], shared[16], peak[16], exit[24];
	if (p->rank != NO_RANK)
		(void)snprintf(rank, sizeof(rank), "%d", p->rank);
	if (l->shown == 0) {
		paper_ink(out, INK_DIM);
		fprintf(out->to, "%-20s %3s %4s %-8s %8s %10s %10s %10s %10s %-8s  %s\n", "JOB", "TRY", "RANK", "ROLE", "PID",
			"OWN", "RESIDENT", "SHARED", "PEAK", "STATE", "COMMAND");
		paper_ink(out, INK_PLAIN);
	}
	bool measured = p->rss_bytes > 0;
	paper_cell(out, p->job, 20);
	fprintf(out->to, " %3u %4s ", p->attempt, rank);
	paper_cell(out, p->role[0] ? p->role : "-", 8);
	fprintf(out->to, " %8ld %10s %10s %10s %10s %-8s  ", (long)p->pid, measured ? size_format(p->own_bytes, own) : "-",
		measured ? size_format(p->rss_bytes, rss) : "-", measured ? size_format(p->shared_bytes, shared) : "-",
		p->peak_own_bytes > 0 ? size_format(p->peak_own_bytes, peak) : "-",
		live ? "running" : p->has_status ? view_exit(true, p->wait_status, exit) : "gone");
	paper_cut(out, p->command[0] ? p->command : p->name, view_rest(l->view, 104));
	fputc('\n', out->to);
}

static int show_process(void *ctx, const struct job_process *stored)
{
	struct list *l = ctx;
	struct job_process p = *stored;
	bool live = view_process_now(l->view, &p);
	if (!live && !l->all)
		return 0;
	if (l->options->json) {
		cleanup(js_freep) struct js *o = process_json(&p);
		js_put_bool(o, "running", live);
		ignore(js_write(o, stdout, 0), "main looks at stdout in the end");
	} else {
		print_row(l, &p, live);
	}
	l->shown++;
	return 0;
}

static int show_job(void *ctx, const struct job *stored)
{
	struct list *l = ctx;
	struct job j = *stored;
	view_refresh(l->view, &j);
	if (!l->options->all && !view_is_live(&j) && j.state != JOB_LOST)
		return 0;
	int r = store_each_process(l->view->store, j.id, show_process, l);
	if (r < 0)
		ignore(view_failed(l->view, r, "the processes"), "the other jobs can still be shown");
	return 0;
}

static int one_job(struct list *l, const char *name)
{
	struct job j;
	int status = view_job(l->view, name, &j);
	if (status != 0)
		return status;
	l->all = l->options->all || (!view_is_live(&j) && j.state != JOB_LOST);
	int r = store_each_process(l->view->store, j.id, show_process, l);
	if (r < 0)
		return view_failed(l->view, r, "the processes");
	if (l->shown == 0 && !l->options->json)
		log_info("no process of job %s is known to run (%s)", j.id, job_state_name(j.state));
	return 0;
}

static int ps_run(const void *opts, int argc, char **argv)
{
	const struct ps_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	int status = view_words("ps", argc, argv, 1);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status != 0)
		return status;
	struct list l = {.view = &v, .options = o, .all = o->all};
	if (argc == 1)
		return one_job(&l, argv[0]);
	int r = v.store ? store_each_job(v.store, 0, show_job, &l) : 0;
	if (r < 0)
		return view_failed(&v, r, "the jobs");
	if (l.shown == 0 && !o->json)
		log_info("%s", v.store ? "no process of any job is running" : v.none);
	return 0;
}

const struct command command_ps = {
	.name = "ps",
	.usage = "vigil ps [JOB|PID|last] [--all] [--json]",
	.summary = "list the processes of running jobs with their memory",
	.about = "OWN is what ending the process would free: its resident memory less what it shares. Numbers of running "
		 "processes are read as the command runs; those of ended ones are the last that were seen.",
	.examples = "vigil ps\n"
		    "vigil ps last --all",
	.options = options,
	.options_size = sizeof(struct ps_options),
	.run = ps_run,
	.usage_status = EXIT_USAGE,
};
