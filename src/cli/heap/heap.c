#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/log.h"
#include "cli/heap/heap_source.h"
#include "cli/heap/heap_switch.h"
#include "cli/heap/heap_write.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/options/subject.h"
#include "tell/heap/heap_show.h"

#define ROWS_ON_TERMINAL 30

#define NOT_GIVEN UINT32_MAX

struct heap_options {
	const char *state;
	int what, format, by;
	const char *output, *rank, *against;
	uint32_t limit, frames, attempt;
	uint64_t duration_ns; /* UINT64_MAX: not given */
	bool warn, functions, json;
	struct heap_switch change;
};

static const struct heap_options defaults = {.what = -1,
					     .format = -1,
					     .by = HEAP_BY_JOB,
					     .limit = NOT_GIVEN,
					     .attempt = NOT_GIVEN,
					     .duration_ns = UINT64_MAX,
					     .change = HEAP_SWITCH_DEFAULTS};

static const char *const what_choices[] = {"peak", "live", "leaks", "temporary", "growth", "lifetime", NULL};

static const struct option heap_options[] = {
	{.name = "what",
	 .letter = 'w',
	 .type = OPTION_CHOICE,
	 .arg = "WHAT",
	 .choices = what_choices,
	 .help = "what was there at the peak, what lives, what leaks, what lived for less than a second; live while "
		 "the job runs, else peak; lifetime: how long blocks live, and what was held on average; growth: where "
		 "memory is touched for the first time, without a profile",
	 .offset = offsetof(struct heap_options, what)},
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_DURATION,
	 .arg = "SECONDS",
	 .help = "with --what growth: watch for so long (not given: 5s); with --attach: show what was sampled in that "
		 "time, and detach",
	 .offset = offsetof(struct heap_options, duration_ns)},
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_CHOICE,
	 .arg = "FORMAT",
	 .choices = heap_format_choices,
	 .help = "table, html, svg, folded, pprof or json; by the name of -o, else a table",
	 .offset = offsetof(struct heap_options, format)},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "where to write; '-' is stdout; NAME.heap: the profiles themselves as they are now, for --diff",
	 .offset = offsetof(struct heap_options, output)},
	{.name = "rank",
	 .type = OPTION_TEXT,
	 .arg = "R",
	 .help = "only this rank and its workers",
	 .offset = offsetof(struct heap_options, rank)},
	{.name = "by",
	 .type = OPTION_CHOICE,
	 .arg = "WHAT",
	 .choices = heap_by_choices,
	 .help = "first level of a picture: the job as one, or apart by rank or process",
	 .offset = offsetof(struct heap_options, by)},
	{.name = "diff",
	 .type = OPTION_TEXT,
	 .arg = "BEFORE|RANK",
	 .help = "what is more or less than in another file, job or process, or than in another rank",
	 .offset = offsetof(struct heap_options, against)},
	{.name = "limit",
	 .letter = 'n',
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "so many stacks of a table or of json; 0: all (30 on a terminal, else all)",
	 .offset = offsetof(struct heap_options, limit)},
	{.name = "frames",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "below each line of the table the innermost N frames",
	 .offset = offsetof(struct heap_options, frames)},
	{.name = "functions",
	 .type = OPTION_FLAG,
	 .help = "pictures: one frame a function, whatever its line",
	 .offset = offsetof(struct heap_options, functions)},
	{.name = "attempt",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "of attempt N, counted from 0, instead of the newest",
	 .offset = offsetof(struct heap_options, attempt)},
	{.name = "warn",
	 .type = OPTION_FLAG,
	 .help = "the copies that were made when memory got short",
	 .offset = offsetof(struct heap_options, warn)},
	HEAP_SWITCH_OPTIONS(struct heap_options),
	OPTION_STATE(heap_options),
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "the same as --format json",
	 .offset = offsetof(struct heap_options, json)},
	OPTION_END,
};

struct showing {
	const struct heap_options *o;
	struct heap_source from;
	struct heap_name before; /* what it is compared with */
};

static void showing_done(struct showing *s)
{
	heap_source_done(&s->from);
}

static int rank_parse(const char *text, int32_t *ret, struct fault *f)
{
	int64_t v;
	if (span_i64(span_of(text), &v) < 0 || v < 0 || v > INT32_MAX)
		return fault_set(f, -EINVAL, "'%s' is no rank; expected a number from 0 on", text);
	*ret = (int32_t)v;
	return 0;
}

