#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/rules/rulefiles.h"
#include "agent/run/supervise.h"
#include "agent/web/webbeside.h"
#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "base/log.h"
#include "base/private.h"
#include "cli/config/config_notify.h"
#include "cli/options/commands.h"
#include "cli/options/guard_options.h"
#include "cli/options/hang_options.h"
#include "cli/options/state.h"
#include "cli/run/run_threads.h"

struct run_options {
	struct guard_options guard;
	uint32_t nproc;
	uint32_t retries;
	struct option_list retry_on;
	uint64_t backoff;
	uint64_t summary_every;
	uint64_t keep_output, keep_output_all;
	bool calls;
	bool dashboard;
	bool heap, heap_dormant, heap_objects;
	bool collectives;
	const char *threads;
	uint64_t heap_rate;
	const char *rules;
	struct hang_options hang;
};

/* The indices are enum victim_policy. */
const char *const policy_choices[] = {"group", "newest", "largest", "fastest", NULL};

/* One less than the number of attempts that agent/run/supervise keeps count of. */
#define RETRIES_MAX 255u

static const struct run_options defaults = {
	.guard = GUARD_DEFAULTS,
	.nproc = UINT32_MAX, /* not given: one process, no rank */
	.retry_on = {.item = {"memory"}, .n = 1},
	.backoff = 1 * NS_PER_S,
	.summary_every = 60 * NS_PER_S,
	.heap_rate = UINT64_MAX, /* not given */
	.keep_output = 256 * MIB,
	.keep_output_all = UINT64_MAX, /* not given */
	.hang = HANG_DEFAULTS,
};

static const struct option options[] = {
	GUARD_OPTIONS(struct run_options),
	{.name = "nproc",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "start N ranks on this node, with torchrun's variables",
	 .offset = offsetof(struct run_options, nproc)},
	{.name = "retries",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "start the job again at most N times",
	 .offset = offsetof(struct run_options, retries)},
	{.name = "retry-on",
	 .type = OPTION_LIST,
	 .arg = "KIND,…",
	 .help = "after which deaths: memory, crash, hang, any",
	 .offset = offsetof(struct run_options, retry_on)},
	{.name = "backoff",
	 .type = OPTION_DURATION,
	 .arg = "S",
	 .help = "wait before the first retry; doubles up to a minute",
	 .offset = offsetof(struct run_options, backoff)},
	{.name = "summary-every",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "how often kills are summed up; 0 never",
	 .offset = offsetof(struct run_options, summary_every)},
	{.name = "keep-output",
	 .type = OPTION_SIZE,
	 .arg = "SIZE",
	 .help = "keep at most this much of the output: its beginning and its end; 0 keeps all",
	 .offset = offsetof(struct run_options, keep_output)},
	{.name = "keep-output-all",
	 .type = OPTION_SIZE,
	 .arg = "SIZE",
	 .help = "keep at most this much output of all jobs, the newest; 0 keeps all; not given: 4G, or a tenth of the "
		 "disk where that is less",
	 .offset = offsetof(struct run_options, keep_output_all)},
	{.name = "calls",
	 .type = OPTION_FLAG,
	 .help = "count calls with cProfile in each Python process; see vigil calls",
	 .offset = offsetof(struct run_options, calls)},
	{.name = "heap",
	 .type = OPTION_FLAG,
	 .help = "sample who allocates memory, in each process; see vigil heap",
	 .offset = offsetof(struct run_options, heap)},
	{.name = "heap-rate",
	 .type = OPTION_SIZE,
	 .arg = "SIZE",
	 .help = "one sample for each SIZE of memory that is asked for",
	 .offset = offsetof(struct run_options, heap_rate)},
	{.name = "heap-objects",
	 .type = OPTION_FLAG,
	 .help = "with --heap: count Python's objects, not the arenas they lie in",
	 .offset = offsetof(struct run_options, heap_objects)},
	{.name = "heap-dormant",
	 .type = OPTION_FLAG,
	 .help = "be ready to sample memory, but begin when vigil heap JOB --start says so",
	 .offset = offsetof(struct run_options, heap_dormant)},
	{.name = "collectives",
	 .type = OPTION_FLAG,
	 .help = "have NCCL load vigil's plugin, which records its calls; see vigil collectives",
	 .offset = offsetof(struct run_options, collectives)},
	{.name = "threads",
	 .type = OPTION_TEXT,
	 .arg = "auto|N|keep",
	 .help = "threads that numeric libraries start in each rank (OMP_NUM_THREADS and others): auto fits ranks "
		 "times "
		 "threads to the physical cores of the cpuset and quota; what the environment has set stays",
	 .offset = offsetof(struct run_options, threads)},
	{.name = "dashboard",
	 .type = OPTION_FLAG,
	 .help = "serve the page for as long as the job runs, and print its address; see vigil dashboard",
	 .offset = offsetof(struct run_options, dashboard)},
	{.name = "rules",
	 .type = OPTION_TEXT,
	 .arg = "FILE,…",
	 .help = "rules of your own that name causes; see vigil rules",
	 .offset = offsetof(struct run_options, rules)},
	HANG_OPTIONS(struct run_options, on_hang_choices, ON_HANG_HELP, NULL),
	OPTION_END,
};

