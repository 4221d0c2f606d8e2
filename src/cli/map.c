#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "agent/map/map.h"
#include "base/log.h"
#include "base/private.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/state.h"

struct map_options {
	const char *jobs;
	struct option_list files;
	bool null;
	const char *delimiter;
	uint32_t per_task, max_args;
	bool shuf;
	uint32_t gpus;
	uint64_t delay;
	const char *timeout;
	uint32_t retries;
	const char *halt;
	uint64_t memory_limit;
	bool keep_order, group, ungroup, line_buffer, lb, tag, dry_run, quote, bar, eta;
	const char *results, *joblog;
	bool resume, resume_failed;
	const char *name, *state, *config;
	bool quiet, json;
};

static const struct map_options defaults = {.retries = 1};

#define MAP_ROW(N, L, T, A, F, H)                                                                                      \
	{                                                                                                              \
		.name = N, .letter = L, .type = T, .arg = A, .help = H, .offset = offsetof(struct map_options, F)      \
	}

static const struct option options[] = {
	MAP_ROW("jobs", 'j', OPTION_TEXT, "N", jobs,
		"so many tasks at a time: N, N% of the cores, +N or -N beside the cores; 0 as many as possible; not "
		"given: "
		"one a core"),
	MAP_ROW("arg-file", 'a', OPTION_LIST, "FILE", files,
		"read inputs from FILE, one a line; - is stdin; as :::: FILE"),
	MAP_ROW("null", '0', OPTION_FLAG, NULL, null,
		"inputs that are read end with a NUL, as find -print0 writes them"),
	MAP_ROW("delimiter", 'd', OPTION_TEXT, "C", delimiter,
		"inputs end with this character, or \\n, \\t, \\0, \\xHH"),
	MAP_ROW("max-replace-args", 'N', OPTION_U32, "N", per_task,
		"give each task N inputs, as {1} … {N} or all as {}"),
	MAP_ROW("max-args", 'n', OPTION_U32, "N", max_args, "the same as -N"),
	MAP_ROW("gpus-per-task", 0, OPTION_U32, "N", gpus,
		"give each task N GPUs of its own, by CUDA_VISIBLE_DEVICES; no more tasks run than these are enough "
		"for"),
	MAP_ROW("bar", 0, OPTION_FLAG, NULL, bar, "show on a terminal how far it is"),
	MAP_ROW("eta", 0, OPTION_FLAG, NULL, eta, "the same: when it will be done"),
	MAP_ROW("shuf", 0, OPTION_FLAG, NULL, shuf, "run the tasks in random order"),
	MAP_ROW("delay", 0, OPTION_DURATION, "S", delay, "wait so long between two starts"),
	MAP_ROW("timeout", 0, OPTION_TEXT, "S|P%", timeout,
		"end a task that runs longer: a time, or a share of the median of those that succeeded"),
	MAP_ROW("retries", 0, OPTION_U32, "N", retries, "run a task that fails up to N times in all"),
	MAP_ROW("halt", 0, OPTION_TEXT, "WHEN", halt,
		"end early: soon or now, then fail, success or done with a number or a share, as now,fail=1 or "
		"soon,fail=20%"),
	MAP_ROW("memory-limit", 0, OPTION_SIZE, "SIZE", memory_limit,
		"what all tasks together may hold; not given: what the machine or container has"),
	MAP_ROW("keep-order", 'k', OPTION_FLAG, NULL, keep_order, "pass output on in the order of the inputs"),
	MAP_ROW("group", 0, OPTION_FLAG, NULL, group,
		"pass a task's output on when it has ended; this is so if nothing is said"),
	MAP_ROW("line-buffer", 0, OPTION_FLAG, NULL, line_buffer, "pass output on line by line"),
	MAP_ROW("lb", 0, OPTION_FLAG, NULL, lb, "the same as --line-buffer"),
	MAP_ROW("ungroup", 'u', OPTION_FLAG, NULL, ungroup, "let tasks write to vigil's own channels"),
	MAP_ROW("tag", 0, OPTION_FLAG, NULL, tag, "begin each line of output with the task's inputs"),
	MAP_ROW("results", 0, OPTION_TEXT, "DIR", results,
		"keep what each task writes in DIR/1/INPUT/…/stdout and stderr"),
	MAP_ROW("joblog", 0, OPTION_TEXT, "FILE", joblog, "note each task that has ended in FILE"),
	MAP_ROW("resume", 0, OPTION_FLAG, NULL, resume, "leave out the tasks that the joblog names"),
	MAP_ROW("resume-failed", 0, OPTION_FLAG, NULL, resume_failed,
		"leave out the tasks that succeeded by the joblog"),
	MAP_ROW("dry-run", 0, OPTION_FLAG, NULL, dry_run, "print the commands instead of running them"),
	MAP_ROW("quote", 'q', OPTION_FLAG, NULL, quote,
		"for GNU parallel's sake: words are never read by a shell here"),
	MAP_ROW("name", 0, OPTION_TEXT, "N", name, "what to call the job"),
	MAP_ROW("state", 0, OPTION_TEXT, "DIR", state, "where jobs, logs and reports are kept"),
	MAP_ROW("quiet", 0, OPTION_FLAG, NULL, quiet, "say only what went wrong"),
	OPTION_END,
};