/* HEAPREAD_NONE: the set has no process of that rank. */
static int rank_check(const struct showing *s, int32_t rank, struct fault *f)
{
	size_t n;
	int32_t highest = NO_RANK;
	const struct heapset_process *p = heapset_processes(s->from.set, &n);
	for (size_t i = 0; i < n; i++) {
		if (p[i].rank == rank)
			return 0;
		if (p[i].rank != NO_RANK && (highest == NO_RANK || p[i].rank > highest))
			highest = p[i].rank;
	}
	if (highest == NO_RANK)
		return fault_set(f, HEAPREAD_NONE, "%s has no ranks, so none of number %d", s->from.name.title, rank);
	return fault_set(f, HEAPREAD_NONE, "%s has no profile of rank %d; the highest rank of which there is one is %d",
			 s->from.name.title, rank, highest);
}

/* Loads what --diff names: a rank of the same job, else a file, job or process, which is merged in as side 1. */
static int load_other(struct showing *s, struct heapset_want *before, struct fault *f)
{
	struct heapset *other = NULL;
	if (rank_parse(s->o->against, &before->rank, f) == 0) {
		before->has_rank = true;
		TEXT_FORMAT(s->before.title, "rank %d", before->rank);
		return rank_check(s, before->rank, f);
	}
	if (s->o->what == HEAPSET_GROWTH)
		return fault_set(f, -EINVAL,
				 "--diff %s: growth is compared between ranks only; expected the number of one",
				 s->o->against);
	f->text[0] = '\0';
	int r = heap_source_load(&s->from, s->o->against, &other, &s->before, f);
	if (r == 0)
		r = heapset_merge(s->from.set, other, 1);
	heapset_free(other);
	before->has_side = true;
	before->side = 1;
	return r;
}

/* A snapshot without a history shows only its moment; leaks and growth take a heap profile. */
static int torch_check(const struct showing *s, enum heapset_what what, struct fault *f)
{
	size_t n;
	bool history = false;
	const struct heapset_process *p = heapset_processes(s->from.set, &n);
	for (size_t i = 0; i < n; i++)
		history |= p[i].trace.valid;
	if (what == HEAPSET_LIVE ||
	    (history && (what == HEAPSET_PEAK || what == HEAPSET_TEMPORARY || what == HEAPSET_LIFETIME)))
		return 0;
	if (what == HEAPSET_LEAKS || what == HEAPSET_GROWTH)
		return fault_set(f, -EINVAL,
				 "%s is a PyTorch memory snapshot: --what %s takes a heap profile, of 'vigil run "
				 "--heap'; two snapshots are compared by --diff",
				 s->from.name.title, heapset_what_name(what));
	return fault_set(
		f, -EINVAL,
		"%s is a PyTorch memory snapshot without a history of allocations: it tells what was in use at its "
		"moment. For --what %s call torch.cuda.memory._record_memory_history() before the memory is used",
		s->from.name.title, heapset_what_name(what));
}

static enum heapset_what what_of(const struct showing *s, enum heapset_what fallback)
{
	if (s->o->what < 0)
		return fallback;
	return s->from.brief && s->o->what == HEAPSET_LEAKS ? HEAPSET_LIVE : (enum heapset_what)s->o->what;
}

static int heap_prepare(struct showing *s, struct heap_show_want *want, struct fault *f)
{
	const struct heap_options *o = s->o;
	const bool is_torch = heapset_source_of(s->from.set) == HEAPSET_TORCH;
	const bool lives = is_torch || o->warn || heap_source_runs(&s->from);
	*want = (struct heap_show_want){
		.part = {.what = what_of(s, lives ? HEAPSET_LIVE : HEAPSET_PEAK), .lines = !o->functions},
		.limit = o->limit != NOT_GIVEN				   ? o->limit
			 : isatty(STDOUT_FILENO) && !o->output && !o->json ? ROWS_ON_TERMINAL
									   : 0,
		.frames = o->frames,
		.title = s->from.name.title,
		.before_title = s->before.title,
		.remarks = s->from.notes,
	};
	int r = is_torch ? torch_check(s, want->part.what, f) : 0;
	if (r)
		return r;
	r = o->rank ? rank_parse(o->rank, &want->part.rank, f) : 0;
	want->part.has_rank = o->rank != NULL;
	if (r == 0 && o->rank)
		r = rank_check(s, want->part.rank, f);
	if (r == 0 && o->against) {
		want->compare = true;
		want->part.has_side = true;
		want->before = want->part;
		r = load_other(s, &want->before, f);
	}
	want->n_remarks = s->from.n_notes;
	return r;
}

/* Says what is wrong, and returns the exit status for it. */
static int fail(int r, const char *what, const struct fault *f)
{
	if (f->text[0])
		log_error("%s", f->text);
	else
		log_error("%s: %s", what, strerror(r < 0 ? -r : EIO));
	return r == -EINVAL ? EXIT_USAGE : heap_status(r);
}

static int change(const struct showing *s, const char *what)
{
	struct subject subject;
	struct fault f = {.text = ""};
	int r = subject_find(s->from.world, s->from.state, what, &subject, &f);
	if (r) {
		log_error("%s", f.text);
		return heap_status(r);
	}
	return heap_switch_run(s->from.world, s->from.state, &subject, &s->o->change);
}

