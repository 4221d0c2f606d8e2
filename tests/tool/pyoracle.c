/*
 * Samples the Python stacks of a process as fast as it can, and says what it
 * cost and, for tests/workloads/oracle.py, how many stacks cannot have been.
 *
 *	pyoracle PID SAMPLES [bench|anew|check]
 *
 * One JSON object. bench: nothing is judged, so that the CPU time is that of
 * reading alone; lines are looked up in a second pass of the same length.
 * anew: the same, and threads that have not run are read as well. check: a
 * stack that was not read again is compared with one that is.
 */
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"
#include "sense/python/pystack.h"

#define EXAMPLES 3

struct tally {
	uint64_t stacks, empty, frames, torn, stale, wrong, wrong_lines, moved, holds;
	uint64_t last; /* of the stack before */
	uint64_t lines; /* keeps the look-up from being left out */
	bool seen_colours; /* there was something to judge */
	unsigned examples, line_examples;
};

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* "o_red_12" */
static bool name_parse(const char *name, struct span *ret_colour, uint64_t *ret_position)
{
	struct span s = span_of(name);
	if (!span_starts(s, "o_"))
		return false;
	const char *bar = span_rfind(s, "_");
	if (!bar || bar < s.p + 2)
		return false;
	*ret_colour = (struct span){s.p + 2, (size_t)(bar - s.p - 2)};
	return span_u64((struct span){bar + 1, s.len - (size_t)(bar + 1 - s.p)}, ret_position) == 0;
}

static void example_show(unsigned *shown, const struct pystack *k, const char *what)
{
	if ((*shown)++ >= EXAMPLES)
		return;
	fprintf(stderr, "%s:", what);
	for (size_t i = k->n; i-- > 0;)
		fprintf(stderr, " %s", k->frames[i].known->name);
	fprintf(stderr, "\n");
}

static bool line_wrong(const struct pyrt *rt, const struct pyframe *f)
{
	/* Only the functions with one call, on their third line. */
	if (f->flags & PYFRAME_GENERATOR || strstr(f->known->name, "kept") || strstr(f->known->name, "gold_0") ||
	    strstr(f->known->name, "pink_0"))
		return false;
	return pycode_line(rt, f->known, f->instr) != f->known->first_line + 2;
}

static void stack_judge(struct tally *t, const struct pyrt *rt, const struct pystack *k)
{
	struct span colour = {};
	uint64_t expected = 0;
	bool wrong = false, line = false;
	for (size_t i = k->n; i-- > 0;) {
		struct span c;
		uint64_t position;
		if (!name_parse(k->frames[i].known->name, &c, &position)) {
			wrong |= expected > 0; /* nothing else is called from them */
			continue;
		}
		wrong |= position != expected++;
		if (!span_eq(c, "any")) {
			wrong |= colour.p && (c.len != colour.len || memcmp(c.p, colour.p, c.len) != 0);
			colour = c;
		}
		line |= i > 0 && line_wrong(rt, &k->frames[i]);
	}
	t->seen_colours |= expected > 0;
	/* The outermost frame is a module or the start of a thread. */
	const char *root = k->n ? k->frames[k->n - 1].known->name : "";
	wrong |= k->n && !k->cut && strcmp(root, "<module>") != 0 && !strstr(root, "_bootstrap");
	t->wrong += wrong;
	t->wrong_lines += !wrong && line;
	if (wrong)
		example_show(&t->examples, k, "wrong");
	else if (line)
		example_show(&t->line_examples, k, "wrong line");
}

static void stack_note(struct tally *t, const struct pystack *k)
{
	uint64_t now = k->n;
	for (size_t i = 0; i < MIN(k->n, 4); i++)
		now = now * 31 + k->frames[i].instr;
	t->moved += now != t->last;
	t->last = now;
	t->stacks++;
	t->frames += k->n;
	t->empty += k->n == 0;
	t->holds += k->gil == PYGIL_HOLDS || k->gil == PYGIL_FREE_THREADED_RUNS;
}

enum mode { JUDGE, READ, READ_LINES, CHECK };

static int run(const struct pyrt *rt, struct pystacks *s, uint64_t samples, enum mode mode, struct tally *t)
{
	const struct pythread *threads;
	size_t n = 0;
	for (uint64_t i = 0; i < samples; i++) {
		if (i % 1000 == 0) {
			int e = pystacks_threads(s, &threads, &n);
			if (e)
				return e;
		}
		struct pystack k;
		int e = pystacks_read(s, &threads[i % n], false, &k);
		t->torn += e == PYSTACK_TORN;
		t->stale += e == PYSTACK_STALE;
		if (e == PYSTACK_TORN || e == PYSTACK_STALE)
			continue;
		if (e)
			return e;
		stack_note(t, &k);
		if (mode == JUDGE)
			stack_judge(t, rt, &k);
		for (size_t f = 0; f < k.n && mode == READ_LINES; f++)
			t->lines += (uint64_t)pycode_line(rt, k.frames[f].known, k.frames[f].instr);
	}
	return 0;
}