static int retry_kinds(const struct option_list *l, struct retry_settings *ret)
{
	for (size_t i = 0; i < l->n; i++) {
		bool *kind = strcmp(l->item[i], "memory") == 0	? &ret->on_memory
			     : strcmp(l->item[i], "crash") == 0 ? &ret->on_crash
			     : strcmp(l->item[i], "hang") == 0	? &ret->on_hang
			     : strcmp(l->item[i], "any") == 0	? &ret->on_any
								: NULL;
		if (!kind) {
			log_error("--retry-on '%s' is not a kind of death; use memory, crash, hang or any", l->item[i]);
			return -EINVAL;
		}
		*kind = true;
	}
	return 0;
}

/* Checks options that contradict each other, and logs the first error. */
static int options_check(const struct run_options *o, int argc)
{
	if (argc == 0) {
		log_error("no command to run; for example: vigil run -- python train.py");
		return -EINVAL;
	}
	if (o->guard.memory_limit && o->guard.memory_limit < MIB) {
		log_error("--memory-limit %" PRIu64
			  " bytes: no program fits into that; expected at least 1M, as in --memory-limit 4G",
			  o->guard.memory_limit);
		return -EINVAL;
	}
	if (o->guard.memory_limit && o->guard.memory_threshold == 0)
		log_warning("--memory-limit is not kept: --memory-threshold 0 switches the guard off");
	if (o->retries > RETRIES_MAX) {
		log_error("--retries %u: at most %u are kept count of", o->retries, RETRIES_MAX);
		return -EINVAL;
	}
	if (!o->heap && !o->heap_dormant && (o->heap_objects || o->heap_rate != UINT64_MAX)) {
		log_error(
			"--heap-objects and --heap-rate say how memory is sampled, and nothing samples it: add --heap");
		return -EINVAL;
	}
	if (o->keep_output > 0 && o->keep_output < MIB) {
		log_error("--keep-output %" PRIu64 " bytes: at least 1M is kept, or with 0 everything", o->keep_output);
		return -EINVAL;
	}
	if (o->nproc == 0) {
		log_error("--nproc 0: at least one rank is needed; leave the option out to run COMMAND as it is");
		return -EINVAL;
	}
	return 0;
}

/* RAY_memory_monitor_refresh_ms=0 switches Ray's memory monitor off, and so the guard. */
static bool ray_switches_off(void)
{
	const char *refresh = getenv("RAY_memory_monitor_refresh_ms");
	uint64_t refresh_ms;
	if (!refresh)
		return false;
	if (span_u64(span_of(refresh), &refresh_ms) < 0) {
		log_warning("RAY_memory_monitor_refresh_ms=%s is no number of milliseconds: it is passed over, the "
			    "guard is on (0 switches it off)",
			    refresh);
		return false;
	}
	if (refresh_ms == 0)
		log_warning("RAY_memory_monitor_refresh_ms=0 switches the guard off, as it does Ray's own monitor: "
			    "memory may "
			    "run out unguarded; set it for Ray alone (vigil run -- env RAY_memory_monitor_refresh_ms=0 "
			    "COMMAND) to have vigil act in its place");
	return refresh_ms == 0;
}

/* Reads the rules before the job starts: otherwise a mistake in them would show only after the job has died. */
static int rules_check(const struct run_options *o, const struct world *w)
{
	struct fault f = {0};
	if (!o->rules && rulefiles_there(w, &f) < 0)
		log_warning("%s; without them causes that stand in logs are not named", f.text);
	if (o->rules && rulefiles_try(w, o->rules, &f) < 0) {
		log_error("%s; nothing was started ('vigil rules check FILE' tells the same)", f.text);
		return -EINVAL;
	}
	return 0;
}

