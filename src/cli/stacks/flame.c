#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/host/host.h"
#include "agent/stacks/profile.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/options/subject.h"
#include "cli/stacks/recording.h"
#include "model/stacks/plumbing.h"
#include "sense/rank.h"
#include "tell/stacks/flame.h"

struct flame_options {
	const char *state;
	uint64_t duration_ns;
	uint32_t rate;
	int format;
	int by;
	const char *output;
	const char *rank;
	const char *against;
	bool native, plumbing, idle, gil, functions, children, json;
};

static const struct flame_options defaults = {
	.duration_ns = 5 * NS_PER_S,
	.rate = 100,
	.format = -1,
	.by = LANES_ALL,
	.children = true,
};

static const char *const format_choices[] = {"svg", "html", "folded", "speedscope", "pprof", "json", NULL};
static const char *const format_suffix[] = {"svg", "html", "folded", "speedscope.json", "pb.gz", "json"};
static const char *const by_choices[] = {"job", "rank", "process", "thread", NULL};

static const struct option flame_options[] = {
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_DURATION,
	 .arg = "SECONDS",
	 .help = "how long to record",
	 .offset = offsetof(struct flame_options, duration_ns)},
	{.name = "rate",
	 .letter = 'r',
	 .type = OPTION_U32,
	 .arg = "HZ",
	 .help = "looks a second",
	 .offset = offsetof(struct flame_options, rate)},
	{.name = "native",
	 .letter = 'n',
	 .type = OPTION_FLAG,
	 .help = "native frames too, put together with Python's; pauses threads for some microseconds a look",
	 .offset = offsetof(struct flame_options, native)},
	{.name = "plumbing",
	 .type = OPTION_FLAG,
	 .help = "with --native: keep the interpreter's own frames (_start, Py_RunMain, _PyEval_EvalFrameDefault, "
		 "...), which "
		 "are left out otherwise",
	 .offset = offsetof(struct flame_options, plumbing)},
	{.name = "idle",
	 .letter = 'i',
	 .type = OPTION_FLAG,
	 .help = "also threads that wait, with what they wait for",
	 .offset = offsetof(struct flame_options, idle)},
	{.name = "gil",
	 .letter = 'g',
	 .type = OPTION_FLAG,
	 .help = "only threads that hold the GIL",
	 .offset = offsetof(struct flame_options, gil)},
	{.name = "[no-]children",
	 .type = OPTION_FLAG,
	 .help = "also the processes that it (of a job: each rank) started",
	 .offset = offsetof(struct flame_options, children)},
	{.name = "functions",
	 .type = OPTION_FLAG,
	 .help = "one frame a function, whatever its line",
	 .offset = offsetof(struct flame_options, functions)},
	{.name = "by",
	 .type = OPTION_CHOICE,
	 .arg = "WHAT",
	 .choices = by_choices,
	 .help = "first level of the picture: the job as one, or apart by rank, process or thread",
	 .offset = offsetof(struct flame_options, by)},
	{.name = "rank",
	 .type = OPTION_TEXT,
	 .arg = "R",
	 .help = "only this rank",
	 .offset = offsetof(struct flame_options, rank)},
	{.name = "against",
	 .type = OPTION_TEXT,
	 .arg = "FILE|RANK",
	 .help = "show what differs from another recording (json or folded), or from another rank",
	 .offset = offsetof(struct flame_options, against)},
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_CHOICE,
	 .arg = "FORMAT",
	 .choices = format_choices,
	 .help = "svg, html, folded, speedscope, pprof or json; by the name of -o, else svg",
	 .offset = offsetof(struct flame_options, format)},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "where to write; '-' is stdout",
	 .offset = offsetof(struct flame_options, output)},
	OPTION_STATE(flame_options),
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "the same as --format json",
	 .offset = offsetof(struct flame_options, json)},
	OPTION_END,
};

