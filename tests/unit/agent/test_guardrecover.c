/* What a dead guard leaves behind, on real children of this test; and the memory that a guard locks. */
#include "scratch_fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "agent/guard/guardproc.h"
#include "agent/guard/guardrecover.h"
#include "agent/guard/memlock.h"
#include "base/clock.h"

#if defined(__SANITIZE_ADDRESS__)
#define LOCKS 0 /* a sanitizer makes mlock do nothing */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define LOCKS 0
#endif
#endif
#ifndef LOCKS
#define LOCKS 1
#endif

struct left {
	struct world w;
	struct guard_shm *shm;
	pid_t child[2];
};

static int left_make(void **state)
{
	struct left *l = calloc(1, sizeof(*l));
	assert_non_null(l);
	l->w = live_world();
	l->shm = guardproc_shm_new();
	assert_non_null(l->shm);
	for (size_t i = 0; i < 2; i++)
		l->child[i] = child_start();
	*state = l;
	return 0;
}

static int left_remove(void **state)
{
	struct left *l = *state;
	for (size_t i = 0; i < 2; i++)
		if (l->child[i] > 0) {
			(void)kill(l->child[i], SIGKILL);
			(void)waitpid(l->child[i], NULL, 0);
		}
	(void)munmap(l->shm, sizeof(*l->shm));
	fixture_close(&l->w);
	free(l);
	return 0;
}

/* The child's next change of state, within 5 s. */
static int change_of(pid_t pid, int what)
{
	int status = 0;
	const uint64_t end_ns = clock_mono_ns() + 5 * NS_PER_S;
	while (clock_mono_ns() < end_ns) {
		if (waitpid(pid, &status, what | WNOHANG) == pid)
			return status;
		const struct timespec pause = {.tv_nsec = 1000000};
		(void)nanosleep(&pause, NULL);
	}
	fail_msg("process %d did not change within 5 s", (int)pid);
	return status;
}

static void stopped_by_guard(struct left *l, size_t i)
{
	uint32_t n = atomic_load(&l->shm->n_frozen);
	assert_int_equal(kill(l->child[i], SIGSTOP), 0);
	assert_true(WIFSTOPPED(change_of(l->child[i], WUNTRACED)));
	l->shm->frozen[n] = (struct target){.id = {l->child[i], start_ticks_of(&l->w, l->child[i])}, .pidfd = -1};
	atomic_store(&l->shm->n_frozen, n + 1);
}

static struct guard_case *case_of(struct left *l, size_t place, enum case_phase phase, size_t child)
{
	struct guard_case *c = &l->shm->cases[place];
	c->number = (uint32_t)place + 1;
	c->n_victims = 1;
	c->victim[0] = (struct proc_id){l->child[child], start_ticks_of(&l->w, l->child[child])};
	atomic_store(&c->phase, (uint32_t)phase);
	return c;
}

static void what_was_stopped_goes_on(void **state)
{
	struct left *l = *state;
	stopped_by_guard(l, 0);
	guardrecover_finish(&l->w, l->shm);
	assert_true(WIFCONTINUED(change_of(l->child[0], WCONTINUED)));
	assert_int_equal(atomic_load(&l->shm->n_frozen), 0);
}

static void what_the_guard_lent_is_taken_back(void **state)
{
	struct left *l = *state;
	assert_int_equal(setpriority(PRIO_PROCESS, (id_t)l->child[0], 3), 0);
	l->shm->lent[1] = (struct lent){.tid = l->child[0], .policy = SCHED_BATCH, .nice = 7};
	guardrecover_finish(&l->w, l->shm);
	assert_int_equal(sched_getscheduler(l->child[0]), SCHED_BATCH);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)l->child[0]), 7);
	assert_int_equal(l->shm->lent[1].tid, 0);
}

