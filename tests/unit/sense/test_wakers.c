#include "testing.h"
#include "world_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/units.h"
#include "sense/wait/wakers.h"

/* Whatever is not possible here is said and skipped; VIGIL_NEED_BPF=1 makes that a failure. */
static struct wakers *opened(const struct world *w)
{
	char why[200] = "";
	struct wakers *k = NULL;
	int r = wakers_open(w, &k, why, sizeof(why));
	if (r == WORLD_ABSENT || r == WORLD_DENIED) {
		if (getenv("VIGIL_NEED_BPF"))
			fail_msg("%s", why);
		print_message("skipped: %s\n", why);
		skip();
	}
	assert_int_equal(r, 0);
	return k;
}

static void a_call_waits_for_what_its_number_says(void **state)
{
	(void)state;
	assert_int_equal(wake_kind_of(SYS_futex), WAKE_LOCK);
	assert_int_equal(wake_kind_of(SYS_read), WAKE_READ);
	assert_int_equal(wake_kind_of(SYS_sendto), WAKE_WRITE);
	assert_int_equal(wake_kind_of(SYS_clock_nanosleep), WAKE_NONE);
	assert_int_equal(wake_kind_of(-1), WAKE_NONE);
}

/* ---- a pair of threads that play ping-pong over pipes, beside one that only sleeps ---- */

static int to[2], from[2];
static atomic_int over, player_tid, noise_tid;

static void *play(void *arg)
{
	char c;
	(void)arg;
	atomic_store(&player_tid, (int)syscall(SYS_gettid));
	while (read(to[0], &c, 1) == 1 && write(from[1], &c, 1) == 1)
		;
	return NULL;
}

static void *noise(void *arg)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	(void)arg;
	atomic_store(&noise_tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&over))
		(void)nanosleep(&nap, NULL);
	return NULL;
}

static uint64_t count_of(const struct waker_row *row, size_t n, pid_t wakee, pid_t waker)
{
	uint64_t all = 0;
	for (size_t i = 0; i < n; i++)
		if (row[i].wakee.tid == wakee && row[i].waker.tid == waker)
			all += row[i].n;
	return all;
}

/* Plays until enough rounds were waited for: a round in which the answer was there already needs no wake. */
static size_t play_and_take(struct wakers *k, struct waker_row *row, uint64_t least)
{
	size_t n = 0;
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	char c = 'x';
	for (uint64_t seen = 0; seen < least && clock_mono_ns() < end_ns;) {
		size_t more;
		for (int i = 0; i < 2000; i++) {
			assert_int_equal(write(to[1], &c, 1), 1);
			assert_int_equal(read(from[0], &c, 1), 1);
		}
		assert_int_equal(wakers_take(k, row + n, WAKERS_ROWS - n, &more), 0);
		n += more;
		seen = count_of(row, n, getpid(), player_tid);
	}
	return n;
}

static void the_thread_that_writes_is_the_one_that_wakes(void **state)
{
	(void)state;
	static struct waker_row row[WAKERS_ROWS];
	const struct world w = live_world();
	struct wakers *k = opened(&w);
	pthread_t player, sleeper;
	assert_int_equal(pipe(to) | pipe(from), 0);
	assert_int_equal(pthread_create(&player, NULL, play, NULL), 0);
	assert_int_equal(pthread_create(&sleeper, NULL, noise, NULL), 0);
	assert_int_equal(wakers_watch(k, getpid(), 1), 0);
	assert_int_equal(wakers_on(k), 0);
	size_t n = play_and_take(k, row, 100);
	wakers_off(k);
	uint64_t mine = count_of(row, n, getpid(), player_tid), all = 0, of_noise = 0;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(row[i].wakee.pid, getpid());
		of_noise += row[i].wakee.tid == noise_tid ? row[i].n : 0;
		if (row[i].wakee.tid != getpid())
			continue;
		all += row[i].n;
		if (row[i].waker.tid == player_tid) {
			assert_int_equal(row[i].waker.pid, getpid());
			assert_int_equal(row[i].kind, WAKE_READ);
			assert_int_equal(row[i].arg, from[0]);
			assert_true(row[i].waker.start_ticks >= row[i].waker.process_start_ticks);
			assert_true(row[i].waker.process_start_ticks > 0);
		}
	}
	assert_true(mine >= 100);
	assert_true(mine * 10 >= all * 9);
	assert_int_equal(of_noise, 0); /* a sleep ends by itself */
	/* off: nothing is counted */
	char c = 'x';
	size_t more = 0;
	assert_int_equal(wakers_take(k, row, WAKERS_ROWS, &more), 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(write(to[1], &c, 1), 1);
		assert_int_equal(read(from[0], &c, 1), 1);
	}
	assert_int_equal(wakers_take(k, row, WAKERS_ROWS, &more), 0);
	assert_int_equal(more, 0);
	atomic_store(&over, 1);
	close(to[1]);
	(void)pthread_join(player, NULL);
	(void)pthread_join(sleeper, NULL);
	close(to[0]);
	close(from[0]);
	close(from[1]);
	wakers_free(k);
	close(w.proc_fd);
}

