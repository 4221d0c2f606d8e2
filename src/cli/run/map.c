#include <stdio.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "agent/map/map.h"
#include "base/log.h"
#include "base/private.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/run/map_hint.h"
#include "cli/run/map_spec.h"

static const struct map_options defaults = {.retries = 1, .block = 1 * MIB, .max_chars = 100 * KIB, .recend = "\n"};

#define MAP_ROW(N, L, T, A, F, H)                                                                                      \
	{                                                                                                              \
		.name = N, .letter = L, .type = T, .arg = A, .help = H, .offset = offsetof(struct map_options, F)      \
	}
/* What has files read or written, or commands of a file run, is for a person to say. */
#define TYPED_ROW(N, L, T, A, F, H)                                                                                    \
	{                                                                                                              \
		.name = N, .letter = L, .type = T, .arg = A, .help = H, .offset = offsetof(struct map_options, F),     \
		.no_project = true                                                                                     \
	}

static const struct option options[] = {
	MAP_ROW("jobs", 'j', OPTION_TEXT, "N", jobs,
		"so many tasks at a time: N, N% of the cores, +N or -N beside the cores; 0 as many as possible; not "
		"given: one a core. Of a file, its first line says it, and is read again as tasks end"),
	MAP_ROW("max-procs", 'P', OPTION_TEXT, "N", max_procs, "the same as -j"),
	MAP_ROW("no-run-if-empty", 'r', OPTION_FLAG, NULL, no_run_if_empty, NULL),
	MAP_ROW("will-cite", 0, OPTION_FLAG, NULL, will_cite, NULL),
	TYPED_ROW("arg-file", 'a', OPTION_LIST, "FILE", files,
		"read inputs from FILE, one a line; - is stdin; as :::: FILE"),
	MAP_ROW("null", '0', OPTION_FLAG, NULL, null,
		"inputs that are read end with a NUL, as find -print0 writes them"),
	MAP_ROW("delimiter", 'd', OPTION_TEXT, "C", delimiter,
		"inputs end with this character, or \\n, \\t, \\0, \\xHH"),
	MAP_ROW("max-replace-args", 'N', OPTION_U32, "N", per_task,
		"give each task N inputs, as {1} … {N} or all as {}"),
	MAP_ROW("max-args", 'n', OPTION_U32, "N", max_args, "the same as -N"),
	MAP_ROW("link", 0, OPTION_FLAG, NULL, link,
		"sources go side by side instead of being combined, and shorter ones begin again; ::: A… :::+ B… links "
		"two, "
		"and the shorter one counts"),
	MAP_ROW("xapply", 0, OPTION_FLAG, NULL, xapply, "the same as --link"),
	MAP_ROW("colsep", 'C', OPTION_TEXT, "REGEX", colsep,
		"part each input where this matches, into {1} {2} …; for example , or \\t"),
	MAP_ROW("context-replace", 'X', OPTION_FLAG, NULL, context_replace,
		"give each task as many inputs as a command holds; a word with {} inside is repeated for each"),
	MAP_ROW("multiple", 'm', OPTION_FLAG, NULL, multiple,
		"the same, but what stands before {} in a word goes with the first input only, what follows with the "
		"last"),
	MAP_ROW("xargs", 0, OPTION_FLAG, NULL, xargs, "as -m, but the last inputs are not spread over all places"),
	MAP_ROW("max-chars", 's', OPTION_U32, "N", max_chars,
		"with -X, -m and --xargs: a command is shorter than N bytes"),
	MAP_ROW("pipe", 0, OPTION_FLAG, NULL, pipe,
		"cut stdin into blocks of whole lines, and give each task one as its stdin; with -N, of N lines"),
	MAP_ROW("block", 0, OPTION_SIZE, "SIZE", block, "with --pipe: so much at a time, if no line is longer"),
	MAP_ROW("recend", 0, OPTION_TEXT, "TEXT", recend,
		"with --pipe: what a record ends with, instead of a newline; as \\n, \\t, \\0"),
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
	TYPED_ROW("results", 0, OPTION_TEXT, "DIR", results,
		"keep what each task writes in DIR/1/INPUT/…/stdout and stderr; FILE.csv, FILE.tsv or FILE.json: a "
		"table "
		"with a row for each task instead of passing output on"),
	TYPED_ROW("joblog", 0, OPTION_TEXT, "FILE", joblog, "note each task that has ended in FILE"),
	TYPED_ROW("resume", 0, OPTION_FLAG, NULL, resume, "leave out the tasks that the joblog names"),
	TYPED_ROW("resume-failed", 0, OPTION_FLAG, NULL, resume_failed,
		"leave out the tasks that succeeded by the joblog"),
	TYPED_ROW("retry-failed", 0, OPTION_FLAG, NULL, retry_failed,
		"run the commands that failed by the joblog, and nothing else; COMMAND is not needed"),
	MAP_ROW("dry-run", 0, OPTION_FLAG, NULL, dry_run, "print the commands instead of running them"),
	MAP_ROW("quote", 'q', OPTION_FLAG, NULL, quote,
		"words are never read by a shell, and this says that they are not meant to be"),
	MAP_ROW("name", 0, OPTION_TEXT, "N", name, "what to call the job"),
	MAP_ROW("state", 0, OPTION_TEXT, "DIR", state, "where jobs, logs and reports are kept"),
	MAP_ROW("quiet", 0, OPTION_FLAG, NULL, quiet, "say only what went wrong"),
	OPTION_END,
};

static int map_command(const void *opts, int argc, char **argv)
{
	const struct map_options *o = opts;
	struct map_spec spec;
	struct fault f = {.text = ""};
	struct world w;
	char state[256];
	size_t n_words;
	if (map_spec_of(o, argc, argv, &spec, &n_words) < 0)
		return 125;
	const enum template_of of = spec.retry_failed ? TEMPLATE_OF_LINES
				    : spec.pipe	      ? TEMPLATE_OF_BLOCKS
						      : TEMPLATE_OF_INPUTS;
	cleanup(template_freep) struct template *template = NULL;
	if (template_new(spec.words, n_words, of, &template, &f) < 0 ||
	    state_dir(o->state, state, sizeof(state), &f) < 0 || world_open(NULL, &w, &f) < 0) {
		log_error("%s", f.text);
		return 125;
	}
	spec.template = template;
	if (!o->quiet)
		map_hint_terminal(&spec);
	if (!o->quote && !o->quiet && !o->retry_failed)
		map_hint_words(spec.words, n_words);
	if (spec.pipe && template_wants_total(template)) {
		log_error("{##}: the number of blocks is not known before the end of --pipe's stdin");
		return 125;
	}
	spec.state_dir = state;
	state_warn(state);
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
		 "several sources every combination is run (see --link). {} is replaced by the input, {.} by it "
		 "without extension, "
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
	.stays = true,
	.stop_at_first_word = true,
	.absent = map_absent,
	.usage_status = 125,
};
