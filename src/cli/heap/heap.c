#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/heap/heapload.h"
#include "agent/host/world_open.h"
#include "agent/jobs/profilenote.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/heap/heap_growth.h"
#include "cli/heap/heap_switch.h"
#include "cli/heap/heap_write.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/options/subject.h"
#include "tell/heap/heap_show.h"

/* Time limit for reading which pages of live blocks are in memory: enough for some ten thousand blocks. */
#define RESIDENT_NS (300 * NS_PER_MS)
#define ROWS_ON_TERMINAL 30
#define NOTES 8

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
	struct world *w;
	char state[256];
	struct heapset *set;
	struct heap_name name, before; /* before: what it is compared with */
	char notes[NOTES][300];
	size_t n_notes;
	bool brief; /* the profile was made now, in a time that is too short for leaks */
};

static void showing_done(struct showing *s)
{
	s->set = heapset_free(s->set);
}

static int rank_parse(const char *text, int32_t *ret, struct fault *f)
{
	int64_t v;
	if (span_i64(span_of(text), &v) < 0 || v < 0 || v > INT32_MAX)
		return fault_set(f, -EINVAL, "'%s' is no rank; expected a number from 0 on", text);
	*ret = (int32_t)v;
	return 0;
}

static int heap_status(int r)
{
	switch (r) {
	case 0:
		return 0;
	case SUBJECT_NONE:
	case HEAPREAD_NONE:
	case -ENOENT:
	case WORLD_GONE:
		return EXIT_ABSENT;
	case -EACCES:
	case -EPERM:
	case WORLD_DENIED:
		return EXIT_DENIED;
	default:
		return EXIT_PROBLEM;
	}
}

static void notes_copy(struct showing *s, const struct heapload_loaded *l)
{
	for (size_t i = 0; i < l->n_remarks && s->n_notes < NOTES; i++)
		TEXT_COPY(s->notes[s->n_notes++], l->remarks[i]);
}

static int duration_check(uint64_t ns, struct fault *f)
{
	if (ns != UINT64_MAX && (ns < GROWTH_SHORTEST_NS || ns > GROWTH_LONGEST_NS))
		return fault_set(f, -EINVAL, "--duration: expected 0.1 seconds to 24 hours");
	return 0;
}

/* Without a profile: records the page faults of a running job or process from now on. */
static int watch(struct showing *s, const char *what, struct fault *f)
{
	struct stat st;
	struct subject subject;
	if (s->o->warn || s->o->attempt != NOT_GIVEN)
		return fault_set(f, -EINVAL,
				 "--what growth watches what runs: --warn and --attempt are about the past");
	if (duration_check(s->o->duration_ns, f) < 0)
		return -EINVAL;
	const uint64_t began_ns = clock_mono_ns();
	const uint64_t usual_ns = 5 * NS_PER_S, asked_ns = s->o->duration_ns;
	int r = subject_find(s->w, s->state, what, &subject, f);
	if (r && stat(what, &st) == 0)
		return fault_set(f, -EINVAL, "%s is a file: --what growth takes a JOB or PID that runs", what);
	if (r)
		return r;
	TEXT_COPY(s->name.title, subject.text);
	TEXT_COPY(s->name.key, subject.key);
	r = heap_growth_load(s->w, &subject, asked_ns == UINT64_MAX ? usual_ns : asked_ns, &s->set, s->notes[0], f);
	s->n_notes = r == 0 && s->notes[0][0];
	if (r == 0 && subject.is_job)
		profilenote_keep(s->state, subject.job.id, PROFILENOTE_GROWTH, clock_mono_ns() - began_ns);
	return r;
}

/* what: number of a process that was attached to and has ended. f is changed only if there is a profile. */
static int load_dead(struct showing *s, const char *what, const struct heapload_want *want, struct heapload_loaded *ret,
		     struct heap_name *name, struct fault *f)
{
	uint64_t pid;
	if (span_u64(span_of(what), &pid) < 0 || pid == 0 || pid > INT32_MAX)
		return HEAPREAD_NONE;
	int r = heapload_dead(s->w, (pid_t)pid, want, ret, f);
	TEXT_FORMAT(name->title, "process %s", what);
	TEXT_FORMAT(name->key, "pid-%s", what);
	return r;
}