static enum flame_format format_of(const struct flame_options *o)
{
	if (o->json)
		return FLAME_JSON;
	if (o->format >= 0)
		return (enum flame_format)o->format;
	/* The longest suffix that fits: "x.speedscope.json" is no plain JSON. */
	int best = FLAME_SVG;
	size_t best_len = 0, len = o->output ? strlen(o->output) : 0;
	for (int i = 0; format_choices[i] && o->output; i++) {
		size_t n = strlen(format_suffix[i]);
		if (n > best_len && len > n && o->output[len - n - 1] == '.' &&
		    strcmp(o->output + len - n, format_suffix[i]) == 0) {
			best = i;
			best_len = n;
		}
	}
	return (enum flame_format)best;
}

static int rank_parse(const char *text, int32_t *ret, struct fault *f)
{
	int64_t v;
	if (span_i64(span_of(text), &v) < 0 || v < 0 || v > INT32_MAX)
		return fault_set(f, -EINVAL, "'%s' is no rank; expected a number from 0 on", text);
	*ret = (int32_t)v;
	return 0;
}

/* ---- what is to be shown ------------------------------------------------------------------------------------ */

/* What the options ask for: found out before anything is recorded. */
struct chosen {
	struct stack_want want;
	struct stackset *against; /* owned; NULL: nothing, or another rank of the same recording */
	bool against_rank;
	int32_t other_rank;
};

static void chosen_done(struct chosen *c)
{
	c->against = stackset_free(c->against);
}

static bool takes_all(enum flame_format format)
{
	return format == FLAME_JSON || format == FLAME_SPEEDSCOPE || format == FLAME_PPROF || format == FLAME_HTML;
}

/* Unless they are asked for, the interpreter's own frames are taken out before anything is written, in every format. */
static int plumbing_drop(const struct flame_options *o, struct stackset **s, struct fault *f)
{
	struct stackset *folded = NULL;
	if (o->plumbing)
		return 0;
	int r = plumbing_fold(*s, &folded);
	if (r)
		return fault_set(f, r, "the picture could not be made: %s", strerror(-r));
	stackset_free(*s);
	*s = folded;
	return 0;
}

static int choose_against(const struct flame_options *o, struct chosen *ret, struct fault *f)
{
	enum flame_format format = format_of(o);
	struct stat st;
	if (format == FLAME_SPEEDSCOPE || format == FLAME_PPROF)
		return fault_set(f, EXIT_USAGE, "differences are written as svg, html, folded or json, not as %s",
				 format_choices[format]);
	if (strcmp(o->against, "-") != 0 && stat(o->against, &st) != 0) {
		int error = errno;
		ret->against_rank = rank_parse(o->against, &ret->other_rank, f) == 0;
		return ret->against_rank
			       ? 0
			       : fault_set(f, error == EACCES ? EXIT_DENIED : EXIT_ABSENT,
					   "--against %s: it is no rank, and no recording can be read there: %s",
					   o->against, strerror(error));
	}
	if (recording_load(o->against, &ret->against, f))
		return EXIT_PROBLEM;
	return plumbing_drop(o, &ret->against, f) ? EXIT_PROBLEM : 0;
}

/* 0, or an exit status with the fault. */
static int choose(const struct flame_options *o, struct chosen *ret, struct fault *f)
{
	ret->want = (struct stack_want){
		.idle = o->idle, .gil = o->gil, .lanes = (enum stack_lanes)o->by, .lines = !o->functions};
	if (o->rank && rank_parse(o->rank, &ret->want.rank, f) != 0)
		return EXIT_USAGE;
	ret->want.has_rank = o->rank != NULL;
	return o->against ? choose_against(o, ret, f) : 0;
}

/* A rank that is not there has no empty picture: it is a mistake, and which ranks there are helps. */
static int rank_check(const struct stackset *s, int32_t rank, struct fault *f)
{
	size_t n;
	const struct stack_lane *lanes = stackset_lanes(s, &n);
	int32_t low = INT32_MAX, high = -1;
	for (size_t i = 0; i < n; i++) {
		if (lanes[i].rank == rank)
			return 0;
		if (lanes[i].rank == NO_RANK)
			continue;
		low = MIN(low, lanes[i].rank);
		high = MAX(high, lanes[i].rank);
	}
	if (high < 0)
		return fault_set(f, -ENOENT, "there is no rank %d: no process that was recorded has a rank", rank);
	if (low == high)
		return fault_set(f, -ENOENT, "there is no rank %d in the recording, only rank %d", rank, low);
	return fault_set(f, -ENOENT, "there is no rank %d in the recording, which has ranks from %d to %d", rank, low,
			 high);
}

