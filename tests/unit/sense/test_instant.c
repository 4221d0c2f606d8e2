#include "testing.h"
#include "world_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "sense/native/stopper.h"
#include "sense/proc/proc.h"

/* What the child has at the same addresses, since it is forked from here. */
static uint64_t pattern[1024];
static volatile uint64_t turns;
static char *sparse; /* two pages, of which the second was never touched */
#define PAGE 4096

static struct unwind_regs regs;
static struct unwind_stack stack;

/* Its only local is on the stack that is copied. */
static __attribute__((noinline, noreturn)) void spin(void)
{
	volatile uint64_t mark = UINT64_C(0x5157495645525321);
	for (;;)
		turns += mark != 0;
}

/* /proc/PID/stat's third field, behind the last parenthesis. */
static bool is_asleep(pid_t pid)
{
	char path[64], text[512] = "";
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	(void)fclose(f);
	const char *end = strrchr(text, ')');
	return end && strncmp(end, ") S", 3) == 0;
}

static pid_t child_new(bool spins)
{
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		sparse = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(sparse, 7, PAGE);
		if (write(ready[1], &sparse, sizeof(sparse)) != sizeof(sparse))
			_exit(1);
		if (spins)
			spin();
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &sparse, sizeof(sparse)), sizeof(sparse));
	close(ready[0]);
	const uint64_t until = clock_mono_ns() + UINT64_C(20000000000);
	while (!spins && !is_asleep(pid))
		assert_true(clock_mono_ns() < until);
	return pid;
}

static void child_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool in_spin(void)
{
	return regs.reg[16] - (uintptr_t)spin < 400; /* as long as it is without optimisation, with a sanitizer */
}

/* One that runs is met sooner or later. */
static int taken(struct instant *in, const struct world *w, struct instant_want *want, struct instant_seen *ret)
{
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	int r = INSTANT_ELSEWHERE;
	*ret = (struct instant_seen){.regs = &regs, .stack = &stack};
	/* at first the child may still be about to spin */
	while ((r == INSTANT_ELSEWHERE || (r == 0 && !in_spin())) && clock_mono_ns() < end_ns) {
		assert_int_equal(proc_processor_read(w, want->tid, want->tid, &want->processor), 0);
		r = instant_take(in, want, ret);
		if (r == INSTANT_ELSEWHERE)
			(void)poll(NULL, 0, 1); /* we may be what took its processor */
	}
	return r;
}

/* As tests of BPF do: what is not possible here is said. */
static struct instant *instant_here(const struct world *w)
{
	struct instant *in = instant_new(w);
	assert_non_null(in);
	pid_t child = child_new(true);
	struct instant_want want = {.pid = child, .tid = child};
	struct instant_seen seen;
	int r = taken(in, w, &want, &seen);
	child_end(child);
	if (r == INSTANT_CANNOT) {
		instant_free(in);
		if (getenv("VIGIL_NEED_BPF"))
			fail_msg("no instant can be taken here");
		print_message("skipped: it takes CAP_BPF, CAP_PERFMON, Linux 5.17 with BTF, x86_64\n");
		skip();
	}
	assert_int_equal(r, 0);
	return in;
}

static bool stack_has(uint64_t word)
{
	for (size_t i = 0; i + 8 <= stack.n_bytes; i += 8)
		if (memcmp(stack.bytes + i, &word, 8) == 0)
			return true;
	return false;
}