/* ---- options that are more than one number ---- */

static uint32_t cores(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)MAX(CPU_COUNT(&set), 1) : 1;
}

static int jobs_of(const char *text, uint32_t *ret)
{
	uint64_t n = 0;
	bool more = text && text[0] == '+', less = text && text[0] == '-';
	struct span s = span_of(text ? text : "100%");
	bool share = s.len > 1 && s.p[s.len - 1] == '%';
	if (more || less)
		s = (struct span){s.p + 1, s.len - 1};
	if (share)
		s.len--;
	if (span_u64(s, &n) < 0 || n > 1000000) {
		log_error("--jobs '%s': expected a number of tasks such as 4, a share of the cores such as 50%%, or +N "
			  "or "
			  "-N beside the cores",
			  text);
		return -EINVAL;
	}
	uint64_t by = share ? (n * cores() + 99) / 100 : n;
	if (more)
		by = cores() + by;
	else if (less)
		by = sub_floor(cores(), by);
	else if (!share && n == 0)
		by = MAP_SLOTS;
	*ret = (uint32_t)MIN(MAX(by, 1), MAP_SLOTS);
	return 0;
}

static int delimiter_of(const struct map_options *o, struct map_spec *spec)
{
	static const char names[] = "n\nt\tr\rf\fv\va\ab\b\\\\0\0";
	const char *d = o->delimiter;
	spec->delimiter = o->null ? '\0' : '\n';
	if (!d)
		return 0;
	spec->split_items = true;
	spec->delimiter = d[0];
	if (d[0] && !d[1])
		return 0;
	if (d[0] == '\\' && d[1] && !d[2])
		for (size_t i = 0; i + 1 < sizeof(names); i += 2)
			if (names[i] == d[1]) {
				spec->delimiter = names[i + 1];
				return 0;
			}
	unsigned v;
	char after;
	if (d[0] == '\\' && d[1] == 'x' && strlen(d) <= 4 && sscanf(d + 2, "%2x%c", &v, &after) == 1) {
		spec->delimiter = (char)v;
		return 0;
	}
	log_error("--delimiter '%s': expected one character, or \\n, \\t, \\0 or \\xHH", d);
	return -EINVAL;
}

