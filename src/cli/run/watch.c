#include <string.h>

#include "agent/run/adopt.h"
#include "agent/rules/rulefiles.h"
#include "agent/host/world_open.h"
#include "agent/incident/leftover.h"
#include "base/log.h"
#include "base/private.h"
#include "base/text.h"
#include "cli/config/config_notify.h"
#include "cli/options/commands.h"
#include "cli/options/guard_options.h"
#include "cli/options/hang_options.h"
#include "cli/options/state.h"
#include "sense/memory/cgroup.h"

struct watch_options {
	struct guard_options guard;
	uint32_t pid;
	const char *cgroup;
	const char *slurm;
	const char *rules;
	bool ray;
	struct hang_options hang;
};

static const struct watch_options watch_defaults = {.guard = GUARD_DEFAULTS, .hang = HANG_DEFAULTS};

static const struct option watch_table[] = {
	{.name = "pid",
	 .letter = 'p',
	 .type = OPTION_U32,
	 .arg = "PID",
	 .help = "this process and its descendants",
	 .offset = offsetof(struct watch_options, pid)},
	{.name = "cgroup",
	 .type = OPTION_TEXT,
	 .arg = "GROUP",
	 .help = "every process of this control group",
	 .offset = offsetof(struct watch_options, cgroup)},
	{.name = "slurm",
	 .type = OPTION_TEXT,
	 .arg = "JOB",
	 .help = "this job of Slurm's, as far as it runs on this node: its number as SLURM_JOB_ID has it",
	 .offset = offsetof(struct watch_options, slurm)},
	{.name = "ray",
	 .type = OPTION_FLAG,
	 .help = "the Ray workers of this node",
	 .offset = offsetof(struct watch_options, ray)},
	{.name = "rules",
	 .type = OPTION_TEXT,
	 .arg = "FILE,…",
	 .help = "rules of your own that name causes; see vigil rules",
	 .offset = offsetof(struct watch_options, rules)},
	GUARD_OPTIONS(struct watch_options),
	HANG_OPTIONS(struct watch_options, on_adopted_hang_choices, ON_ADOPTED_HANG_HELP, ON_ADOPTED_HANG_WHY),
	OPTION_END,
};

struct agent_options {
	struct guard_options guard;
	struct option_list cgroup;
	struct option_list command;
	const char *rules;
	bool ray;
	struct hang_options hang;
};

static const struct agent_options agent_defaults = {.guard = GUARD_DEFAULTS, .hang = HANG_DEFAULTS};

static const struct option agent_table[] = {
	{.name = "cgroup",
	 .type = OPTION_LIST,
	 .arg = "GROUP,…",
	 .help = "guard these control groups",
	 .offset = offsetof(struct agent_options, cgroup)},
	{.name = "command",
	 .type = OPTION_LIST,
	 .arg = "TEXT,…",
	 .help = "guard processes whose command line has this text",
	 .offset = offsetof(struct agent_options, command)},
	{.name = "ray",
	 .type = OPTION_FLAG,
	 .help = "guard the Ray workers of this node",
	 .offset = offsetof(struct agent_options, ray)},
	{.name = "rules",
	 .type = OPTION_TEXT,
	 .arg = "FILE,…",
	 .help = "rules of your own that name causes; see vigil rules",
	 .offset = offsetof(struct agent_options, rules)},
	GUARD_OPTIONS(struct agent_options),
	HANG_OPTIONS(struct agent_options, on_adopted_hang_choices, ON_ADOPTED_HANG_HELP, ON_ADOPTED_HANG_WHY),
	OPTION_END,
};

/* Every Ray worker descends from its node's raylet. */
static const struct adopt_target ray_target = {.kind = ADOPT_COMMAND, .text = "raylet/raylet"};

/* The path of a control group below the mount, where "/sys/fs/cgroup/…" was given. */
static const char *below_mount(const char *cgroup)
{
	static const char mount[] = "/sys/fs/cgroup/";
	return strncmp(cgroup, mount, sizeof(mount) - 1) == 0 ? cgroup + sizeof(mount) - 1 : cgroup;
}

static int adopt(const struct guard_options *g, const struct hang_options *hang, const char *rules,
		 const struct adopt_target *targets, size_t n, bool service)
{
	struct hang_settings settings;
	struct adopt_spec spec = {
		.watch = watch_spec_of(g, hang, rules, &settings),
		.target = targets,
		.n_targets = n,
		.service = service,
	};
	struct fault f = {0};
	struct world w;
	char state[256];
	static struct channels *channels; /* never freed: adopt_run uses it until the end */
	if (state_dir(g->state, state, sizeof(state), &f) < 0 ||
	    config_channels_chosen(g->config, &g->notify, &channels, &f) < 0 || world_open(NULL, &w, &f) < 0) {
		log_error("%s", f.text);
		return 2;
	}
	state_warn(state);
	if (!rules && rulefiles_there(&w, &f) < 0)
		log_warning("%s; without them causes that stand in logs are not named", f.text);
	if (rules && rulefiles_try(&w, rules, &f) < 0) {
		log_error("%s; nothing is watched ('vigil rules check FILE' tells the same)", f.text);
		return 2;
	}
	spec.watch.channels = channels;
	spec.watch.state_dir = state;
	private_umask();
	leftover_clear(&w, state);
	if (service)
		guard_options_stay(g, &w, state);
	else
		guard_options_sweep(g, &w, state); /* before: it may watch for months */
	return adopt_run(&spec, &w);
}

