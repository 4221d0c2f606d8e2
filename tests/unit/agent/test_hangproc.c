#include "testing.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/hang/hangproc.h"
#include "agent/hang/hangwatch.h"
#include "made_world.h"

static struct world world;
static const struct hang_settings settings = {.first_step_ns = 1200 * NS_PER_S};

static int begin(void **state)
{
	(void)state;
	world = (struct world){.proc_fd = -1, .mono_ns = made_mono_ns, .unix_ms = clock_unix_ms};
	return 0;
}

static void without_settings_nothing_is_watched(void **state)
{
	(void)state;
	struct hangproc h;
	assert_int_equal(hangproc_open(&h, &world, NULL, NULL), 0);
	hangproc_want(&h, 0);
	hangproc_jobs_begin(&h);
	hangproc_jobs_end(&h);
	assert_true(hangproc_due_ns(&h) == UINT64_MAX);
	assert_false(hangproc_tick(&h));
	assert_null(hangproc_message(&h));
	assert_null(hangproc_own(&h, 0));
	hangproc_close(&h);
}

static void the_jobs_change_under_an_odd_number(void **state)
{
	(void)state;
	struct hangproc h;
	const char *const patterns[] = {"a(?<step>\\d+)", "b(?<step>\\d+)"};
	assert_int_equal(hangproc_open(&h, &world, &settings, "x.rules"), 0);
	hangproc_progress(&h, patterns, 2);
	assert_string_equal(h.shm->rules, "x.rules");
	assert_true(h.shm->settings.first_step_ns == settings.first_step_ns);
	assert_int_equal(h.shm->n_progress, 2);
	assert_string_equal(h.shm->progress[1], patterns[1]);
	hangproc_jobs_begin(&h);
	assert_int_equal(atomic_load(&h.shm->jobs_seq) & 1, 1);
	hangproc_jobs_end(&h);
	assert_int_equal(atomic_load(&h.shm->jobs_seq), 2);
	assert_non_null(hangproc_own(&h, HANG_JOBS - 1));
	assert_null(hangproc_own(&h, HANG_JOBS));
	hangproc_close(&h);
}

static void messages_are_taken_in_the_order_sent(void **state)
{
	(void)state;
	struct hangproc h;
	assert_int_equal(hangproc_open(&h, &world, &settings, NULL), 0);
	assert_null(hangproc_message(&h));
	for (uint32_t i = 0; i < HANG_MESSAGES + 1; i++) {
		h.shm->message[i % HANG_MESSAGES].attempt = i;
		atomic_fetch_add(&h.shm->sent, 1);
		assert_int_equal(hangproc_message(&h)->attempt, i);
		assert_int_equal(hangproc_message(&h)->attempt, i);
		hangproc_taken(&h);
		assert_null(hangproc_message(&h));
	}
	hangproc_close(&h);
}

static void a_watcher_that_dies_is_started_ever_later_and_then_no_more(void **state)
{
	(void)state;
	struct hangproc h;
	char how[200];
	assert_int_equal(hangproc_open(&h, &world, &settings, NULL), 0);
	hangproc_want(&h, 5 * NS_PER_S);
	assert_true(hangproc_due_ns(&h) == made_now_ns + 5 * NS_PER_S);
	hangproc_want(&h, 1 * NS_PER_S); /* it has a time already */
	assert_true(hangproc_due_ns(&h) == made_now_ns + 5 * NS_PER_S);
	assert_false(hangproc_tick(&h)); /* not yet */
	static const uint64_t pause_s[] = {2, 4, 8, 16, 32, 64, 64, 64};
	for (size_t i = 0; i < ARRAY_SIZE(pause_s); i++) {
		h.pid = 4000000;
		assert_false(hangproc_reaped(&h, 4000001, SIGKILL, how));
		assert_true(hangproc_reaped(&h, 4000000, SIGSEGV, how));
		assert_true(hangproc_due_ns(&h) == made_now_ns + pause_s[i] * NS_PER_S);
		assert_non_null(strstr(how, "signal 11"));
		assert_non_null(strstr(how, "it is started again"));
	}
	h.pid = 4000000;
	assert_true(hangproc_reaped(&h, 4000000, 3 << 8, how));
	assert_non_null(strstr(how, "exit status 3"));
	assert_non_null(strstr(how, "no longer looked for"));
	assert_true(hangproc_due_ns(&h) == UINT64_MAX);
	hangproc_want(&h, 0);
	assert_true(hangproc_due_ns(&h) == UINT64_MAX);
	hangproc_close(&h);
}