static int view(const struct stackset *s, const struct stack_want *want, struct stackset **ret, struct fault *f)
{
	bool only_idle = false;
	int r = want->has_rank ? rank_check(s, want->rank, f) : 0;
	if (r)
		return r;
	r = stackset_view(s, want, ret, &only_idle);
	if (r)
		return fault_set(f, r, "the picture could not be made: %s", strerror(-r));
	if (want->gil && !stackset_meta_of(*ret)->gil_only)
		log_info("nothing was seen to hold the GIL: the picture shows what %s",
			 only_idle ? "the threads waited for" : "ran without it");
	else if (only_idle)
		log_info("nothing ran meanwhile: the picture shows what the threads waited for");
	return 0;
}

/* The other side of a difference: a file, or another rank of the same recording. */
static int other_side(const struct chosen *c, const struct stackset *s, struct stackset **ret, struct fault *f)
{
	struct stack_want other = c->want;
	if (!c->against_rank && stackset_meta_of(s)->unit != stackset_meta_of(c->against)->unit)
		return fault_set(f, -EINVAL, "one is of time and the other of bytes: their difference means nothing");
	if (c->against_rank) {
		other.rank = c->other_rank;
		other.has_rank = true;
	}
	return view(c->against_rank ? s : c->against, &other, ret, f);
}

static int write_to(const struct flame_options *o, const struct chosen *c, const struct stackset *s, FILE *to,
		    struct fault *f)
{
	enum flame_format format = format_of(o);
	cleanup(stackset_freep) struct stackset *shown = NULL;
	cleanup(stackset_freep) struct stackset *other = NULL;
	int r = 0;
	if (o->against) {
		r = view(s, &c->want, &shown, f);
		if (r == 0)
			r = other_side(c, s, &other, f);
		return r ? r : flame_diff_write(other, shown, format, to);
	}
	/* Asked for a part, or in a form that shows one picture: the part; else everything, and the reader chooses. */
	bool part = o->rank || o->gil || o->functions || !takes_all(format);
	struct stack_want want = c->want;
	want.keep_lanes = takes_all(format);
	want.note_widened = format == FLAME_FOLDED;
	if (part)
		r = view(s, &want, &shown, f);
	return r ? r : flame_write(part ? shown : s, format, to);
}

static int finish(const struct flame_options *o, const struct chosen *c, const struct stackset *s, const char *key)
{
	struct fault f = {.text = ""};
	struct recording_out out;
	enum flame_format format = format_of(o);
	int r = recording_out_open(o->output, "vigil-flame", key, format_suffix[format],
				   format == FLAME_FOLDED || o->json, &out, &f);
	if (r == 0)
		r = recording_out_end(&out, write_to(o, c, s, out.to, &f), &f);
	if (r) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (out.path[0])
		log_info("written to %s", out.path);
	return 0;
}

/* ---- recording ---------------------------------------------------------------------------------------------- */

static int record(const struct world *w, const struct flame_options *o, const struct subject *s, struct stackset **ret)
{
	const struct members_want members = subject_members(s);
	const struct recording_want want = {
		.members = &members,
		.duration_ns = o->duration_ns,
		.rate_hz = o->rate,
		.native = o->native,
		.children = o->children,
		.threads_apart = o->by == LANES_THREAD || takes_all(format_of(o)),
		.subject = s,
		.state = o->state,
	};
	struct fault f = {.text = ""};
	int r = recording_make(w, &want, ret, &f);
	if (r == 0)
		r = plumbing_drop(o, ret, &f);
	if (r == 0)
		return 0;
	log_error("%s: %s", s->text, f.text);
	return r == PROFILE_NONE ? EXIT_ABSENT : r == WORLD_DENIED ? EXIT_DENIED : EXIT_PROBLEM;
}

