/*
 * heaptool attach|detach PID STATE [RATE]: what `vigil heap PID --attach` does, for tests; one line.
 * heaptool switch FOLDER RATE: what `vigil heap JOB --start` does.
 * heaptool growth PID SECONDS: what `vigil heap PID --what growth` does: folded stacks and their bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/heap/growth.h"
#include "agent/heap/heapattach.h"
#include "agent/heap/heapfiles.h"
#include "agent/host/world_open.h"
#include "base/text.h"
#include "tell/stacks/flame.h"

static uint64_t number(const char *text)
{
	uint64_t v = 0;
	ignore(span_u64(span_of(text), &v), "0 then");
	return v;
}

static int growth(const struct world *w, pid_t pid, uint64_t duration_ns)
{
	const struct growth_who who = {.pid = pid, .rank = NO_RANK};
	const struct growth_want want = {.who = &who, .n_who = 1, .duration_ns = duration_ns};
	cleanup(stackset_freep) struct stackset *set = NULL;
	struct fault f = {.text = ""};
	int r = growth_record(w, &want, &set, &f);
	if (r == 0)
		r = flame_write(set, FLAME_FOLDED, stdout);
	if (r)
		(void)printf("result %d %s\n", r, f.text);
	return r ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct fault f = {.text = ""};
	struct heapattach_result got;
	struct world w;
	if (argc < 4 || world_open(NULL, &w, &f) < 0) {
		(void)fprintf(stderr, "usage: heaptool attach|detach PID STATE [RATE]\n");
		return 2;
	}
	if (strcmp(argv[1], "switch") == 0) {
		size_t n = 0;
		cleanup(closep) int folder = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		int e = heapfiles_switch(folder, NULL, number(argv[3]), &n);
		(void)printf("result %d regions %zu\n", e, n);
		return e != 0;
	}
	pid_t pid = (pid_t)number(argv[2]);
	if (strcmp(argv[1], "growth") == 0)
		return growth(&w, pid, number(argv[3]) * NS_PER_S);
	struct heapattach_want want = {.state = argv[3], .rate_bytes = argc > 4 ? number(argv[4]) : 512 * KIB};
	int r = strcmp(argv[1], "attach") == 0 ? heapattach(&w, pid, &want, &got, &f) : heapdetach(&w, pid, &got, &f);
	if (r) {
		(void)printf("result %d %s\n", r, f.text);
		return 1;
	}
	(void)printf("result 0 folder %s there %d files %u slots %u stopped_us %llu sum_us %llu tries %u\n", got.folder,
		     got.was_there, got.files, got.slots, (unsigned long long)(got.stopped_ns / 1000),
		     (unsigned long long)(got.stopped_sum_ns / 1000), got.tries);
	return 0;
}