/* what: a file, a folder, a job or a process. *ret is the caller's. */
static int heap_load(struct showing *s, const char *what, struct heapset **ret, struct heap_name *name, struct fault *f)
{
	struct stat st;
	struct subject subject;
	const struct heapload_want want = {
		.state = s->state,
		.resident_ns = RESIDENT_NS,
		.has_attempt = s->o->attempt != NOT_GIVEN,
		.attempt = s->o->attempt,
		.warn = s->o->warn,
	};
	struct heapload_loaded loaded = {.set = NULL};
	struct fault none = {.text = ""};
	int r;
	/* a job goes before a file of the same name; "./NAME" means the file */
	bool named = !strchr(what, '/') && subject_find(s->w, s->state, what, &subject, &none) == 0;
	if (!named && stat(what, &st) == 0) {
		r = heapload_path(s->w, what, &want, &loaded, f);
		TEXT_COPY(name->title, what);
		TEXT_COPY(name->key, "file");
	} else {
		r = named ? 0 : subject_find(s->w, s->state, what, &subject, f);
		if (r == SUBJECT_NONE && load_dead(s, what, &want, &loaded, name, f) == 0) {
			notes_copy(s, &loaded);
			*ret = loaded.set;
			return 0;
		}
		if (r)
			return r;
		r = subject.is_job ? heapload_job(s->w, &subject.job, &want, &loaded, f)
				   : heapload_pid(s->w, subject.pid, &want, &loaded, f);
		TEXT_COPY(name->title, subject.text);
		TEXT_COPY(name->key, subject.key);
	}
	if (r)
		return r;
	notes_copy(s, &loaded);
	*ret = loaded.set;
	return 0;
}

/* HEAPREAD_NONE: the set has no process of that rank. */
static int rank_check(const struct showing *s, int32_t rank, struct fault *f)
{
	size_t n;
	int32_t highest = NO_RANK;
	const struct heapset_process *p = heapset_processes(s->set, &n);
	for (size_t i = 0; i < n; i++) {
		if (p[i].rank == rank)
			return 0;
		if (p[i].rank != NO_RANK && (highest == NO_RANK || p[i].rank > highest))
			highest = p[i].rank;
	}
	if (highest == NO_RANK)
		return fault_set(f, HEAPREAD_NONE, "%s has no ranks, so none of number %d", s->name.title, rank);
	return fault_set(f, HEAPREAD_NONE, "%s has no profile of rank %d; the highest rank of which there is one is %d",
			 s->name.title, rank, highest);
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
	int r = heap_load(s, s->o->against, &other, &s->before, f);
	if (r == 0)
		r = heapset_merge(s->set, other, 1);
	heapset_free(other);
	before->has_side = true;
	before->side = 1;
	return r;
}

static bool any_runs(const struct heapset *h)
{
	size_t n;
	const struct heapset_process *p = heapset_processes(h, &n);
	for (size_t i = 0; i < n; i++)
		if (p[i].life == HEAPSET_RUNNING || p[i].life == HEAPSET_SAVED)
			return true;
	return false;
}

/* A snapshot without a history shows only its moment; leaks and growth take a heap profile. */
static int torch_check(const struct showing *s, enum heapset_what what, struct fault *f)
{
	size_t n;
	bool history = false;
	const struct heapset_process *p = heapset_processes(s->set, &n);
	for (size_t i = 0; i < n; i++)
		history |= p[i].trace.valid;
	if (what == HEAPSET_LIVE ||
	    (history && (what == HEAPSET_PEAK || what == HEAPSET_TEMPORARY || what == HEAPSET_LIFETIME)))
		return 0;
	if (what == HEAPSET_LEAKS || what == HEAPSET_GROWTH)
		return fault_set(f, -EINVAL,
				 "%s is a PyTorch memory snapshot: --what %s takes a heap profile, of 'vigil run "
				 "--heap'; two snapshots are compared by --diff",
				 s->name.title, heapset_what_name(what));
	return fault_set(
		f, -EINVAL,
		"%s is a PyTorch memory snapshot without a history of allocations: it tells what was in use at its "
		"moment. For --what %s call torch.cuda.memory._record_memory_history() before the memory is used",
		s->name.title, heapset_what_name(what));
}

static enum heapset_what what_of(const struct showing *s, enum heapset_what fallback)
{
	if (s->o->what < 0)
		return fallback;
	return s->brief && s->o->what == HEAPSET_LEAKS ? HEAPSET_LIVE : (enum heapset_what)s->o->what;
}

static int heap_prepare(struct showing *s, struct heap_show_want *want, struct fault *f)
{
	const struct heap_options *o = s->o;
	enum heapset_what fallback =
		any_runs(s->set) || heapset_source_of(s->set) == HEAPSET_TORCH || o->warn ? HEAPSET_LIVE : HEAPSET_PEAK;
	*want = (struct heap_show_want){
		.part = {.what = what_of(s, fallback), .lines = !o->functions},
		.limit = o->limit != NOT_GIVEN				   ? o->limit
			 : isatty(STDOUT_FILENO) && !o->output && !o->json ? ROWS_ON_TERMINAL
									   : 0,
		.frames = o->frames,
		.title = s->name.title,
		.before_title = s->before.title,
		.remarks = s->notes,
	};
	int r = heapset_source_of(s->set) == HEAPSET_TORCH ? torch_check(s, want->part.what, f) : 0;
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
	want->n_remarks = s->n_notes;
	return r;
}