static void registers_stack_and_memory_are_those_of_the_thread(void **state)
{
	(void)state;
	struct world w = live_world();
	struct instant *in = instant_here(&w);
	for (size_t i = 0; i < ARRAY_SIZE(pattern); i++)
		pattern[i] = i * UINT64_C(0x9e3779b97f4a7c15);
	pid_t child = child_new(true);
	char into[16 + 8 + sizeof(pattern) + 8];
	const struct iovec from[] = {
		{pattern + 3, 16},
		{(void *)(uintptr_t)&turns, 8},
		{pattern, sizeof(pattern)},
		{(void *)(uintptr_t)&turns, 8}};
	struct instant_want want = {.pid = child, .tid = child, .from = from, .n_from = ARRAY_SIZE(from), .into = into};
	struct instant_seen seen;
	uint64_t before = 0, first = 0;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(taken(in, &w, &want, &seen), 0);
		assert_int_equal(seen.n_bytes, 16 + 8 + sizeof(pattern) + 8);
		assert_memory_equal(into, pattern + 3, 16);
		assert_memory_equal(into + 24, pattern, sizeof(pattern));
		/* it counts as fast as it can, and yet stands while both are copied */
		assert_memory_equal(into + 16, into + 24 + sizeof(pattern), 8);
		uint64_t now;
		memcpy(&now, into + 16, 8);
		assert_true(now >= before);
		before = now;
		first = first ? first : now;
		assert_true(in_spin());
		assert_true(stack.n_bytes > 128 && stack.sp + 128 == regs.reg[7]);
		assert_true(stack_has(UINT64_C(0x5157495645525321)));
		assert_true(seen.pause_ns > 0);
	}
	assert_true(before > first);
	child_end(child);
	instant_free(in);
	fixture_close(&w);
}

static void what_was_never_touched_is_zero_and_what_is_not_mapped_ends_it(void **state)
{
	(void)state;
	struct world w = live_world();
	struct instant *in = instant_here(&w);
	pid_t child = child_new(true);
	char into[3 * PAGE], zero[PAGE] = {0}, seven[PAGE];
	const struct iovec from[] = {{sparse, 2 * PAGE}, {(void *)PAGE, 8}, {pattern, 8}};
	struct instant_want want = {.pid = child, .tid = child, .from = from, .n_from = 1, .into = into};
	struct instant_seen seen;
	memset(seven, 7, sizeof(seven));
	assert_int_equal(taken(in, &w, &want, &seen), 0);
	assert_int_equal(seen.n_bytes, 2 * PAGE);
	assert_memory_equal(into, seven, PAGE);
	assert_memory_equal(into + PAGE, zero, PAGE);
	want.n_from = 3;
	assert_int_equal(taken(in, &w, &want, &seen), 0);
	assert_int_equal(seen.n_bytes, 2 * PAGE);
	child_end(child);
	instant_free(in);
	fixture_close(&w);
}

static void a_stack_is_copied_as_far_as_it_is_known_to_go(void **state)
{
	(void)state;
	struct world w = live_world();
	struct instant *in = instant_here(&w);
	pid_t child = child_new(true);
	struct instant_want want = {.pid = child, .tid = child};
	struct instant_seen seen;
	assert_int_equal(taken(in, &w, &want, &seen), 0);
	size_t all = stack.n_bytes;
	uint64_t sp = regs.reg[7];
	want.stack_lo = sp & ~UINT64_C(0xfff);
	want.stack_end = sp + 64;
	assert_int_equal(taken(in, &w, &want, &seen), 0);
	assert_int_equal(stack.n_bytes, 128 + 64);
	/* another stack than that: all of it */
	want.stack_lo = sp + (1 << 20);
	want.stack_end = sp + (2 << 20);
	assert_int_equal(taken(in, &w, &want, &seen), 0);
	assert_int_equal(stack.n_bytes, all);
	child_end(child);
	instant_free(in);
	fixture_close(&w);
}

