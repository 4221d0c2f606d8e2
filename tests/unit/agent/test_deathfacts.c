#include "testing.h"
#include "world_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/incident/deathfacts.h"
#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

static struct world world;

static int open_world(void **state)
{
	(void)state;
	struct fault f;
	return world_open(NULL, &world, &f);
}

static int close_world(void **state)
{
	(void)state;
	world_close(&world);
	return 0;
}

static struct death death_of(pid_t pid, int status, int64_t start)
{
	struct death d = {
		.pid = pid, .rank = NO_RANK, .has_status = true, .wait_status = status, .start_unix_ms = start};
	TEXT_COPY(d.name, "test");
	d.end_unix_ms = clock_unix_ms();
	return d;
}

static struct process_end child(pid_t pid, pid_t parent, int wait_status)
{
	struct process_end e = {.pid = pid, .parent = parent, .start_ticks = 7, .wait_status = wait_status};
	return e;
}

static void which_of_two_ended_first_is_told_where_both_ends_were_seen(void **state)
{
	(void)state;
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	const struct process_end late = child(50, 40, 1 << 8), early = child(51, 40, 1 << 8);
	const struct proc_id one = {51, 7}, other = {50, 7}, unseen = {52, 7}, earlier = {51, 6};
	assert_non_null(g);
	deathfacts_end(g, &early);
	assert_false(deathfacts_ended_before(g, &one, &other));
	deathfacts_end(g, &late);
	assert_true(deathfacts_ended_before(g, &one, &other));
	assert_false(deathfacts_ended_before(g, &other, &one));
	assert_false(deathfacts_ended_before(g, &unseen, &other));
	assert_false(deathfacts_ended_before(g, &one, &unseen));
	assert_false(deathfacts_ended_before(g, &earlier, &other));
}

static void the_last_child_that_did_not_end_well_is_told_with_its_signal(void **state)
{
	(void)state;
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	const struct signal_sent *sent = NULL;
	const struct deathfacts_span never = {0, 0};
	const struct process_end ends[] = {child(50, 40, 1 << 8), child(51, 40, SIGKILL), child(52, 41, SIGSEGV),
					   child(53, 40, 0)};
	const struct signal_sent signals[] = {{.signal = SIGTERM, .target = 51, .target_start_ticks = 7},
					      {.signal = SIGKILL, .target = 51, .target_start_ticks = 6},
					      {.signal = SIGKILL, .target = 51, .target_start_ticks = 7, .sender = 9}};
	assert_non_null(g);
	assert_null(deathfacts_bad_end(g, 40, never, &sent));
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		deathfacts_end(g, &ends[i]);
	assert_int_equal(deathfacts_bad_end(g, 40, never, &sent)->pid, 51);
	assert_null(sent);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		deathfacts_signal(g, &signals[i]);
	assert_int_equal(deathfacts_bad_end(g, 40, never, &sent)->pid, 51);
	assert_int_equal(sent->sender, 9);
	assert_null(deathfacts_bad_end(g, 42, never, &sent));
}

static void what_ended_badly_in_a_span_of_time_is_told_unless_it_was_a_short_command(void **state)
{
	(void)state;
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	const struct signal_sent *sent = NULL;
	const struct deathfacts_span when = {5000, 9000};
	struct process_end killed = child(50, 40, SIGKILL), worker = child(51, 40, 1 << 8);
	struct process_end tool = child(52, 41, 1 << 8);
	assert_non_null(g);
	killed.time_unix_ms = 4000; /* too early */
	worker.time_unix_ms = 6000;
	tool.time_unix_ms = 7000;
	tool.start_unix_ms = 6500;
	deathfacts_end(g, &killed);
	deathfacts_end(g, &tool);
	assert_null(deathfacts_bad_end(g, 0, when, &sent));
	deathfacts_end(g, &worker);
	assert_int_equal(deathfacts_bad_end(g, 0, when, &sent)->pid, 51);
}

static void a_sigkill_by_hand_stays_unknown_and_lists_what_was_read(void **state)
{
	(void)state;
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	assert_non_null(g);
	int64_t start = clock_unix_ms();
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			(void)pause();
	int status;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	struct death d = death_of(pid, status, start);
	struct deathfacts_logs logs = {NULL, NULL};
	static struct incident i;
	uint64_t t = clock_mono_ns();
	deathfacts_read(g, &logs, &d);
	assert_true(clock_mono_ns() - t < (DEATHFACTS_MS + 200) * NS_PER_MS);
	postmortem(&d, &i);
	assert_int_equal(i.kind, INCIDENT_KILLED_BY);
	assert_int_equal(i.killer, KILLER_UNKNOWN);
	assert_true(i.n_evidence > 3);
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1); /* no child is left behind */
}