static int timeout_of(const char *text, struct map_spec *spec)
{
	struct fault f = {.text = ""};
	size_t len = text ? strlen(text) : 0;
	int r = 0;
	if (len > 0 && text[len - 1] == '%') {
		uint64_t percent;
		r = span_u64((struct span){text, len - 1}, &percent);
		if (r < 0 || percent == 0 || percent > 1000000)
			r = fault_set(&f, -EINVAL,
				      "'%s': expected a time such as 90 or 5m, or a share of the median such "
				      "as 200%%",
				      text);
		else
			spec->timeout_ratio = (double)percent / 100;
	} else if (text) {
		r = duration_parse(text, &spec->timeout_ns, &f);
	}
	if (r < 0)
		log_error("--timeout %s", f.text);
	return r;
}

/* ---- what follows the command ---- */

static int source_add(struct map_spec *spec, const struct map_source *s)
{
	if (spec->n_sources == MAP_SOURCES) {
		log_error("more than %d sources of inputs", MAP_SOURCES);
		return -E2BIG;
	}
	spec->source[spec->n_sources++] = *s;
	return 0;
}

static bool is_separator(const char *word)
{
	return strcmp(word, ":::") == 0 || strcmp(word, "::::") == 0;
}

static int map_sources_add(struct map_spec *spec, bool files, char **argv, size_t n)
{
	if (!files)
		return source_add(spec, &(struct map_source){.item = argv, .n = n});
	if (n == 0) {
		log_error("no file after ::::");
		return -EINVAL;
	}
	for (size_t i = 0; i < n; i++)
		if (source_add(spec, &(struct map_source){.path = argv[i]}) < 0)
			return -EINVAL;
	return 0;
}

/* Takes the words apart: the command, then what follows each ::: or ::::. */
static int sources_of(const struct map_options *o, int argc, char **argv, struct map_spec *spec, size_t *ret_words)
{
	int r = 0, at = 0;
	for (size_t i = 0; i < o->files.n && r == 0; i++)
		r = source_add(spec, &(struct map_source){.path = o->files.item[i]});
	while (at < argc && !is_separator(argv[at])) {
		if (strcmp(argv[at], ":::+") == 0 || strcmp(argv[at], "::::+") == 0) {
			log_error("%s: sources that go side by side are not supported; join them into one file and use "
				  "-N",
				  argv[at]);
			return -EINVAL;
		}
		at++;
	}
	*ret_words = (size_t)at;
	while (at < argc && r == 0) {
		int from = at + 1, to = from;
		while (to < argc && !is_separator(argv[to]))
			to++;
		r = map_sources_add(spec, strcmp(argv[at], "::::") == 0, argv + from, (size_t)(to - from));
		at = to;
	}
	if (r == 0 && spec->n_sources == 0)
		r = source_add(spec, &(struct map_source){.path = "-"});
	return r;
}

static int options_conflict(const struct map_options *o, size_t n_words)
{
	const bool lines = o->line_buffer || o->lb;
	const char *why = n_words == 0 ? "no command to run; for example: vigil map gzip {} ::: *.txt"
			  : (o->resume || o->resume_failed) && !o->joblog
				  ? "--resume reads what was run from a joblog; add --joblog FILE"
			  : o->retries == 0 ? "--retries 0: a task is run at least once; expected 1 or more"
			  : lines + o->ungroup + o->group > 1
				  ? "--group, --line-buffer and --ungroup exclude each other; give one"
			  : o->keep_order && (lines || o->ungroup)
				  ? "--keep-order needs a task's whole output; leave out --line-buffer and --ungroup"
			  : o->tag && o->ungroup
				  ? "--tag changes lines, and with --ungroup vigil sees none; use --line-buffer"
			  : o->results && (lines || o->ungroup)
				  ? "--results keeps what is grouped; leave out --line-buffer and --ungroup"
				  : NULL;
	if (why)
		log_error("%s", why);
	return why ? -EINVAL : 0;
}

