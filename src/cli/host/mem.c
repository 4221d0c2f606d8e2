#include <stdio.h>
#include <stdlib.h>

#include "agent/gpu/gpus.h"
#include "agent/heap/heapload.h"
#include "agent/memory/memory.h"
#include "agent/host/world_open.h"
#include "base/log.h"
#include "cli/host/memgather.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/options/subject.h"
#include "cli/screen/view.h"
#include "tell/gpu/gpu_show.h"
#include "tell/heap/heap_show.h"
#include "tell/memory/memory_show.h"
#include "tell/incident/report.h"

struct mem_options {
	const char *state;
	bool all;
	bool devices;
	bool json;
};

static const struct option mem_options[] = {
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .help = "show every process and every piece of shared memory",
	 .offset = offsetof(struct mem_options, all)},
	{.name = "devices",
	 .type = OPTION_FLAG,
	 .help = "of the whole node: the GPUs as well, as 'vigil gpus' has them",
	 .offset = offsetof(struct mem_options, devices)},
	OPTION_STATE(mem_options),
	OPTION_JSON(mem_options),
	OPTION_END,
};

/* The summary of its heap profile; NULL without one, which is the usual case. */
static struct js *heap_of(const struct world *w, const char *state, const struct subject *s)
{
	const struct heapload_want want = {.state = state, .resident_ns = 100 * NS_PER_MS};
	const struct heap_show_want part = {.part = {.what = HEAPSET_LIVE, .lines = true}, .limit = 5};
	struct heapload_loaded l = {.set = NULL};
	struct fault f;
	if ((s->is_job ? heapload_job(w, &s->job, &want, &l, &f) : heapload_pid(w, s->pid, &want, &l, &f)) != 0)
		return NULL;
	struct js *j = heap_incident_json(l.set, &part, "");
	heapset_free(l.set);
	return j;
}

/* What the drivers tell; nothing without a driver. */
static struct gpuview *devices_gather(const struct world *w)
{
	const struct gpus_want want = {.subject = "", .call_ns = 2 * NS_PER_S};
	struct fault f = {.text = ""};
	cleanup(freep) struct gpuview *v = calloc(1, sizeof(*v));
	return v && gpus_are_here(w) && gpus_gather(w, &want, v, &f) == 0 && v->set.n > 0 ? take(&v) : NULL;
}

static int mem_show(const struct world *w, const struct mem_options *o, const char *state, const struct subject *s)
{
	struct footprint p;
	struct fault f = {.text = ""};
	cleanup(freep) struct gpuview *devices = o->devices && !s ? devices_gather(w) : NULL;
	const struct memgather_want want = {
		.subject = s, .all = o->all, .gpus = devices ? &devices->set : NULL};
	int r = memgather(w, state, &want, &p, &f);
	if (r) {
		log_error("%s", f.text);
		return r == MEMORY_NO_PROCESS ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	}
	bool colour = view_colour();
	struct js *heap = s && s->n_also == 0 ? heap_of(w, state, s) : NULL;
	if (o->json) {
		struct js *j = memory_json(&p);
		if (heap)
			js_put(j, "heap", take(&heap));
		if (devices)
			js_put(j, "gpus", gpu_list_json(devices));
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	} else {
		memory_text(&p, colour, stdout);
		if (devices)
			gpu_text(devices, colour, stdout);
		report_heap_text(heap, colour ? REPORT_COLOUR : REPORT_PLAIN, stdout);
	}
	js_free(heap);
	footprint_done(&p);
	return 0;
}

static int mem_run(const void *options, int argc, char **argv)
{
	const struct mem_options *o = options;
	/* Static: a thread that reads proportional sizes may outlive this function. */
	static struct world w;
	struct subject s;
	struct fault f = {.text = ""};
	char state[256];
	if (argc > 1) {
		log_error("one JOB or PID is expected, not %d; see 'vigil help mem'", argc);
		return EXIT_USAGE;
	}
	if (argc == 1 && o->devices) {
		log_error("--devices is for the whole node; 'vigil gpus %s' shows the devices of one job", argv[0]);
		return EXIT_USAGE;
	}
	if (world_open(NULL, &w, &f) < 0 || state_dir(o->state, state, sizeof(state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (argc == 0)
		return mem_show(&w, o, state, NULL);
	int r = subject_find_all(&w, state, argv[0], &s, &f);
	if (r) {
		log_error("%s", f.text);
		return r == SUBJECT_NONE ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	}
	return mem_show(&w, o, state, &s);
}

const struct command command_mem = {
	.name = "mem",
	.usage = "vigil mem [OPTIONS] [JOB|PID]",
	.summary = "who holds the memory: by process, rank and shared file",
	.about =
		"Shows how much memory there is at each level that can run out (node, container, job), what each "
		"process holds, and the shared memory with its holders. Without JOB or PID: of the whole node. "
		"JOB may also be the name of a Ray task or actor: all workers that are called so.\n"
		"\n"
		"OWN is what ending the process gives back: its private pages, and of pages that it shares with its "
		"forks its part, so that a page counts once among all who have it (of the 64 largest processes; of "
		"others, and where that may not be read, resident less shared). Other shared pages stay for whoever "
		"else maps them; files in /dev/shm stay until they are removed, and those that nobody holds are marked "
		"ORPHAN.",
	.examples = "vigil mem\nvigil mem last --json\nvigil mem 4711 --all",
	.options = mem_options,
	.options_size = sizeof(struct mem_options),
	.run = mem_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