static void who_sleeps_is_not_met_and_too_much_is_refused(void **state)
{
	(void)state;
	struct world w = live_world();
	struct instant *in = instant_here(&w);
	pid_t child = child_new(false);
	static struct iovec many[300];
	struct instant_want want = {.pid = child, .tid = child};
	struct instant_seen seen = {.regs = &regs, .stack = &stack};
	for (want.processor = 0; want.processor < 4; want.processor++)
		assert_int_equal(instant_take(in, &want, &seen), INSTANT_ELSEWHERE);
	/* a thread of this number in another process is another one */
	pid_t spins = child_new(true);
	want = (struct instant_want){.pid = child, .tid = spins};
	const uint64_t until_ns = w.mono_ns() + 5 * NS_PER_S; /* beside a hundred others each one takes long */
	for (int i = 0; i < 200 && (i == 0 || w.mono_ns() < until_ns); i++) {
		assert_int_equal(proc_processor_read(&w, spins, spins, &want.processor), 0);
		assert_int_equal(instant_take(in, &want, &seen), INSTANT_ELSEWHERE);
	}
	child_end(spins);
	want.from = many;
	want.n_from = ARRAY_SIZE(many);
	assert_int_equal(instant_take(in, &want, &seen), INSTANT_TOO_MUCH);
	many[0] = (struct iovec){pattern, SIZE_MAX};
	many[1] = (struct iovec){pattern, 8};
	want.n_from = 2;
	assert_int_equal(instant_take(in, &want, &seen), INSTANT_TOO_MUCH);
	child_end(child);
	instant_free(in);
	fixture_close(&w);
}

/* Its number is that of the namespace of who looks. */
static void in_a_pid_namespace_numbers_are_its_own(void **state)
{
	(void)state;
	struct world w = live_world();
	instant_free(instant_here(&w));
	fixture_close(&w);
	pid_t outer = fork();
	assert_true(outer >= 0);
	if (outer == 0) {
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) < 0)
			_exit(errno == EPERM ? 77 : 1);
		pid_t inner = fork();
		if (inner == 0) {
			if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
			    mount("proc", "/proc", "proc", 0, NULL) < 0)
				_exit(77);
			struct world own = live_world();
			struct instant *in = instant_new(&own);
			pid_t child = child_new(true);
			struct instant_want want = {.pid = child, .tid = child};
			struct instant_seen seen;
			int r = in && child < 10 ? taken(in, &own, &want, &seen) : -1;
			_exit(r == 0 && in_spin() ? 0 : 3);
		}
		int status = 0;
		if (inner < 0 || waitpid(inner, &status, 0) != inner)
			_exit(4);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
	}
	int status;
	assert_int_equal(waitpid(outer, &status, 0), outer);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: no pid namespace may be made here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_stopper_catches_who_runs_and_says_of_others_that_it_could_not(void **state)
{
	(void)state;
	struct world w = live_world();
	struct instant *in = instant_here(&w);
	pid_t runs = child_new(true), sleeps = child_new(false);
	struct remote r;
	size_t none;
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	remote_open(&w, runs, &r);
	cleanup(stopper_freep) struct stopper *s = stopper_new(&w, runs, &r);
	while (stopper_stats(s).caught < 20 && clock_mono_ns() < end_ns) {
		int e = stopper_catch(s, in, runs, NULL, 0, NULL, &none, &regs, &stack);
		assert_true(e == 0 || e == STOPPER_RUNNING);
		if (e == 0)
			assert_true(in_spin());
		else
			(void)poll(NULL, 0, 1);
	}
	assert_int_equal(stopper_stats(s).caught, 20);
	assert_int_equal(stopper_stats(s).stops, 20);
	cleanup(stopper_freep) struct stopper *other = stopper_new(&w, sleeps, &r);
	assert_int_equal(stopper_catch(other, in, sleeps, NULL, 0, NULL, &none, &regs, &stack), STOPPER_RUNNING);
	child_end(runs);
	child_end(sleeps);
	assert_int_equal(stopper_catch(other, in, sleeps, NULL, 0, NULL, &none, &regs, &stack), WORLD_GONE);
	remote_done(&r);
	instant_free(in);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_stack_and_memory_are_those_of_the_thread),
		cmocka_unit_test(what_was_never_touched_is_zero_and_what_is_not_mapped_ends_it),
		cmocka_unit_test(a_stack_is_copied_as_far_as_it_is_known_to_go),
		cmocka_unit_test(who_sleeps_is_not_met_and_too_much_is_refused),
		cmocka_unit_test(in_a_pid_namespace_numbers_are_its_own),
		cmocka_unit_test(a_stopper_catches_who_runs_and_says_of_others_that_it_could_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