/* There is a second reader, of its own, that always reads. */
struct pair {
	struct pystacks *stacks, *anew;
	pid_t pid;
	uint64_t compared, unlike;
};

/* How often the first thread has been given a processor. */
static uint64_t turns_of(pid_t pid)
{
	char path[64], text[128];
	unsigned long long turns = 0;
	TEXT_FORMAT(path, "/proc/%d/schedstat", (int)pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(text, sizeof(text), f))
		(void)sscanf(text, "%*u %*u %llu", &turns); // NOLINT(cert-err34-c): the kernel's own number
	if (f)
		(void)fclose(f);
	return turns;
}

static bool same_stack(const struct pystack *a, const struct pystack *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; i < a->n && same; i++)
		same = a->frames[i].addr == b->frames[i].addr && a->frames[i].code == b->frames[i].code &&
		       a->frames[i].instr == b->frames[i].instr;
	return same;
}

/* Nothing is compared unless the thread has not been given a processor meanwhile. */
static int compare(struct pair *p, uint64_t samples)
{
	const struct pythread *threads, *again;
	size_t n, n_again;
	int e = pystacks_threads(p->stacks, &threads, &n);
	if (e == 0)
		e = pystacks_threads(p->anew, &again, &n_again);
	for (uint64_t i = 0; i < samples && e == 0; i++) {
		struct pystack one, two;
		uint64_t before = turns_of(p->pid), still = pystacks_stats(p->stacks).still;
		if (pystacks_read(p->stacks, &threads[0], false, &one) != 0 ||
		    pystacks_stats(p->stacks).still == still ||
		    pystacks_read(p->anew, &again[0], false, &two) != 0 || turns_of(p->pid) != before)
			continue;
		p->compared++;
		p->unlike += !same_stack(&one, &two);
	}
	return e;
}

struct target {
	struct world world;
	struct remote remote;
	struct maps maps;
	struct pyrt rt;
	struct pycodes *codes;
	struct pystacks *stacks;
	double first_us, first_cpu_us; /* attach to first stack */
};

static int target_open(struct target *t, pid_t pid, struct fault *f)
{
	const struct pythread *threads;
	struct pystack k;
	size_t n;
	int e = world_open(NULL, &t->world, f);
	if (e)
		return e;
	double cpu = cpu_us();
	uint64_t start = clock_mono_ns();
	remote_open(&t->world, pid, &t->remote);
	e = maps_read(&t->world, pid, &t->maps);
	if (e == 0)
		e = pyrt_find(&t->world, &t->remote, &t->maps, &t->rt, f);
	if (e)
		return e;
	t->codes = pycodes_new(&t->rt, &t->remote);
	t->stacks = pystacks_new(&t->world, &t->rt, &t->remote, t->codes);
	if (!t->codes || !t->stacks)
		return -ENOMEM;
	e = pystacks_threads(t->stacks, &threads, &n);
	for (int i = 0; i < 100 && e == 0; i++) {
		e = pystacks_read(t->stacks, &threads[0], false, &k);
		if (e != PYSTACK_TORN)
			break;
		e = 0;
	}
	t->first_us = (double)(clock_mono_ns() - start) / 1e3;
	t->first_cpu_us = cpu_us() - cpu;
	return e;
}

/* What the kernel takes for one read of so many bytes of this process, at best: the machine's share of the price. */
static double floor_us(const struct target *t, size_t bytes)
{
	static char into[16384];
	uint64_t from = 0;
	double best = 1e9;
	for (size_t i = 0; i < t->maps.n && from == 0; i++)
		if (strcmp(t->maps.rows[i].path, "[heap]") == 0 &&
		    t->maps.rows[i].end - t->maps.rows[i].start >= sizeof(into))
			from = t->maps.rows[i].start;
	for (int round = 0; round < 5; round++) {
		double cpu = cpu_us();
		for (int i = 0; i < 2000; i++) {
			struct iovec local = {into, bytes}, remote = {(void *)(uintptr_t)from, bytes}; // NOLINT
			if (process_vm_readv(t->remote.pid, &local, 1, &remote, 1, 0) < 0)
				return 0;
		}
		best = MIN(best, (cpu_us() - cpu) / 2000);
	}
	return best;
}