static int change(const struct showing *s, const char *what)
{
	struct subject subject;
	struct fault f = {.text = ""};
	int r = subject_find(s->w, s->state, what, &subject, &f);
	if (r) {
		log_error("%s", f.text);
		return heap_status(r);
	}
	return heap_switch_run(s->w, s->state, &subject, &s->o->change);
}

/*
 * `--attach -d TIME`: samples for this time, loads the profile, and gives the program its own calls back. Where there
 * is a sampler already (--heap), its profile is loaded at once. Returns an exit status; the fault is set where it is
 * not said yet.
 */
static int sample_briefly(struct showing *s, const char *what, struct fault *f)
{
	const uint64_t leaks_show_ns = 180 * NS_PER_S;
	struct subject subject;
	const struct heap_switch back = {.detach = true, .rate = UINT64_MAX};
	struct fault none = {.text = ""};
	if (s->o->what == HEAPSET_GROWTH)
		return fault_set(f, EXIT_USAGE, "--what growth watches without a sampler; leave --attach out");
	if (duration_check(s->o->duration_ns, f) < 0)
		return EXIT_USAGE;
	if (heap_load(s, what, &s->set, &s->name, &none) == 0 && any_runs(s->set))
		return 0;
	s->set = heapset_free(s->set);
	s->n_notes = 0;
	int r = subject_find(s->w, s->state, what, &subject, f);
	heap_stop_by_signals();
	int status = r ? heap_status(r) : heap_switch_run(s->w, s->state, &subject, &s->o->change);
	if (status) {
		if (r == 0 && subject.is_job) /* others of its processes may have got it */
			(void)heap_switch_run(s->w, s->state, &subject, &back);
		return status;
	}
	heap_wait(s->o->duration_ns, subject.pid);
	r = heap_load(s, what, &s->set, &s->name, f);
	if (kill(subject.pid, 0) == 0)
		(void)heap_switch_run(s->w, s->state, &subject, &back); /* what went wrong has been said */
	s->brief = s->o->duration_ns < leaks_show_ns;
	if (r == 0 && s->brief && s->o->what == HEAPSET_LEAKS && s->n_notes < NOTES)
		TEXT_COPY(s->notes[s->n_notes++], "what was asked for in this time and is held at its end; which of "
						  "it is a leak takes minutes to show");
	return r ? heap_status(r) : 0;
}

static int heap_run(const void *options, int argc, char **argv)
{
	struct world w;
	cleanup(showing_done) struct showing s = {.o = options, .w = &w};
	struct heap_show_want want;
	struct fault f = {.text = ""};
	const char *what = argc == 1 ? argv[0] : "last";
	if (argc > 1 || (argc == 0 && heap_switch_wanted(&s.o->change))) {
		log_error("one JOB, PID or FILE is expected, not %d; see 'vigil help heap'", argc);
		return EXIT_USAGE;
	}
	if (world_open(NULL, &w, &f) < 0 || state_dir(s.o->state, s.state, sizeof(s.state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	const bool samples = s.o->change.attach && s.o->duration_ns != UINT64_MAX;
	if (heap_switch_wanted(&s.o->change) && !samples)
		return change(&s, what);
	int status = samples ? sample_briefly(&s, what, &f) : 0;
	if (status) {
		if (f.text[0])
			log_error("%s", f.text);
		return status;
	}
	if (!samples && s.o->change.rate != UINT64_MAX) {
		log_error("--rate is for --attach and --start: a profile that is shown has the rate it was made with");
		return EXIT_USAGE;
	}
	int r = samples			      ? 0
		: s.o->what == HEAPSET_GROWTH ? watch(&s, what, &f)
					      : heap_load(&s, what, &s.set, &s.name, &f);
	if (r == 0)
		r = heap_prepare(&s, &want, &f);
	if (r) {
		if (!f.text[0])
			fault_set(&f, r, "%s: %s", what, strerror(r < 0 ? -r : EIO));
		log_error("%s", f.text);
		return r == -EINVAL ? EXIT_USAGE : heap_status(r);
	}
	const struct heap_write_want to = {.world = s.w,
					   .set = s.set,
					   .show = &want,
					   .name = &s.name,
					   .output = s.o->output,
					   .format = s.o->json ? HEAP_JSON : s.o->format,
					   .json_flag = s.o->json,
					   .by = (enum heap_by)s.o->by};
	return heap_write_out(&to);
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
