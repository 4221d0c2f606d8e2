#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inspect/raylook.h"
#include "agent/wait/waitsread.h"
#include "agent/stacks/snapshot.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/options/subject.h"
#include "cli/screen/stopkey.h"
#include "cli/screen/view.h"
#include "tell/stacks/stack_show.h"

struct stack_options {
	const char *state;
	int threads;
	bool kernel, native;
	bool locals, no_mask;
	bool json;
};

enum { THREADS_PYTHON, THREADS_ALL };

static const char *const thread_choices[] = {"python", "all", NULL};

static const struct option stack_options[] = {
	{.name = "native",
	 .letter = 'n',
	 .type = OPTION_FLAG,
	 .help = "native frames too, put together with Python's; pauses each thread for some microseconds",
	 .offset = offsetof(struct stack_options, native)},
	{.name = "kernel",
	 .letter = 'k',
	 .type = OPTION_FLAG,
	 .help = "of threads that wait also the frames in the kernel, which takes root",
	 .offset = offsetof(struct stack_options, kernel)},
	{.name = "locals",
	 .letter = 'l',
	 .type = OPTION_FLAG,
	 .help = "what the local variables of Python frames hold",
	 .offset = offsetof(struct stack_options, locals)},
	{.name = "no-mask",
	 .type = OPTION_FLAG,
	 .help = "show the values of locals that are called like a password, token or key, and such parts of others",
	 .offset = offsetof(struct stack_options, no_mask)},
	{.name = "threads",
	 .letter = 't',
	 .type = OPTION_CHOICE,
	 .arg = "WHICH",
	 .choices = thread_choices,
	 .help = "python: those that run Python code, equal ones once; all: each thread by itself",
	 .offset = offsetof(struct stack_options, threads)},
	OPTION_STATE(stack_options),
	OPTION_JSON(stack_options),
	OPTION_END,
};

/* What Python says of locks and tasks may take this long: the stacks come after it. */
static const uint64_t waits_budget_ns = 250 * NS_PER_MS;
/* Time for the names of Ray's actors. */
static const uint64_t names_budget_ns = 500 * NS_PER_MS;

/* late: hints on the waits are missing, as their time was up. */
static void show(const struct stack_options *o, const struct stackdump *d, const struct waitgraph *waits, bool late)
{
	if (o->json) {
		struct js *j = stack_json(d, waits);
		if (late)
			js_put_bool(j, "waits_late", true);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
		return;
	}
	const struct stack_show how = {
		.color = view_colour(),
		.all_threads = o->threads == THREADS_ALL,
		.locals = o->locals,
		.waits = waits,
		.waits_late = late,
	};
	stack_text(d, &how, stdout);
}

/* True if the very process that was asked for may not be looked into, whatever its descendants showed. */
static bool subject_denied(const struct stackdump *d, const struct subject *s)
{
	for (size_t i = 0; !s->is_job && i < d->n; i++)
		if (d->processes[i].pid == s->pid)
			return d->processes[i].denied;
	return false;
}

/* What a program has called its actors of Ray; a title has their class alone. */
static void actors_name(const struct world *w, struct stackdump *d)
{
	const uint64_t until_ns = w->mono_ns() + names_budget_ns;
	for (size_t i = 0; i < d->n && w->mono_ns() < until_ns; i++)
		if (strncmp(d->processes[i].command, "ray::", 5) == 0)
			raylook_given_name(w, d->processes[i].pid, d->processes[i].actor);
}

static int take_and_show(const struct world *w, const struct stack_options *o, const struct subject *s)
{
	const struct members_want members = subject_members(s);
	const volatile bool *stop = stopkey_begin(false);
	cleanup(instant_freep) struct instant *instant = instant_new(w);
	const struct snapshot_want want = {
		.members = &members,
		.native = o->native,
		.instant = instant,
		.lines = true,
		.locals = o->locals,
		.unmasked = o->no_mask,
		.kernel = o->kernel,
		.tasks = true,
		.stop = stop,
	};
	/* Read first: with native frames the stacks stop threads, which then look as if they had run. */
	const struct waitsread_want waits_want = {.members = &members, .budget_ns = waits_budget_ns, .stop = stop};
	struct waitsread waits = {.n_looks = 0};
	struct stackdump d;
	struct fault f = {.text = ""}, unseen = {.text = ""};
	bool told = waitsread_take(w, &waits_want, &waits, &unseen) == 0; /* else the stacks say why not */
	int r = snapshot_take(w, &want, &d, &f);
	if (r) {
		waitsread_done(&waits);
		log_error("%s: %s", s->text, f.text);
		return r == SNAPSHOT_NONE ? EXIT_ABSENT : r == WORLD_DENIED ? EXIT_DENIED : EXIT_PROBLEM;
	}
	actors_name(w, &d);
	show(o, &d, told ? &waits.graph : NULL, told && waits.hints_late);
	bool denied = subject_denied(&d, s);
	stackdump_done(&d);
	waitsread_done(&waits);
	return denied ? EXIT_DENIED : 0;
}

static int stack_run(const void *options, int argc, char **argv)
{
	const struct stack_options *o = options;
	struct world w;
	struct subject s;
	char state[256];
	if (argc > 1) {
		log_error("one JOB or PID is expected, not %d; see 'vigil help stack'", argc);
		return EXIT_USAGE;
	}
	int r = subject_open(o->state, argc == 1 ? argv[0] : NULL, &w, state, sizeof(state), &s);
	if (r)
		return r;
	return take_and_show(&w, o, &s);
}

const struct command command_stack = {
	.name = "stack",
	.usage = "vigil stack [OPTIONS] [JOB|PID|last]",
	.summary = "what every thread of a job is doing at this moment",
	.about = "Prints the stack of each thread of each process of a job, or of a process and its descendants: "
		 "innermost frame "
		 "first, with what a waiting thread waits for. Nothing is changed in the job, and Python frames are "
		 "read "
		 "without stopping it. CPython 3.8 to 3.15 is understood; programs that are not Python show native "
		 "frames, and those made by Go their goroutines, equal ones once.\n"
		 "\n"
		 "Without JOB it is the newest job that runs. JOB may also be the name of a Ray task or actor "
		 "(preprocess, Learner, Learner.learn, or the name that get_actor() takes): all workers of the running "
		 "jobs, or else of this machine, that "
		 "are called so.\n"
		 "\n"
		 "Jobs started by `vigil run` can always be looked into by the user who started them. For others the "
		 "rules of "
		 "ptrace(2) hold; when they forbid it, the message says which rule and what to do.",
	.examples = "vigil stack last\nvigil stack 4711 --native\nvigil stack train --locals --threads all\n"
		    "vigil stack last --json | jq '.processes[].threads[0].frames[0]'",
	.options = stack_options,
	.options_size = sizeof(struct stack_options),
	.run = stack_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