/* A child in the watcher's place. It does not go on by itself. */
static pid_t stand_in(struct hangproc *h)
{
	pid_t pid = fork();
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	h->pid = pid;
	h->beats_ns = made_now_ns + 30 * NS_PER_S;
	return pid;
}

static void looks_pass(struct hangproc *h, size_t n, bool beats)
{
	for (size_t i = 0; i < n; i++) {
		made_now_ns = hangproc_due_ns(h);
		if (beats)
			atomic_fetch_add(&h->shm->beats, 1);
		assert_false(hangproc_tick(h));
	}
}

static void a_watcher_that_stands_is_ended_and_started_again(void **state)
{
	(void)state;
	struct hangproc h;
	char how[200];
	int status = 0;
	world.mono_ns = made_mono_ns;
	assert_int_equal(hangproc_open(&h, &world, &settings, NULL), 0);
	pid_t pid = stand_in(&h);
	atomic_store(&h.shm->beats, 5);
	looks_pass(&h, 20, true);
	looks_pass(&h, 9, false);
	looks_pass(&h, 1, true); /* it was slow */
	made_now_ns += 3600 * NS_PER_S; /* all was frozen: one look */
	looks_pass(&h, 9, false);
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	looks_pass(&h, 1, false);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(hangproc_reaped(&h, pid, status, how));
	assert_non_null(strstr(how, "stood still for five minutes"));
	assert_non_null(strstr(how, "it is started again"));
	assert_true(hangproc_due_ns(&h) == made_now_ns + 2 * NS_PER_S);
	hangproc_close(&h);
}

/* The whole process, on the live machine: it takes samples of the job and ends with hangproc_close. */
static void a_started_watcher_samples_an_active_job(void **state)
{
	(void)state;
	struct hangproc h;
	world.mono_ns = clock_mono_ns;
	assert_int_equal(hangproc_open(&h, &world, &settings, NULL), 0);
	hangproc_jobs_begin(&h);
	h.shm->job[0] = (struct hang_job){.active = true, .id = "j", .root = getpid(), .root_is_ours = true};
	h.shm->n_jobs = 1;
	hangproc_jobs_end(&h);
	hangproc_want(&h, 0);
	assert_true(hangproc_tick(&h));
	assert_true(h.pid > 0);
	assert_false(hangproc_tick(&h)); /* one is enough */
	const uint64_t until = clock_mono_ns() + 20 * NS_PER_S;
	while (atomic_load(&h.shm->samples) == 0 && clock_mono_ns() < until)
		(void)poll(NULL, 0, 2);
	assert_true(atomic_load(&h.shm->samples) > 0);
	pid_t pid = h.pid;
	hangproc_close(&h);
	assert_int_equal(kill(pid, 0), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_settings_nothing_is_watched, begin),
		cmocka_unit_test_setup(the_jobs_change_under_an_odd_number, begin),
		cmocka_unit_test_setup(messages_are_taken_in_the_order_sent, begin),
		cmocka_unit_test_setup(a_watcher_that_dies_is_started_ever_later_and_then_no_more, begin),
		cmocka_unit_test_setup(a_watcher_that_stands_is_ended_and_started_again, begin),
		cmocka_unit_test_setup(a_started_watcher_samples_an_active_job, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
