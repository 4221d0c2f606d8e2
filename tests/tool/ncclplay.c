/*
 * Plays NCCL for a rank: loads the profiler plugin that the environment names
 * in the ways NCCL does, and tells it of collectives until it hangs.
 *
 *   ncclplay [--culprit R] [--at N] [--step-ms MS] [--end] [--spin] [--reads]
 *
 * Every rank makes the calls 1 to N; all but the culprit then begin one more,
 * which never ends. --end: nobody does, and the program ends well. --spin: who
 * waits for its GPU goes round for it, as CUDA does. --reads: the culprit reads a
 * pipe that it alone has. What was loaded is said first: "plugin PATH version 6"
 * or "plugin none".
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../plugins/nccl/abi.h"
#include "base/base.h"

struct call {
	struct descr_head head;
	struct coll_v4 coll;
	uint64_t pad[8];
};
struct part {
	struct descr_head head;
	uint64_t pad[16];
};

/* A path or a library's name as it is, else libnccl-profiler-NAME.so; unset: libnccl-profiler.so. */
static const struct profiler_v5 *plugin_load(void)
{
	char name[512];
	const char *wanted = getenv("NCCL_PROFILER_PLUGIN");
	if (wanted && strcmp(wanted, "none") == 0)
		return NULL;
	void *library = wanted && *wanted ? dlopen(wanted, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		(void)snprintf(name, sizeof(name), "libnccl-profiler%s%s.so", wanted && *wanted ? "-" : "",
			       wanted ? wanted : "");
		library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	}
	for (int version = 6; library && version >= 5; version--) {
		(void)snprintf(name, sizeof(name), "ncclProfiler_v%d", version);
		const struct profiler_v5 *p = dlsym(library, name);
		if (p) {
			printf("plugin %s version %d\n", wanted ? wanted : "of the system", version);
			return p;
		}
	}
	return NULL;
}

static void call(const struct profiler_v5 *p, void *context, uint64_t seq, bool ends)
{
	void *handle = NULL, *kernel = NULL;
	struct call c = {.head = {.type = EVENT_COLL},
			 .coll = {.seq = seq, .func = "AllReduce", .count = 1 << 20, .dtype = "ncclFloat32"}};
	if (!p)
		return;
	(void)p->start(context, &handle, &c);
	struct part k = {.head = {.type = EVENT_KERNEL, .parent = handle}};
	(void)p->start(context, &kernel, &k);
	(void)p->stop(handle);
	if (ends)
		(void)p->stop(kernel);
}

static int number(const char *variable, int otherwise)
{
	const char *text = getenv(variable);
	return text ? (int)strtol(text, NULL, 10) : otherwise;
}

/* By this name a rank is known to wait for its GPU. */
void cudaStreamSynchronize(const volatile bool *ended);
__attribute__((noinline)) void cudaStreamSynchronize(const volatile bool *ended)
{
	while (!*ended)
		;
}

int main(int argc, char **argv)
{
	int culprit = -1, at = 5, step_ms = 100;
	bool end = false, spin = false, reads = false, ended = false;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--end") == 0)
			end = true;
		else if (strcmp(argv[i], "--spin") == 0)
			spin = true;
		else if (strcmp(argv[i], "--reads") == 0)
			reads = true;
		else if (i + 1 < argc && strcmp(argv[i], "--culprit") == 0)
			culprit = (int)strtol(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--at") == 0)
			at = (int)strtol(argv[++i], NULL, 10);
		else if (i + 1 < argc && strcmp(argv[i], "--step-ms") == 0)
			step_ms = (int)strtol(argv[++i], NULL, 10);
		else
			return 2;
	}
	int rank = number("RANK", 0), mask = 0;
	void *context = NULL;
	const struct profiler_v5 *p = plugin_load();
	if (!p)
		puts("plugin none");
	else if (p->init(&context, 0xabc, &mask, "default_pg", 1, number("WORLD_SIZE", 1), rank, NULL) != 0)
		return 3;
	for (int step = 1; step <= at; step++) {
		call(p, context, (uint64_t)step, true);
		printf("step %d/%d loss=%.3f\n", step, 10 * at, 1.0 / step);
		(void)fflush(stdout);
		(void)poll(NULL, 0, step_ms);
	}
	if (end)
		return 0;
	if (rank != culprit)
		call(p, context, (uint64_t)at + 1, false);
	int own[2];
	char byte;
	if (rank == culprit && reads && pipe(own) == 0)
		(void)!read(own[0], &byte, 1);
	if (rank != culprit && spin)
		cudaStreamSynchronize(&ended);
	for (;;)
		(void)pause(); /* as a rank does that waits for its GPU */
}