static void the_log_s_last_words_come_through_the_helper_process(void **state)
{
	(void)state;
	char path[] = "/tmp/vigil-gather-XXXXXX";
	cleanup(closep) int fd = mkstemp(path);
	assert_true(fd >= 0);
	const char *text = "Traceback (most recent call last):\n  File \"a\"\nValueError: from the log\n";
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	struct death d = death_of(1 << 21, 1 << 8, clock_unix_ms());
	struct deathfacts_logs logs = {.out = "/nowhere/at/all", .err = path};
	static struct incident i;
	deathfacts_read(g, &logs, &d);
	assert_int_equal(unlink(path), 0);
	postmortem(&d, &i);
	assert_string_equal(i.cause.id, "python_exception");
	bool told = false;
	for (size_t b = 0; b < d.n_unavailable; b++)
		told = told || strstr(d.unavailable[b], "stdout cannot be read");
	assert_true(told);
}

static void file_made(char *path, const char *text)
{
	cleanup(closep) int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

/* A traceback in stderr; then steps on stdout, in so many bursts, and its end; then the last words in stderr. */
struct words {
	unsigned bursts;
	size_t not_kept; /* bytes of stderr */
	const char *out_end, *err_end; /* NULL: none */
	bool of_thread; /* the traceback */
	bool watched; /* how the processes of the job end was seen */
};

static void judged_with_steps(struct words w, struct incident *ret)
{
	static const char first[] = "Traceback (most recent call last):\n  File \"a\"\nOSError: refused\n";
	char out_path[] = "/tmp/vigil-gather-XXXXXX", err_path[] = "/tmp/vigil-gather-XXXXXX", err[260], out[200];
	const char *out_end = w.out_end ? w.out_end : "", *err_end = w.err_end ? w.err_end : "";
	const size_t step = strlen("step 1 loss 0.5\n");
	struct streamorder order = {.n = 0};
	const char *thread = w.of_thread ? "Exception in thread writer:\n" : "";
	TEXT_FORMAT(err, "%s%s%s", thread, first, err_end);
	TEXT_FORMAT(out, "step 1 loss 0.5\nstep 2 loss 0.4\nstep 3 loss 0.3\nstep 4 loss 0.2\n%s", out_end);
	file_made(out_path, out);
	file_made(err_path, err);
	streamorder_out(&order, step, 1 * NS_PER_S);
	streamorder_err(&order, strlen(thread) + strlen(first));
	for (unsigned i = 1; i < 4; i++)
		streamorder_out(&order, step, 2 * NS_PER_S + i * (w.bursts > 1 ? NS_PER_S : 1));
	streamorder_out(&order, strlen(out_end), 9 * NS_PER_S);
	streamorder_err(&order, strlen(err_end) + w.not_kept);
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	struct death d = death_of(1 << 21, 1 << 8, clock_unix_ms());
	struct deathfacts_logs logs = {.out = out_path, .err = err_path, .order = &order};
	if (w.watched)
		deathfacts_signals_unavailable(g, NULL);
	deathfacts_read(g, &logs, &d);
	postmortem(&d, ret);
	assert_int_equal(unlink(out_path), 0);
	assert_int_equal(unlink(err_path), 0);
}

static void an_exception_after_which_stdout_went_on_was_handled(void **state)
{
	(void)state;
	static const char last[] = "early stopping: no patience left\n";
	static struct incident i;
	judged_with_steps((struct words){.bursts = 3, .err_end = last}, &i);
	assert_string_equal(i.cause.id, "exit_1");
	assert_non_null(strstr(i.summary, "early stopping"));
	/* what a failing program flushes at its end comes at once */
	judged_with_steps((struct words){.bursts = 1, .err_end = last}, &i);
	assert_string_equal(i.cause.id, "python_exception");
	/* the kept file is not what was read: no order */
	judged_with_steps((struct words){.bursts = 3, .not_kept = 1, .err_end = last}, &i);
	assert_string_equal(i.cause.id, "python_exception");
}

static void the_last_words_may_stand_on_stdout(void **state)
{
	(void)state;
	static const char last[] = "ERROR: the checksum differs\n";
	static struct incident i;
	judged_with_steps((struct words){.bursts = 3, .out_end = last, .watched = true}, &i);
	assert_string_equal(i.cause.id, "exit_1");
	assert_non_null(strstr(i.summary, "the checksum differs"));
	assert_int_equal(i.cause.confidence, CONFIDENCE_LOW);
	/* what was handled is not its last word */
	judged_with_steps((struct words){.bursts = 3, .watched = true}, &i);
	assert_string_equal(i.cause.id, "exit_1");
	assert_null(strstr(i.summary, "refused"));
	judged_with_steps((struct words){.bursts = 1, .out_end = last, .watched = true}, &i);
	assert_string_equal(i.cause.id, "python_exception");
	/* the main thread goes on without a thread that has ended */
	judged_with_steps((struct words){.bursts = 3, .out_end = last, .of_thread = true, .watched = true}, &i);
	assert_string_equal(i.cause.id, "python_exception");
	/* another process of the job may have failed and said that, while this one's steps went on */
	judged_with_steps((struct words){.bursts = 3, .out_end = last}, &i);
	assert_string_equal(i.cause.id, "python_exception");
}

static void a_sender_that_was_seen_is_named(void **state)
{
	(void)state;
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	struct death d = death_of(1 << 21, SIGKILL, clock_unix_ms());
	struct signal_sent s = {
		.signal = SIGKILL, .target = d.pid, .sender = 812, .sender_uid = 1000, .time_unix_ms = d.end_unix_ms};
	TEXT_COPY(s.sender_comm, "bash");
	for (int n = 0; n < 100; n++) { /* more than are kept */
		struct signal_sent other = {.signal = SIGTERM, .target = 1, .sender = 2};
		deathfacts_signal(g, &other);
	}
	deathfacts_signal(g, &s);
	deathfacts_signals_unavailable(g, NULL);
	static struct incident i;
	struct deathfacts_logs logs = {NULL, NULL};
	deathfacts_read(g, &logs, &d);
	postmortem(&d, &i);
	assert_string_equal(i.cause.id, "signal_sent");
	assert_non_null(strstr(i.killer_text, "bash, pid 812, uid 1000"));
}

/* True: the facts have one signal more than `seen`; *ret: the last one. */
static struct signal_sent page_signal_noted(const struct signal_sent *seen, bool watched, int64_t from_unix_ms,
					    size_t *ret_n)
{
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	struct signal_sent noted = {.signal = SIGTERM,
				    .target = 50,
				    .target_start_ticks = 7,
				    .sender = 9,
				    .sender_comm = "vigil",
				    .page_role = "admin",
				    .time_unix_ms = 1000};
	struct signal_sent last = {.signal = 0};
	uint64_t at = 0;
	if (watched)
		deathfacts_signals_unavailable(g, NULL);
	deathfacts_signals_from(g, from_unix_ms);
	if (seen)
		deathfacts_signal(g, seen);
	deathfacts_page_signal(g, &noted);
	deathfacts_page_signal(g, &noted);
	*ret_n = 0;
	for (const struct signal_sent *s; (s = deathfacts_signal_next(g, &at)); (*ret_n)++)
		last = *s;
	return last;
}

static void what_the_page_sent_is_believed_unless_it_was_watched_and_not_seen(void **state)
{
	(void)state;
	struct signal_sent seen = {
		.signal = SIGTERM, .target = 50, .target_start_ticks = 7, .sender = 9, .time_unix_ms = 1002};
	size_t n;
	assert_string_equal(page_signal_noted(&seen, true, 0, &n).page_role, "admin");
	assert_int_equal(n, 1);
	seen.time_unix_ms = 998; /* two clocks, each told in whole milliseconds */
	assert_string_equal(page_signal_noted(&seen, true, 0, &n).page_role, "admin");
	assert_string_equal(page_signal_noted(NULL, false, 0, &n).page_role, "admin");
	assert_int_equal(n, 1); /* noted twice */
	assert_string_equal(page_signal_noted(NULL, true, 1001, &n).page_role, "admin");
	assert_int_equal(n, 1); /* sent before anybody watched */
	(void)page_signal_noted(NULL, true, 999, &n);
	assert_int_equal(n, 0);
	seen.sender = 10; /* a stranger's */
	assert_string_equal(page_signal_noted(&seen, true, 0, &n).page_role, "");
	seen.sender = 9;
	seen.time_unix_ms = 999000; /* of another day */
	assert_string_equal(page_signal_noted(&seen, true, 0, &n).page_role, "");
	assert_int_equal(n, 1);
}

static void signals_are_handed_out_one_by_one_and_those_that_have_gone_are_passed_over(void **state)
{
	(void)state;
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	const struct signal_sent *s;
	uint64_t at = 0, late = 0;
	assert_non_null(g);
	assert_null(deathfacts_signal_next(g, &at));
	for (pid_t pid = 1; pid <= 2; pid++)
		deathfacts_signal(g, &(struct signal_sent){.signal = SIGTERM, .target = pid});
	assert_int_equal(deathfacts_signal_next(g, &at)->target, 1);
	assert_int_equal(deathfacts_signal_next(g, &at)->target, 2);
	assert_null(deathfacts_signal_next(g, &at));
	for (pid_t pid = 3; pid <= 2000; pid++) /* more than are kept */
		deathfacts_signal(g, &(struct signal_sent){.signal = SIGTERM, .target = pid});
	pid_t last = 0;
	for (size_t n = 0; (s = deathfacts_signal_next(g, &late)) != NULL; n++) {
		assert_true(n == 0 ? s->target > 2 : s->target == last + 1);
		last = s->target;
	}
	assert_int_equal(last, 2000);
	assert_null(deathfacts_signal_next(g, &late));
	assert_true(deathfacts_signal_next(g, &at)->target > 2);
}

static void a_clean_exit_costs_no_helper_process(void **state)
{
	(void)state;
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, NULL);
	struct death d = death_of(1 << 21, 0, clock_unix_ms());
	struct deathfacts_logs logs = {NULL, NULL};
	uint64_t t = clock_mono_ns();
	deathfacts_read(g, &logs, &d);
	assert_true(clock_mono_ns() - t < 100 * NS_PER_MS);
	assert_int_equal(d.n_hints, 0);
}

