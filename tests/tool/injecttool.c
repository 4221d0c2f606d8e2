/*
 * injecttool LIBRARY SYMBOL PID [TIMES [DEADLINE_MS [RUN_OUT_NS]]]: loads a library into a process by act/inject and
 * calls one function with a block of 16 bytes: a counter that it may raise. One line a time: what came of it, how often
 * it was tried, how long the thread stood still.
 */
#include <stdio.h>
#include <string.h>

#include "act/inject/inject.h"
#include "agent/host/world_open.h"
#include "base/text.h"

struct block {
	uint64_t in, out;
};

static uint64_t number(const char *text)
{
	uint64_t v = 0;
	ignore(span_u64(span_of(text), &v), "0 then");
	return v;
}

int main(int argc, char **argv)
{
	struct fault f = {.text = ""};
	struct world w;
	int failures = 0;
	if (argc < 4 || world_open(NULL, &w, &f) < 0) {
		(void)fprintf(stderr, "usage: injecttool LIBRARY SYMBOL PID [TIMES [DEADLINE_MS [RUN_OUT_NS]]]\n");
		return 2;
	}
	uint64_t times = argc > 4 ? number(argv[4]) : 1;
	uint64_t deadline_ms = argc > 5 ? number(argv[5]) : 200;
	for (uint64_t i = 0; i < times; i++) {
		struct block block = {.in = i + 1};
		struct inject_want want = {.library = argv[1],
					   .symbol = argv[2],
					   .arg = &block,
					   .arg_bytes = sizeof(block),
					   .deadline_ns = deadline_ms * NS_PER_MS,
					   .run_out_ns = argc > 6 ? number(argv[6]) : 0};
		struct inject_result got;
		f.text[0] = '\0';
		int r = inject_library(&w, (pid_t)number(argv[3]), &want, &got, &f);
		failures += r != 0;
		if (r)
			(void)printf("result %d %s\n", r, f.text);
		else
			(void)printf(
				"result 0 value %lld out %llu tid %d tries %u stopped_us %llu loaded %d memory %d\n",
				(long long)got.value, (unsigned long long)block.out, (int)got.tid, got.tries,
				(unsigned long long)(got.stopped_ns / 1000), got.was_loaded, got.in_memory);
		(void)fflush(stdout);
	}
	return failures ? 1 : 0;
}