static int spec_of(const struct map_options *o, int argc, char **argv, struct map_spec *spec, size_t *n_words)
{
	struct fault f = {.text = ""};
	*spec = (struct map_spec){.per_task = o->per_task ? o->per_task : o->max_args,
				  .shuffle = o->shuf,
				  .gpus_per_task = o->gpus,
				  .delay_ns = o->delay,
				  .tries = o->retries,
				  .memory_limit_bytes = o->memory_limit ? o->memory_limit : UINT64_MAX,
				  .output = o->line_buffer || o->lb ? MAP_LINES
					    : o->ungroup	    ? MAP_UNGROUP
								    : MAP_GROUP,
				  .keep_order = o->keep_order,
				  .tag = o->tag,
				  .dry_run = o->dry_run,
				  .bar = o->bar,
				  .eta = o->eta,
				  .results = o->results,
				  .joblog = o->joblog,
				  .resume = o->resume,
				  .resume_failed = o->resume_failed,
				  .words = argv,
				  .name = o->name,
				  .quiet = o->quiet,
				  .json = o->json};
	if (sources_of(o, argc, argv, spec, n_words) < 0 || options_conflict(o, *n_words) < 0 ||
	    jobs_of(o->jobs, &spec->slots) < 0 || delimiter_of(o, spec) < 0 || timeout_of(o->timeout, spec) < 0)
		return -EINVAL;
	if (o->halt && halt_parse(o->halt, &spec->halt, &f) < 0) {
		log_error("--halt %s", f.text);
		return -EINVAL;
	}
	return 0;
}

static int map_command(const void *opts, int argc, char **argv)
{
	const struct map_options *o = opts;
	struct map_spec spec;
	struct fault f = {.text = ""};
	struct world w;
	char state[256];
	size_t n_words;
	if (spec_of(o, argc, argv, &spec, &n_words) < 0)
		return 125;
	cleanup(template_freep) struct template *template = NULL;
	if (template_new(argv, n_words, &template, &f) < 0 || state_dir(o->state, state, sizeof(state), &f) < 0 ||
	    world_open(NULL, &w, &f) < 0) {
		log_error("%s", f.text);
		return 125;
	}
	spec.template = template;
	spec.state_dir = state;
	private_umask();
	leftover_clear(&w, state);
	return map_run(&spec, &w);
}

const struct command command_map = {
	.name = "map",
	.usage = "vigil map [OPTIONS] COMMAND [::: A…|:::: F…]",
	.summary = "run a bag of tasks, as wide as cores and memory allow",
	.about = "Runs COMMAND once for each input. Inputs follow :::, stand in files after ::::, or come from stdin; "
		 "of "
		 "several sources every combination is run. {} is replaced by the input, {.} by it without extension, "
		 "{/} by "
		 "its name, {//} by its folder, {/.} by its name without extension, {1} {2.} … by the parts of the Nth "
		 "input, "
		 "{#} by the number of the task and {%} by the place it runs in. Without any of these the input "
		 "becomes the "
		 "last word.\n\n"
		 "There is no shell: a word of COMMAND is an argument. In the script of sh -c '…' inputs are quoted "
		 "for the "
		 "shell, bare or between quotes of the script. Options are spelled as those of GNU parallel, and so "
		 "are the columns of "
		 "--joblog.",
	.statuses =
		"0 if all tasks succeeded, else the number of those that failed, 101 if they are more than 100; with "
		"--halt "
		"that of the task that made the end; 128+N after signal N to vigil; 137 if a task was ended for memory "
		"for "
		"good; 125 if vigil was called wrongly or failed; 126 if COMMAND cannot be executed; 127 if it was not "
		"found.",
	.examples = "vigil map gzip {} ::: *.txt\n"
		    "find . -name '*.wav' -print0 | vigil map -0 --joblog done.log --resume sox {} {.}.flac\n"
		    "vigil map -j4 --retries 3 python train.py --seed {1} --lr {2} ::: 1 2 3 ::: 0.1 0.01\n",
	.options = options,
	.options_size = sizeof(struct map_options),
	.defaults = &defaults,
	.run = map_command,
	.stop_at_first_word = true,
	.usage_status = 125,
};