static int slurm_target(const char *text, struct adopt_target *ret)
{
	uint64_t job;
	if (span_u64(span_of(text), &job) < 0 || job == 0 || job > UINT32_MAX) {
		log_error("--slurm: '%s' is not the number of a job; give what SLURM_JOB_ID has, which of an array's "
			  "task is a number of its own (squeue --Format=JobArrayID,JobID)",
			  text);
		return -EINVAL;
	}
	*ret = (struct adopt_target){.kind = ADOPT_SLURM, .job = (uint32_t)job};
	return 0;
}

static int watch_run(const void *opts, int argc, char **argv)
{
	const struct watch_options *o = opts;
	struct adopt_target t;
	if (argc > 0) {
		log_error("'%s': watch takes options only; did you mean --pid %s?", argv[0], argv[0]);
		return 2;
	}
	if ((o->pid != 0) + (o->cgroup != NULL) + (o->slurm != NULL) + o->ray != 1) {
		log_error("say what to watch with one of --pid PID, --cgroup GROUP, --slurm JOB or --ray");
		return 2;
	}
	if (o->slurm && slurm_target(o->slurm, &t) < 0)
		return 2;
	if (o->slurm)
		return adopt(&o->guard, &o->hang, o->rules, &t, 1, false);
	if (o->pid)
		t = (struct adopt_target){.kind = ADOPT_PID, .pid = (pid_t)o->pid};
	else if (o->cgroup)
		t = (struct adopt_target){.kind = ADOPT_CGROUP, .text = below_mount(o->cgroup)};
	else
		t = ray_target;
	return adopt(&o->guard, &o->hang, o->rules, &t, 1, o->ray);
}

static int agent_run(const void *opts, int argc, char **argv)
{
	const struct agent_options *o = opts;
	struct adopt_target t[ARRAY_SIZE(o->cgroup.item) * 2 + 1];
	size_t n = 0;
	if (argc > 0) {
		log_error("'%s': the agent takes options only", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < o->cgroup.n; i++)
		t[n++] = (struct adopt_target){.kind = ADOPT_CGROUP, .text = below_mount(o->cgroup.item[i])};
	for (size_t i = 0; i < o->command.n; i++)
		t[n++] = (struct adopt_target){.kind = ADOPT_COMMAND, .text = o->command.item[i]};
	if (o->ray)
		t[n++] = ray_target;
	if (n == 0)
		log_warning("nothing to guard is named yet: set cgroup, command or ray in the section 'agent:' of "
			    "vigil.yaml, or on the command line");
	return adopt(&o->guard, &o->hang, o->rules, t, n, true);
}

const struct command command_watch = {
	.name = "watch",
	.usage = "vigil watch --pid PID | --cgroup GROUP | --slurm JOB | --ray [OPTIONS]",
	.summary = "keep watch over a job that is already running",
	.about = "The same guard as `vigil run`, for processes that somebody else started. Ctrl-C stops watching; the "
		 "job goes on. The exit status of somebody else's child cannot be had, and is not made up; its output "
		 "is read where it goes to local files of this run.\n\n"
		 "A job of Slurm's is found by the control group that slurmstepd made for it, else by SLURM_JOB_ID in "
		 "the environment of its owner's processes; neither Slurm's library nor its commands are needed.\n\n"
		 "A Ray node is adopted by its raylet. Its workers are shown and taken by the names of their tasks and "
		 "actors (vigil stack Learner.learn), Ray's own programs are spared, and what Ray runs again after a "
		 "worker was ended is left to Ray.",
	.examples = "vigil watch --pid 4242\n"
		    "vigil watch --cgroup system.slice/train.service --memory-threshold 0.9\n"
		    "vigil watch --slurm 4242 --on-hang kill\n",
	.options = watch_table,
	.options_size = sizeof(struct watch_options),
	.defaults = &watch_defaults,
	.run = watch_run,
	.stays = true,
	.usage_status = 2,
};

const struct command command_agent = {
	.name = "agent",
	.usage = "vigil agent [--config FILE] [OPTIONS]",
	.summary = "keep watch over the jobs of this machine, as a service",
	.about = "Adopts every process or control group that its settings name, now and later, and guards them as "
		 "`vigil run` would. Started by the unit vigil-agent.service; settings are in the section agent: of "
		 "/etc/vigil/vigil.yaml, or of the file that --config names.",
	.examples = "vigil agent --ray\n"
		    "vigil agent --command train.py --policy largest\n"
		    "vigil agent --config /srv/vigil/node.yaml\n",
	.options = agent_table,
	.options_size = sizeof(struct agent_options),
	.defaults = &agent_defaults,
	.run = agent_run,
	.stays = true,
	.usage_status = 2,
};