/* A page that cannot be served is no reason not to run the job. False: it is not. */
static bool dashboard_start(const struct world *w, const char *state, const char *given)
{
	int r = private_state(state);
	if (r == 0)
		r = webbeside_start(w, given);
	if (r < 0)
		log_warning("the page cannot be served: %s", strerror(-r));
	return r >= 0;
}

static int run(const void *opts, int argc, char **argv)
{
	const struct run_options *o = opts;
	struct hang_settings hang;
	struct run_spec spec = {
		.watch = watch_spec_of(&o->guard, &o->hang, o->rules, &hang),
		.argv = argv,
		.nproc = o->nproc == UINT32_MAX ? 0 : o->nproc,
		.retry = {.max = o->retries, .backoff_ns = o->backoff},
		.calls = o->calls,
		.heap = o->heap || o->heap_dormant,
		.heap_rate_bytes = !o->heap			? 0
				   : o->heap_rate == UINT64_MAX ? 512 * KIB
								: o->heap_rate,
		.heap_objects = o->heap_objects,
		.collectives = o->collectives,
		.keep_bytes = o->keep_output,
		.keep_all_bytes = o->keep_output_all,
		.summary_ns = o->summary_every,
	};
	struct fault f = {0};
	struct world w;
	char state[256];
	if (options_check(o, argc) < 0 || run_threads_check(o->threads) < 0 ||
	    retry_kinds(&o->retry_on, &spec.retry) < 0)
		return 125;
	if (o->hang.on_hang == ON_HANG_RESTART && o->retries == 0) {
		log_error("--on-hang restart starts the job again as often as --retries N allows, and N is 0; add "
			  "--retries 1 or more");
		return 125;
	}
	if (ray_switches_off())
		spec.watch.guard.threshold_ratio = 0;
	if (state_dir(o->guard.state, state, sizeof(state), &f) < 0 || world_open(NULL, &w, &f) < 0) {
		log_error("%s", f.text);
		return 125;
	}
	state_warn(state);
	if (rules_check(o, &w) < 0)
		return 125;
	static struct channels *channels; /* never freed: the supervisor uses it until the end */
	if (config_channels_chosen(o->guard.config, &o->guard.notify, &channels, &f) < 0) {
		log_error("%s", f.text);
		return 125;
	}
	spec.watch.channels = channels;
	spec.watch.state_dir = state;
	run_threads_set(o->threads, &w, &spec);
	private_umask();
	leftover_clear(&w, state);
	bool page = o->dashboard && dashboard_start(&w, state, o->guard.state);
	int status = supervise_run(&spec, &w);
	if (page)
		webbeside_over(o->guard.state);
	guard_options_sweep(&o->guard, &w, state);
	return status;
}

const struct command command_run = {
	.name = "run",
	.usage = "vigil run [OPTIONS] [--] COMMAND [ARG…]",
	.summary = "start a job and keep watch over it",
	.about = "Starts COMMAND and keeps watch over it: acts before memory runs out (freezes the growing process, "
		 "ends the right one, reports who held what), starts it again if asked to, and says why it died when "
		 "it dies. Output passes through unchanged and is kept per rank.\n\n"
		 "Who ends the job wants it to be over: after Ctrl-C, a signal to vigil, or a signal from vigil's "
		 "page, to one rank or to all, nothing is started again, whatever --retry-on says. A signal that "
		 "somebody sends to a rank by other means counts as a crash.\n\n"
		 "The exit status is the job's own; 128+N if it died of signal N; 137 if it was ended for memory and "
		 "no retry was left; 124 if it was ended as hung (--on-hang kill or restart); 125 if vigil was called "
		 "wrongly or failed; 126 if COMMAND cannot be executed; 127 if it was not found.",
	.examples = "vigil run -- python train.py\n"
		    "vigil run --retries 3 --name resnet -- python train.py --resume\n"
		    "vigil run --nproc 4 --memory-limit 64G -- python train.py\n",
	.options = options,
	.options_size = sizeof(struct run_options),
	.defaults = &defaults,
	.run = run,
	.stays = true,
	.stop_at_first_word = true,
	.usage_status = 125,
};