static void result_print(const struct target *t, const struct tally *k, double cpu, double lines_cpu, double wall_s)
{
	struct pystack_stats s = pystacks_stats(t->stacks);
	double n = k->stacks + k->torn ? (double)(k->stacks + k->torn) : 1;
	printf("{\"version\": \"%s\", \"samples\": %llu, \"dropped\": %llu, \"unproved\": %llu, \"wrong\": %llu, "
	       "\"wrong_lines\": %llu, \"shortened\": %llu, \"retries\": %llu, \"walks\": %llu, \"stale\": %llu, "
	       "\"empty\": %llu, \"moved\": %llu, \"holds_gil\": %llu, \"judged\": %s, \"depth\": %.1f, \"calls\": "
	       "%llu, \"still\": %llu, ",
	       t->rt.version_text, (unsigned long long)s.samples, (unsigned long long)s.dropped,
	       (unsigned long long)s.unproved, (unsigned long long)k->wrong, (unsigned long long)k->wrong_lines,
	       (unsigned long long)s.shortened, (unsigned long long)s.retries, (unsigned long long)s.walks,
	       (unsigned long long)k->stale, (unsigned long long)k->empty, (unsigned long long)k->moved,
	       (unsigned long long)k->holds, k->seen_colours ? "true" : "false",
	       k->stacks ? (double)k->frames / (double)k->stacks : 0, (unsigned long long)t->remote.calls,
	       (unsigned long long)s.still);
	printf("\"floor_8_us\": %.2f, \"floor_16k_us\": %.2f, ", floor_us(t, 8), floor_us(t, 16384));
	printf("\"first_ms\": %.3f, \"first_cpu_ms\": %.3f, \"cpu_us\": %.3f, \"cpu_us_with_lines\": %.3f, "
	       "\"stacks_per_s\": %.0f}\n",
	       t->first_us / 1e3, t->first_cpu_us / 1e3, cpu / n, lines_cpu / n, n / wall_s);
}

static int measure(struct target *t, uint64_t samples, bool bench)
{
	struct tally tally = {}, lines = {};
	double cpu = cpu_us(), lines_cpu = 0;
	uint64_t start = clock_mono_ns();
	int e = run(&t->rt, t->stacks, samples, bench ? READ : JUDGE, &tally);
	cpu = cpu_us() - cpu;
	double wall_s = (double)(clock_mono_ns() - start) / 1e9;
	if (e == 0 && bench) {
		lines_cpu = cpu_us();
		e = run(&t->rt, t->stacks, samples, READ_LINES, &lines);
		lines_cpu = cpu_us() - lines_cpu;
	}
	if (e == 0)
		result_print(t, &tally, cpu, lines_cpu, wall_s);
	return e;
}

static int check(struct target *t, uint64_t samples)
{
	struct pair p = {.stacks = t->stacks, .pid = t->remote.pid};
	uint64_t turns = turns_of(p.pid);
	p.anew = pystacks_new(&t->world, &t->rt, &t->remote, t->codes);
	if (!p.anew)
		return -ENOMEM;
	pystacks_read_anew(p.anew);
	int e = compare(&p, samples);
	pystacks_free(p.anew);
	if (e == 0)
		printf("{\"compared\": %llu, \"unlike\": %llu, \"turns\": %llu}\n", (unsigned long long)p.compared,
		       (unsigned long long)p.unlike, (unsigned long long)(turns_of(p.pid) - turns));
	return e;
}

int main(int argc, char **argv)
{
	struct target t = {};
	struct fault f = {};
	uint64_t pid, samples;
	if (argc < 3 || span_u64(span_of(argv[1]), &pid) || span_u64(span_of(argv[2]), &samples) || pid > INT32_MAX) {
		fprintf(stderr, "usage: pyoracle PID SAMPLES [bench|anew|check]\n");
		return 2;
	}
	int e = target_open(&t, (pid_t)pid, &f);
	if (e == 0 && argc > 3 && strcmp(argv[3], "anew") == 0)
		pystacks_read_anew(t.stacks);
	if (e == 0 && argc > 3 && strcmp(argv[3], "check") == 0)
		e = check(&t, samples);
	else if (e == 0)
		e = measure(&t, samples, argc > 3);
	if (e)
		fprintf(stderr, "pyoracle: %d: %s\n", e, f.text);
	pystacks_free(t.stacks);
	pycodes_free(t.codes);
	maps_done(&t.maps);
	remote_done(&t.remote);
	world_close(&t.world);
	return e ? 1 : 0;
}