static int of_file(const struct flame_options *o, const struct chosen *c, const char *path)
{
	cleanup(stackset_freep) struct stackset *s = NULL;
	struct fault f = {.text = ""};
	int r = recording_load(path, &s, &f);
	if (r == 0)
		r = plumbing_drop(o, &s, &f);
	if (r) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	return finish(o, c, s, "file");
}

static int check(const struct flame_options *o)
{
	if (o->rate < 1 || o->rate > 20000) {
		log_error("--rate %u: expected 1 to 20000 looks a second", o->rate);
		return EXIT_USAGE;
	}
	if (o->duration_ns < 10 * NS_PER_MS || o->duration_ns > 24 * 3600 * NS_PER_S) {
		log_error("--duration: expected 0.01 seconds to 24 hours");
		return EXIT_USAGE;
	}
	return 0;
}

static int flame_run(const void *options, int argc, char **argv)
{
	const struct flame_options *o = options;
	cleanup(stackset_freep) struct stackset *set = NULL;
	struct world w;
	struct subject s;
	struct stat st;
	struct fault f = {.text = ""};
	cleanup(chosen_done) struct chosen c = {.against = NULL};
	char state[256];
	const char *what = argc == 1 ? argv[0] : NULL;
	if (argc > 1) {
		log_error("one JOB, PID or recording is expected, not %d; see 'vigil help flame'", argc);
		return EXIT_USAGE;
	}
	int r = check(o);
	if (r)
		return r;
	r = choose(o, &c, &f);
	if (r) {
		log_error("%s", f.text);
		return r;
	}
	if (what && stat(what, &st) == 0 && S_ISREG(st.st_mode))
		return of_file(o, &c, what);
	r = subject_open(o->state, what, &w, state, sizeof(state), &s);
	if (r)
		return r;
	r = recording_out_probe(o->output, &f);
	if (r) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	r = record(&w, o, &s, &set);
	if (r)
		return r;
	r = finish(o, &c, set, s.key);
	flame_summary(set, stderr);
	return r ? r : recording_status(set, &s);
}

const struct command command_flame = {
	.name = "flame",
	.usage = "vigil flame [OPTIONS] [JOB|PID|last|FILE]",
	.summary = "record where a job spends its time, as a flame graph",
	.about = "Looks at every thread of every process of a job many times a second and draws what was seen: the "
		 "wider a frame, "
		 "the more time was spent in it and in what it called. Nothing is changed in the job; Python frames "
		 "are read "
		 "without stopping it. Ctrl-C ends the recording early and keeps it. When nothing runs, the picture "
		 "shows what "
		 "the threads wait for.\n"
		 "\n"
		 "Without JOB it is the newest job that runs. JOB may also be the name of a Ray task or actor "
		 "(preprocess, Learner, Learner.learn): all workers of the running jobs, or else of this machine, that "
		 "are called so.\n"
		 "\n"
		 "Given a recording (json or folded) instead of a job, writes it in another form; so it does with what "
		 "'vigil heap --json' and 'vigil stack --json' print. With --against, shows what differs: red is more, "
		 "blue is less.\n"
		 "\n"
		 "After each recording stderr says how many stacks were dropped because they could not be read in one "
		 "piece, how many are shortened (shown up to a frame that stood while those further in came or went), "
		 "and "
		 "how many may be wrong at most: put together of two moments, or with a caller on the line of another "
		 "call. "
		 "These limits come from how often the threads moved while they were read, and from what programs that "
		 "know their own stack show of such stacks.",
	.examples =
		"vigil flame last\nvigil flame 4711 -d 30 --native -o flame.html\nvigil flame train --idle --by rank\n"
		"vigil flame last --rank 0 --against 3\nvigil flame before.json --against after.json -o diff.svg",
	.options = flame_options,
	.options_size = sizeof(struct flame_options),
	.defaults = &defaults,
	.run = flame_run,
	.usage_status = EXIT_USAGE,
};