/* A group with a limit of 24 MiB, and a child that wants more: the real kernel, log and counters. */
static void a_real_kernel_kill_at_a_group_s_limit_is_proved_by_its_record(void **state)
{
	(void)state;
	char dir[64], procs[96];
	TEXT_FORMAT(dir, "memory/vigil-test-%d", (int)getpid());
	TEXT_FORMAT(procs, "%s/cgroup.procs", dir);
	if (world.cgroup_fd < 0 || world.kmsg_fd < 0 || mkdirat(world.cgroup_fd, dir, 0755) < 0) {
		print_message("skipped: a memory group cannot be made here (v1, root)\n");
		skip();
	}
	char limit[96];
	TEXT_FORMAT(limit, "%s/memory.limit_in_bytes", dir);
	assert_int_equal(file_write_at(world.cgroup_fd, limit, "25165824"), 0);
	struct cgroup_place place = {.memory_version = CGROUP_V1};
	TEXT_COPY(place.memory, dir);
	TEXT_FORMAT(place.name, "/vigil-test-%d", (int)getpid());
	cleanup(deathfacts_freep) struct deathfacts *g = deathfacts_new(&world, &place);
	assert_non_null(g);
	int64_t start = clock_unix_ms();
	pid_t pid = fork();
	if (pid == 0) {
		if (file_write_at(world.cgroup_fd, procs, "0") < 0)
			_exit(3);
		char *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(p, 1, 64 * MIB);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	struct death d = death_of(pid, status, start);
	TEXT_COPY(d.cgroup, place.name);
	static struct incident i;
	struct deathfacts_logs logs = {NULL, NULL};
	deathfacts_read(g, &logs, &d);
	postmortem(&d, &i);
	assert_int_equal(unlinkat(world.cgroup_fd, dir, AT_REMOVEDIR), 0);
	if (clocks_are_the_kernels())
		assert_int_equal(i.kind, INCIDENT_CGROUP_OOM);
	if (!d.pid_namespaced && clocks_are_the_kernels()) {
		assert_string_equal(i.cause.id, "cgroup_oom");
		assert_int_equal(i.cause.confidence, CONFIDENCE_HIGH);
		assert_non_null(strstr(i.summary, place.name));
		assert_non_null(strstr(i.summary, "24.0 MiB"));
	}
	assert_int_equal(d.groups[0].oom_kills_after - d.groups[0].oom_kills_before, 1);
	assert_string_equal(d.groups[0].group, place.name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_of_two_ended_first_is_told_where_both_ends_were_seen),
		cmocka_unit_test(the_last_child_that_did_not_end_well_is_told_with_its_signal),
		cmocka_unit_test(what_ended_badly_in_a_span_of_time_is_told_unless_it_was_a_short_command),
		cmocka_unit_test(a_sigkill_by_hand_stays_unknown_and_lists_what_was_read),
		cmocka_unit_test(the_log_s_last_words_come_through_the_helper_process),
		cmocka_unit_test(an_exception_after_which_stdout_went_on_was_handled),
		cmocka_unit_test(the_last_words_may_stand_on_stdout),
		cmocka_unit_test(a_sender_that_was_seen_is_named),
		cmocka_unit_test(what_the_page_sent_is_believed_unless_it_was_watched_and_not_seen),
		cmocka_unit_test(signals_are_handed_out_one_by_one_and_those_that_have_gone_are_passed_over),
		cmocka_unit_test(a_clean_exit_costs_no_helper_process),
		cmocka_unit_test(a_real_kernel_kill_at_a_group_s_limit_is_proved_by_its_record),
	};
	return cmocka_run_group_tests_name("agent/incident/deathfacts", tests, open_world, close_world);
}
