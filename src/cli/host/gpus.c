#include <stdio.h>
#include <stdlib.h>

#include "agent/gpu/gpus.h"
#include "agent/host/world_open.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/options/subject.h"
#include "cli/screen/view.h"
#include "tell/gpu/gpu_show.h"

struct gpus_options {
	const char *state;
	uint64_t wait_ns;
	bool json;
};

static const struct gpus_options gpus_defaults = {.wait_ns = 5 * NS_PER_S};

static const struct option gpus_options[] = {
	{.name = "wait",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "how long one call of a driver may take",
	 .offset = offsetof(struct gpus_options, wait_ns)},
	OPTION_STATE(gpus_options),
	OPTION_JSON(gpus_options),
	OPTION_END,
};

static int gpus_show(const struct world *w, const struct gpus_options *o, const struct subject *s)
{
	const struct members_want members = {
		.ask = true,
		.job_id = s && s->is_job ? s->job.id : NULL,
		.uid = s ? s->job.uid : 0,
		.root = s ? s->pid : 0,
		.group = s && s->is_job ? s->job.cgroup : NULL,
	};
	const struct gpus_want want = {
		.members = s ? &members : NULL, .subject = s ? s->text : "", .call_ns = o->wait_ns};
	cleanup(freep) struct gpuview *v = calloc(1, sizeof(*v));
	struct fault f = {.text = ""};
	if (!v) {
		log_error("out of memory");
		return EXIT_PROBLEM;
	}
	if (gpus_gather(w, &want, v, &f) != 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (o->json) {
		cleanup(js_freep) struct js *j = gpu_json(v);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
	} else {
		gpu_text(v, view_colour(), stdout);
	}
	return v->set.n_findings ? EXIT_PROBLEM : 0;
}

static int gpus_run(const void *options, int argc, char **argv)
{
	const struct gpus_options *o = options;
	struct world w;
	struct subject s;
	struct fault f = {.text = ""};
	char state[256];
	if (argc > 1) {
		log_error("one JOB or PID is expected, not %d; see 'vigil help gpus'", argc);
		return EXIT_USAGE;
	}
	if (o->wait_ns < NS_PER_S / 10) {
		log_error("--wait takes at least 100ms: a driver that is well can need that long");
		return EXIT_USAGE;
	}
	if (world_open(NULL, &w, &f) < 0 || state_dir(o->state, state, sizeof(state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	int r = argc == 1 ? subject_find(&w, state, argv[0], &s, &f) : 0;
	int status = r == SUBJECT_NONE ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	if (r)
		log_error("%s", f.text);
	else
		status = gpus_show(&w, o, argc == 1 ? &s : NULL);
	world_close(&w);
	return status;
}

const struct command command_gpus = {
	.name = "gpus",
	.usage = "vigil gpus [OPTIONS] [JOB|PID]",
	.summary = "what the GPUs do, who is on them, and what is wrong with them",
	.about = "Shows each GPU and NPU of the node: how busy, memory, power, temperature, what holds its clocks "
		 "down, and the processes on it with their job and rank. With JOB or PID: the devices that it is on. "
		 "Errors of the kernel log (Xid) are put together to incidents.\n"
		 "\n"
		 "BUSY is the share of time with any kernel on the GPU. It is 100 % in a collective that waits for "
		 "ever, too: then MEMBUSY is near 0 and the power low.\n"
		 "\n"
		 "In a container most drivers name processes by the host's numbers. There a device counts as a "
		 "process's when it has the device file mapped, or else open (of several, those that "
		 "CUDA_VISIBLE_DEVICES names); the list says so.\n"
		 "\n"
		 "Drivers are asked in processes of their own. One that does not answer is a finding; vigil goes on, "
		 "and the exit status is 1. Without a GPU the command says what it looked at; that is no error.",
	.examples = "vigil gpus\nvigil gpus last --json\nvigil gpus 4711 --wait 1s",
	.options = gpus_options,
	.options_size = sizeof(struct gpus_options),
	.defaults = &gpus_defaults,
	.run = gpus_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