/* Fills the source's set. Returns an exit status. */
static int profile_find(struct showing *s, const char *what)
{
	const struct heap_options *o = s->o;
	struct heap_source *from = &s->from;
	struct fault f = {.text = ""};
	if (o->change.attach) {
		int status = heap_source_sample(from, what, &o->change, &f);
		if (status && f.text[0])
			log_error("%s", f.text);
		return status;
	}
	if (o->change.rate != UINT64_MAX) {
		log_error("--rate is for --attach and --start: a profile that is shown has the rate it was made with");
		return EXIT_USAGE;
	}
	int r = o->what == HEAPSET_GROWTH ? heap_source_growth(from, what, &f)
					  : heap_source_load(from, what, &from->set, &from->name, &f);
	return r ? fail(r, what, &f) : 0;
}

static int profile_show(struct showing *s, const char *what)
{
	struct heap_show_want want;
	struct fault f = {.text = ""};
	int r = heap_prepare(s, &want, &f);
	if (r)
		return fail(r, what, &f);
	const struct heap_write_want to = {.world = s->from.world,
					   .set = s->from.set,
					   .show = &want,
					   .name = &s->from.name,
					   .output = s->o->output,
					   .format = s->o->json ? HEAP_JSON : s->o->format,
					   .json_flag = s->o->json,
					   .by = (enum heap_by)s->o->by};
	return heap_write_out(&to);
}

static int heap_run(const void *options, int argc, char **argv)
{
	const struct heap_options *o = options;
	struct world w;
	struct fault f = {.text = ""};
	cleanup(showing_done) struct showing s = {.o = o,
						  .from = {.world = &w,
							   .what = o->what,
							   .duration_ns = o->duration_ns,
							   .has_attempt = o->attempt != NOT_GIVEN,
							   .attempt = o->attempt,
							   .warn = o->warn}};
	const char *what = argc == 1 ? argv[0] : "last";
	if (argc > 1 || (argc == 0 && heap_switch_wanted(&o->change))) {
		log_error("one JOB, PID or FILE is expected, not %d; see 'vigil help heap'", argc);
		return EXIT_USAGE;
	}
	if (world_open(NULL, &w, &f) < 0 || state_dir(o->state, s.from.state, sizeof(s.from.state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (heap_switch_wanted(&o->change) && !(o->change.attach && o->duration_ns != UINT64_MAX))
		return change(&s, what);
	int status = profile_find(&s, what);
	return status ? status : profile_show(&s, what);
}

const struct command command_heap = {
	.name = "heap",
	.usage = "vigil heap [OPTIONS] [JOB|PID|last|FILE]",
	.summary = "who asked for the memory: by stack, from a heap profile",
	.about = "Shows which lines of a program asked for the memory that it holds, held at its highest moment, keeps "
		 "ever more of, or takes and gives back again and again: Python and native code, all ranks and "
		 "workers. Needs a heap profile: start the job with 'vigil run --heap'. The profile can be read while "
		 "the job runs, and after it was killed.\n"
		 "\n"
		 "JOB may also be the name of a Ray task or actor (Learner, Learner.learn) that one worker runs.\n"
		 "\n"
		 "Only some blocks are seen (one in each 512 KiB on average), each stands for others that were not: so "
		 "each number has an interval, in which the truth lies 19 times of 20. 'In memory' is what of it takes "
		 "up memory at this moment: what was asked for and never touched takes none. Below the table stands "
		 "how much of the process's memory the stacks explain.\n"
		 "\n"
		 "A process that was started without it gets the sampler by --attach: it then sees what is asked for "
		 "from that moment on. Where nothing can be loaded (a static program, musl, a container's filter), "
		 "--what growth shows where memory grows by page faults: the process is not changed and not stopped, "
		 "what is given back is not seen, and it takes the right to watch (CAP_PERFMON, or the same user and "
		 "kernel.perf_event_paranoid of at most 2).\n"
		 "\n"
		 "FILE may also be a memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot): then it is the "
		 "device's memory, exact, with how it is broken into pieces; with a history of allocations in it also "
		 "what was there at the peak, what was brief, how long blocks lived, and when memory ran out.",
	.examples = "vigil heap last\n"
		    "vigil heap last --what leaks --frames 12\n"
		    "vigil heap train --rank 0 --diff 3\n"
		    "vigil heap last -o heap.html\n"
		    "vigil heap last --what lifetime\n"
		    "vigil heap 4711 --what temporary\n"
		    "vigil heap 4711 --what growth -d 10s\n"
		    "vigil heap 4711 --attach -d 30s\n"
		    "vigil heap now.heap --diff before.heap\n"
		    "vigil heap snapshot.pickle",
	.options = heap_options,
	.options_size = sizeof(struct heap_options),
	.defaults = &defaults,
	.run = heap_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