static void victims_of_an_open_case_are_ended_and_others_go_on(void **state)
{
	struct left *l = *state;
	stopped_by_guard(l, 0);
	stopped_by_guard(l, 1);
	(void)case_of(l, 1, CASE_DECIDED, 0);
	guardrecover_finish(&l->w, l->shm);
	int status = change_of(l->child[0], 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	l->child[0] = 0;
	assert_true(WIFCONTINUED(change_of(l->child[1], WCONTINUED)));
}

static void victims_of_a_case_that_is_over_are_left_alone(void **state)
{
	struct left *l = *state;
	static const enum case_phase over[] = {CASE_EMPTY, CASE_DONE, CASE_CANCELLED, CASE_TOO_LATE, CASE_DENIED};
	for (size_t i = 0; i < ARRAY_SIZE(over); i++) {
		(void)case_of(l, i % GUARD_CASES, over[i], 0);
		guardrecover_finish(&l->w, l->shm);
		assert_int_equal(waitpid(l->child[0], NULL, WNOHANG), 0);
	}
}

static void a_number_that_was_reused_is_not_hit(void **state)
{
	struct left *l = *state;
	struct guard_case *c = case_of(l, 0, CASE_KILLED, 0);
	c->victim[0].start_ticks--; /* another process than this child had the number */
	guardrecover_finish(&l->w, l->shm);
	assert_int_equal(waitpid(l->child[0], NULL, WNOHANG), 0);
	assert_int_equal(kill(l->child[0], 0), 0);
}

static void counts_that_cannot_be_are_bounded(void **state)
{
	struct left *l = *state;
	struct guard_case *c = case_of(l, 0, CASE_DECIDED, 0);
	c->n_victims = UINT32_MAX;
	l->shm->n_jobs = UINT32_MAX;
	atomic_store(&l->shm->n_frozen, UINT32_MAX);
	guardrecover_finish(&l->w, l->shm);
	assert_true(WIFSIGNALED(change_of(l->child[0], 0)));
	l->child[0] = 0;
}

static void an_unfinished_case_is_marked_as_done_and_says_why(void **state)
{
	struct left *l = *state;
	struct guard_case *c = case_of(l, 0, CASE_KILLED, 0);
	guardrecover_note(&l->w, c);
	assert_int_equal(atomic_load(&c->phase), CASE_DONE);
	assert_int_equal(c->incident.n_evidence, 1);
	assert_non_null(strstr(c->incident.evidence[0].text, "the guard died in the middle"));
}

static void populated_pages_keep_their_bytes(void **state)
{
	char *p = mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char here[16];
	(void)state;
	assert_true(p != MAP_FAILED);
	p[5000] = 'x';
	memlock_populate(p + 100, 60 * KIB);
	assert_int_equal(p[5000], 'x');
	assert_int_equal(mincore(p, 64 * KIB, here), 0);
	for (size_t i = 0; i < 15; i++)
		assert_true(here[i] & 1);
	(void)munmap(p, 64 * KIB);
}

/* Kilobytes that the kernel counts as locked for this process. */
static uint64_t locked_kib(const struct world *w)
{
	char text[8192];
	size_t len;
	uint64_t kib = 0;
	assert_int_equal(file_read_at(w->proc_fd, "self/status", text, sizeof(text), &len), 0);
	struct span value;
	assert_int_equal(text_field((struct span){text, len}, "VmLck", &value), 0);
	assert_int_equal(span_u64_prefix(span_trim(value), &kib), 0);
	return kib;
}

static void a_guard_locks_its_tables_and_not_all_that_is_mapped(void **state)
{
	if (!LOCKS) {
		print_message("skipped: a sanitizer makes mlock do nothing\n");
		skip();
	}
	struct left *l = *state;
	const size_t table = 256 * KIB, other = 8 * MIB;
	char *a = calloc(1, table), *b = calloc(1, table);
	void *big = mmap(NULL, other, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(a && b && big != MAP_FAILED);
	memset(big, 1, other);
	pid_t pid = fork();
	if (pid == 0) {
		bool locked = memlock_own(a, table, b, table);
		uint64_t kib = locked_kib(&l->w);
		_exit(!locked ? 1 : kib < 2 * table / KIB ? 2 : kib > 7 * 1024 ? 3 : 0);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* 1: RLIMIT_MEMLOCK does not allow it here, which the guard reports and lives with */
	assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || (WEXITSTATUS(status) == 1 && geteuid() != 0)));
	free(a);
	free(b);
	(void)munmap(big, other);
}

#define LEFT(test) cmocka_unit_test_setup_teardown(test, left_make, left_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LEFT(what_was_stopped_goes_on),
		LEFT(what_the_guard_lent_is_taken_back),
		LEFT(victims_of_an_open_case_are_ended_and_others_go_on),
		LEFT(victims_of_a_case_that_is_over_are_left_alone),
		LEFT(a_number_that_was_reused_is_not_hit),
		LEFT(counts_that_cannot_be_are_bounded),
		LEFT(an_unfinished_case_is_marked_as_done_and_says_why),
		cmocka_unit_test(populated_pages_keep_their_bytes),
		LEFT(a_guard_locks_its_tables_and_not_all_that_is_mapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