/* ---- one certain wait ---- */

static void *one_read(void *arg)
{
	char c;
	(void)arg;
	atomic_store(&player_tid, (int)syscall(SYS_gettid));
	(void)!read(to[0], &c, 1);
	return NULL;
}

/* Turns on a processor of a thread that stands in read; waits until it does. */
static uint64_t turns_of_blocked(int tid)
{
	char path[64], text[128];
	unsigned long long turns = 0;
	long nr = -1;
	for (int tries = 0; nr != SYS_read && tries < 20000; tries++) {
		TEXT_FORMAT(path, "/proc/self/task/%d/syscall", tid);
		FILE *f = fopen(path, "r");
		assert_non_null(f);
		nr = fgets(text, sizeof(text), f) ? strtol(text, NULL, 10) : -1;
		(void)fclose(f);
		if (nr != SYS_read)
			(void)poll(NULL, 0, 1);
	}
	assert_int_equal(nr, SYS_read);
	TEXT_FORMAT(path, "/proc/self/task/%d/schedstat", tid);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %*u %llu", &turns), 1);
	(void)fclose(f);
	return turns;
}

static bool ask_once(struct wakers *k, int turns_off, int arg_off, struct waker_thread *by)
{
	pthread_t reader;
	atomic_store(&player_tid, 0);
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pthread_create(&reader, NULL, one_read, NULL), 0);
	while (atomic_load(&player_tid) == 0)
		(void)poll(NULL, 0, 1);
	uint64_t turns = turns_of_blocked(player_tid);
	assert_int_equal(wakers_ask(k, player_tid, turns + (uint64_t)turns_off, (uint64_t)(to[0] + arg_off)), 0);
	assert_int_equal(write(to[1], "x", 1), 1);
	(void)pthread_join(reader, NULL);
	close(to[0]);
	close(to[1]);
	return wakers_answer(k, player_tid, by);
}

static void a_question_is_answered_for_the_wait_that_is_meant_alone(void **state)
{
	(void)state;
	const struct world w = live_world();
	struct waker_thread by;
	struct wakers *k = opened(&w);
	assert_int_equal(wakers_watch(k, getpid(), 1), 0);
	assert_int_equal(wakers_on(k), 0);
	assert_true(ask_once(k, 0, 0, &by));
	assert_int_equal(by.tid, getpid());
	assert_int_equal(by.pid, getpid());
	assert_false(ask_once(k, 1, 0, &by)); /* it has run since: another wait */
	assert_false(ask_once(k, 0, 1, &by)); /* it waits for something else */
	assert_false(wakers_answer(k, getpid(), &by)); /* never asked */
	wakers_free(k);
	close(w.proc_fd);
}

/* ---- who is not of the job ---- */

/* A child that echoes: named if it is of the same job as the test. */
static void echo_with(const struct world *w, uint32_t own, uint32_t childs, bool watch_child, bool named)
{
	static struct waker_row row[WAKERS_ROWS];
	struct wakers *k = opened(w);
	assert_int_equal(pipe(to) | pipe(from), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		char c;
		close(to[1]);
		while (read(to[0], &c, 1) == 1 && write(from[1], &c, 1) == 1)
			;
		_exit(0);
	}
	assert_int_equal(wakers_watch(k, getpid(), own), 0);
	if (watch_child)
		assert_int_equal(wakers_watch(k, child, childs), 0);
	assert_int_equal(wakers_on(k), 0);
	player_tid = named ? child : 0;
	size_t n = play_and_take(k, row, 20);
	wakers_off(k);
	assert_true(count_of(row, n, getpid(), named ? child : 0) >= 20);
	for (size_t i = 0; i < n; i++) {
		if (row[i].waker.tid != 0)
			continue;
		assert_int_equal(row[i].waker.pid, 0); /* nothing of it is known */
		assert_string_equal(row[i].waker.name, "");
		assert_int_equal(row[i].waker.start_ticks, 0);
	}
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(from[i]);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	wakers_free(k);
}

static void who_is_not_of_the_job_has_no_name(void **state)
{
	(void)state;
	const struct world w = live_world();
	echo_with(&w, 1, 1, true, true);
	echo_with(&w, 1, 2, true, false);
	echo_with(&w, 1, 0, false, false);
	close(w.proc_fd);
}

static void without_the_right_it_says_which_one_is_missing(void **state)
{
	(void)state;
	const struct world w = live_world();
	wakers_free(opened(&w)); /* it can be done here at all */
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		char why[200] = "";
		struct wakers *k = NULL;
		if (setresuid(65534, 65534, 65534) != 0)
			_exit(2);
		bool said = wakers_open(&w, &k, why, sizeof(why)) == WORLD_DENIED && strstr(why, "CAP_BPF");
		_exit(said ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(w.proc_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_waits_for_what_its_number_says),
		cmocka_unit_test(the_thread_that_writes_is_the_one_that_wakes),
		cmocka_unit_test(a_question_is_answered_for_the_wait_that_is_meant_alone),
		cmocka_unit_test(who_is_not_of_the_job_has_no_name),
		cmocka_unit_test(without_the_right_it_says_which_one_is_missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
