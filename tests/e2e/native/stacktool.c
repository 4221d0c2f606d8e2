/*
 * What the tests of native stacks ask: the rows of a file's call frame
 * information, the stack of a thread, and what taking it costs.
 *   rows FILE            addresses on stdin, a row for each on stdout
 *   stack PID TID HOW    HOW: take, blocked, catch; once for each line on stdin
 *   times PID TID N HOW  N times, 10 ms apart: when each began and ended, in ns of CLOCK_MONOTONIC. HOW also: watch,
 *                        which does nothing
 *   rate PID TIDS N HOW  N rounds over the comma-separated threads: costs
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "sense/native/ehframe.h"
#include "sense/native/stopper.h"

static struct unwind_regs regs;
static struct unwind_stack stack;
static struct unwind_trace trace;
static struct instant *instant;

static void rule_print(const struct eh_rule *r)
{
	switch (r->kind) {
	case EH_OFFSET:
		printf("c%+d", r->value);
		break;
	case EH_VAL_OFFSET:
		printf("v%+d", r->value);
		break;
	case EH_REGISTER:
		printf("r%d", r->reg);
		break;
	case EH_EXPR:
		printf("exp");
		break;
	case EH_VAL_EXPR:
		printf("vexp");
		break;
	default:
		printf("u");
	}
}

static int rows(const char *path)
{
	struct elf e;
	struct ehtable *t = NULL;
	unsigned long long at;
	int r = elf_open_fd(open(path, O_RDONLY | O_CLOEXEC), &e);
	if (r || (r = ehtable_load(&e, GIB, &t)) != 0) {
		printf("none %d\n", r);
		return 1;
	}
	while (scanf("%llx", &at) == 1) {
		const struct eh_row *row;
		r = ehtable_row(t, at, &row);
		if (r) {
			printf("%llx none %d\n", at, r);
			continue;
		}
		if (row->cfa.kind == EH_VAL_EXPR)
			printf("%llx exp", at);
		else
			printf("%llx %d%+d", at, row->cfa.reg, row->cfa.value);
		for (size_t i = 0; i < row->n; i++) {
			printf(" %d=", row->what[i].reg);
			rule_print(&row->what[i].rule);
		}
		printf("%s\n", row->signal ? " S" : "");
	}
	ehtable_free(t);
	elf_done(&e);
	return 0;
}

static const char *end_name(enum unwind_end end)
{
	static const char *const names[] = {"complete", "no-info", "bad-memory", "too-deep"};
	return names[end];
}

static int sample(struct stopper *s, const struct world *w, struct remote *r, pid_t pid, pid_t tid, const char *how)
{
	if (strcmp(how, "blocked") == 0)
		return stopper_blocked(w, pid, tid, r, &regs, &stack, NULL, NULL);
	size_t none;
	if (strcmp(how, "catch") == 0)
		return stopper_catch(s, instant, tid, NULL, 0, NULL, &none, &regs, &stack);
	return stopper_take(s, tid, 50000, &regs, &stack, NULL, NULL);
}

static uint64_t cpu_ns(int who)
{
	struct rusage u;
	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NS_PER_US;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static int rate(struct stopper *s, struct native *n, const struct world *w, struct remote *r, pid_t pid, char *tids,
		unsigned long rounds, const char *how)
{
	static uint64_t pause_ns[1 << 20];
	pid_t tid[1024];
	size_t n_tid = 0, n_pause = 0, frames = 0, failed = 0, incomplete = 0;
	uint64_t walk_ns = 0, sum = 0;
	for (char *at = tids; *at && n_tid < ARRAY_SIZE(tid);) {
		tid[n_tid++] = (pid_t)strtol(at, &at, 10);
		at += *at == ',';
	}
	uint64_t cpu = cpu_ns(RUSAGE_SELF), start = clock_mono_ns();
	for (unsigned long i = 0; i < rounds; i++) {
		for (size_t k = 0; k < n_tid; k++) {
			if (sample(s, w, r, pid, tid[k], how) != 0) {
				failed++;
				continue;
			}
			struct stopper_stats now = stopper_stats(s);
			if (n_pause < ARRAY_SIZE(pause_ns))
				pause_ns[n_pause++] = now.pause_ns_sum - sum;
			sum = now.pause_ns_sum;
			uint64_t t = clock_mono_ns();
			native_unwind(n, &regs, &stack, &trace);
			walk_ns += clock_mono_ns() - t;
			frames += trace.n;
			incomplete += trace.end != UNWIND_COMPLETE;
		}
	}
	qsort(pause_ns, n_pause, sizeof(*pause_ns), by_size);
	double takes = (double)(n_pause ? n_pause : 1);
	printf("{\"samples\": %zu, \"failed\": %zu, \"incomplete\": %zu, \"wall_us\": %.1f, \"cpu_us\": %.2f, "
	       "\"pause_us\": [%.1f, %.1f, %.1f], \"walk_us\": %.2f, \"frames\": %.1f, \"frame_ns\": %.0f, \"bytes\": "
	       "%zu}\n",
	       n_pause, failed, incomplete, (double)(clock_mono_ns() - start) / 1e3 / takes,
	       (double)(cpu_ns(RUSAGE_SELF) - cpu) / 1e3 / takes, (double)pause_ns[0] / 1e3,
	       (double)pause_ns[n_pause / 2] / 1e3, (double)pause_ns[n_pause * 99 / 100] / 1e3,
	       (double)walk_ns / 1e3 / takes, (double)frames / takes, frames ? (double)walk_ns / (double)frames : 0,
	       stack.n_bytes);
	return 0;
}

static int times(struct stopper *s, const struct world *w, struct remote *r, pid_t pid, pid_t tid, unsigned long n,
		 const char *how)
{
	const struct timespec gap = {.tv_nsec = 10 * (long)NS_PER_MS};
	for (unsigned long i = 0; i < n; i++) {
		(void)nanosleep(&gap, NULL);
		uint64_t begin = clock_mono_ns();
		bool ok = strcmp(how, "watch") == 0 || sample(s, w, r, pid, tid, how) == 0;
		uint64_t end = clock_mono_ns();
		if (ok)
			printf("%llu %llu\n", (unsigned long long)begin, (unsigned long long)end);
	}
	return 0;
}

static void stack_print(struct native *n)
{
	native_unwind(n, &regs, &stack, &trace);
	printf("%s%s", end_name(trace.end), trace.beyond_copy ? " beyond" : "");
	for (size_t i = 0; i < trace.n; i++)
		printf(" %llx%s", (unsigned long long)trace.frame[i].pc, trace.frame[i].exact ? "!" : "");
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[16];
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .mono_ns = clock_mono_ns};
	struct remote r;
	if (argc == 3 && strcmp(argv[1], "rows") == 0)
		return rows(argv[2]);
	if (argc < 5)
		return 2;
	pid_t pid = (pid_t)strtol(argv[2], NULL, 10);
	remote_open(&w, pid, &r);
	cleanup(natives_freep) struct natives *files = natives_new();
	cleanup(native_freep) struct native *n = native_new(files, &w, &r);
	cleanup(stopper_freep) struct stopper *s = stopper_new(&w, pid, &r);
	instant = instant_new(&w);
	if (strcmp(argv[1], "rate") == 0 && argc == 6)
		return rate(s, n, &w, &r, pid, argv[3], strtoul(argv[4], NULL, 10), argv[5]);
	if (strcmp(argv[1], "times") == 0 && argc == 6)
		return times(s, &w, &r, pid, (pid_t)strtol(argv[3], NULL, 10), strtoul(argv[4], NULL, 10), argv[5]);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t start = clock_mono_ns();
		int e = sample(s, &w, &r, pid, (pid_t)strtol(argv[3], NULL, 10), argv[4]);
		if (e == 0) {
			stack_print(n);
		} else {
			printf("failed %d %llu\n", e, (unsigned long long)((clock_mono_ns() - start) / NS_PER_US));
			fflush(stdout);
		}
	}
	instant = instant_free(instant);
	return 0;
}
