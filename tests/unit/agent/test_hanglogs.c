#include "testing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/hang/hanglogs.h"
#include "base/buf.h"
#include "base/file.h"

static char dir[64];

static void append(const char *name, const char *text)
{
	char path[128];
	TEXT_FORMAT(path, "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static int folder_make(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-hanglogs-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int folder_drop(void **state)
{
	(void)state;
	static const char *const names[] = {"rank-0.out", "rank-0.err", "rank-1.out"};
	char path[128];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		TEXT_FORMAT(path, "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
	return rmdir(dir);
}

static struct liveness_counters seen_of(struct hanglogs *l, int32_t alone, int32_t rank)
{
	struct liveness_counters s = {.rank = rank};
	hanglogs_fill(l, alone, &s);
	return s;
}

static void each_rank_has_its_own_steps(void **state)
{
	(void)state;
	const int32_t ranks[] = {0, 1};
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, ranks, 2);
	hanglogs_read(l, NULL, NS_PER_S, 0); /* no files yet */
	append("rank-0.out", "step 3/10\nstep 4/10\nstep 5/");
	append("rank-1.out", "step 7/10\n");
	hanglogs_read(l, NULL, 2 * NS_PER_S, 0);
	struct liveness_counters s = seen_of(l, NO_RANK, 0);
	assert_true(s.has_progress && s.progress.has_step);
	assert_int_equal(s.progress.step, 4);
	assert_int_equal(s.count[LIVENESS_LOG_LINES], 2);
	assert_int_equal(s.count[LIVENESS_LOG_BYTES], 27);
	assert_int_equal(seen_of(l, NO_RANK, 1).progress.step, 7);
	append("rank-0.out", "10\n");
	hanglogs_read(l, NULL, 3 * NS_PER_S, 0);
	s = seen_of(l, NO_RANK, 0);
	assert_int_equal(s.progress.step, 5);
	assert_int_equal(s.progress.last_step_ns, 3 * NS_PER_S);
	assert_int_equal(hanglogs_bytes(l, NO_RANK, 0), 30);
	hanglogs_free(l);
}

static void written_at(const char *name, int64_t unix_ms)
{
	char path[128];
	const struct timespec t[2] = {{.tv_nsec = UTIME_OMIT},
				      {.tv_sec = unix_ms / 1000, .tv_nsec = unix_ms % 1000 * 1000000}};
	TEXT_FORMAT(path, "%s/%s", dir, name);
	assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
}

/* Looks are a second apart; when the step was made stands in the file's time, in the line, or is not known. */
static void a_step_s_time_is_the_file_s_or_the_line_s(void **state)
{
	(void)state;
	const int64_t unix_ms = 1795860281000; /* 2026-11-28T10:04:41 UTC */
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.out", "step 100/1000\n");
	written_at("rank-0.out", unix_ms - 300);
	hanglogs_read(l, NULL, 50 * NS_PER_S, unix_ms);
	struct liveness_progress p = seen_of(l, NO_RANK, NO_RANK).progress;
	assert_int_equal(p.last_step_ns, 50 * NS_PER_S - 300 * NS_PER_MS);
	assert_int_equal(p.last_step_slack_ns, 0);
	/* another line comes behind it */
	append("rank-0.out", "step 101/1000\nheartbeat ok\n");
	written_at("rank-0.out", unix_ms + 900);
	hanglogs_read(l, NULL, 51 * NS_PER_S, unix_ms + 1000);
	p = seen_of(l, NO_RANK, NO_RANK).progress;
	assert_true(p.last_step_ns == 51 * NS_PER_S && p.last_step_slack_ns == NS_PER_S);
	/* it says its time, in another zone */
	append("rank-0.out", "2026-11-28 15:34:42,600 INFO step 102/1000\nheartbeat ok\n");
	hanglogs_read(l, NULL, 52 * NS_PER_S, unix_ms + 2000);
	p = seen_of(l, NO_RANK, NO_RANK).progress;
	assert_int_equal(p.last_step_ns, 52 * NS_PER_S - 400 * NS_PER_MS);
	assert_int_equal(p.last_step_slack_ns, 0);
	/* of another day: the clocks differ */
	append("rank-0.out", "2020-11-28 15:34:43,600 INFO step 103/1000\n");
	written_at("rank-0.out", unix_ms - 86400000);
	hanglogs_read(l, NULL, 53 * NS_PER_S, unix_ms + 3000);
	p = seen_of(l, NO_RANK, NO_RANK).progress;
	assert_true(p.last_step_ns == 53 * NS_PER_S && p.last_step_slack_ns == NS_PER_S);
	hanglogs_free(l);
}

/* Ranks that share an output tell of the same step right after each other: the last line's time is that of all. */
static void the_last_line_s_time_is_that_of_ranks_at_its_step(void **state)
{
	(void)state;
	const int64_t unix_ms = 1795860281000;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.out", "rank 0: step 5\nrank 1: step 5\n");
	hanglogs_read(l, NULL, 50 * NS_PER_S, unix_ms);
	append("rank-0.out", "rank 2: step 5\nrank 0: step 6\nrank 1: step 7\nrank 2: step 6\n");
	written_at("rank-0.out", unix_ms + 800);
	hanglogs_read(l, NULL, 51 * NS_PER_S, unix_ms + 1000);
	for (int32_t rank = 0; rank < 3; rank += 2) {
		struct liveness_progress p = seen_of(l, NO_RANK, rank).progress;
		assert_true(p.last_step_ns == 51 * NS_PER_S - 200 * NS_PER_MS && p.last_step_slack_ns == 0);
	}
	struct liveness_progress p = seen_of(l, NO_RANK, 1).progress; /* it was at another one: when, is not known */
	assert_true(p.last_step_ns == 51 * NS_PER_S && p.last_step_slack_ns == NS_PER_S);
	hanglogs_free(l);
}

/* The same where the lines do not say whose they are. */
static void a_step_told_again_at_once_has_the_file_s_time(void **state)
{
	(void)state;
	const int64_t unix_ms = 1795860281000;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.out", "step 1\nstep 1\n");
	hanglogs_read(l, NULL, 50 * NS_PER_S, unix_ms);
	append("rank-0.out", "step 2\nstep 2\n");
	written_at("rank-0.out", unix_ms + 600);
	hanglogs_read(l, NULL, 51 * NS_PER_S, unix_ms + 1000);
	struct liveness_progress p = seen_of(l, NO_RANK, NO_RANK).progress;
	assert_true(p.last_step_ns == 51 * NS_PER_S - 400 * NS_PER_MS && p.last_step_slack_ns == 0);
	/* a second later it is a line of its own */
	append("rank-0.out", "step 3\n");
	written_at("rank-0.out", unix_ms + 1500);
	hanglogs_read(l, NULL, 52 * NS_PER_S, unix_ms + 2000);
	append("rank-0.out", "step 3\n");
	written_at("rank-0.out", unix_ms + 2900);
	hanglogs_read(l, NULL, 53 * NS_PER_S, unix_ms + 3000);
	p = seen_of(l, NO_RANK, NO_RANK).progress;
	assert_true(p.last_step_ns == 52 * NS_PER_S - 500 * NS_PER_MS && p.last_step_slack_ns == 0);
	hanglogs_free(l);
}

static void a_bar_is_read_as_it_stands(void **state)
{
	(void)state;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.err", "\r  8%|#         | 151/1909 [00:46<07:57,  3.68it/s]");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	struct liveness_counters s = seen_of(l, NO_RANK, NO_RANK);
	assert_int_equal(s.progress.step, 151);
	assert_int_equal(s.count[LIVENESS_LOG_LINES], 1);
	/* torn: not yet */
	append("rank-0.err", "\r  8%|#         | 15");
	hanglogs_read(l, NULL, 2 * NS_PER_S, 0);
	append("rank-0.err", "2/1909 [00:47<07:57,  3.68it/s]\n");
	hanglogs_read(l, NULL, 3 * NS_PER_S, 0);
	s = seen_of(l, NO_RANK, NO_RANK);
	assert_int_equal(s.progress.step, 152);
	assert_int_equal(s.count[LIVENESS_LOG_LINES], 2);
	hanglogs_free(l);
}

static void lines_of_a_launcher_go_to_the_rank_they_name(void **state)
{
	(void)state;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.err", "[rank2]: step 8/10\n[rank0]: step 9/10\n");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	assert_int_equal(seen_of(l, NO_RANK, 2).progress.step, 8);
	assert_int_equal(seen_of(l, NO_RANK, 0).progress.step, 9);
	assert_int_equal(seen_of(l, NO_RANK, 2).has, 0); /* the bytes are the launcher's */
	hanglogs_free(l);
}

static void the_output_of_a_job_of_one_is_that_of_its_rank(void **state)
{
	(void)state;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.err", "step 2/10\n");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	assert_false(seen_of(l, NO_RANK, 5).has_progress);
	assert_int_equal(seen_of(l, 5, 5).progress.step, 2);
	assert_true(hanglogs_bytes(l, 5, 5) > 0);
	hanglogs_free(l);
}

static void lines_that_name_the_only_rank_are_its_own(void **state)
{
	(void)state;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	hanglogs_know(l, 0);
	append("rank-0.err", "a line of nobody's\n[rank 0] step 2/10\n");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	assert_int_equal(seen_of(l, 0, 0).progress.step, 2);
	assert_int_equal(seen_of(l, 0, 0).count[LIVENESS_LOG_LINES], 2);
	hanglogs_free(l);
}

static void lines_of_a_job_without_ranks_may_name_one(void **state)
{
	(void)state;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.err", "[rank 0] step 2/10\n");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	assert_int_equal(seen_of(l, NO_RANK, NO_RANK).progress.step, 2);
	hanglogs_know(l, 0);
	assert_false(seen_of(l, NO_RANK, NO_RANK).has_progress);
	hanglogs_free(l);
}

static void numbers_within_a_node_are_those_of_its_ranks(void **state)
{
	(void)state;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	for (int32_t rank = 4; rank < 6; rank++)
		hanglogs_know(l, rank);
	append("rank-0.err", "[default0]:step 2/10\n[GPU1] Epoch 3 step 3/10\n");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	assert_int_equal(seen_of(l, NO_RANK, 4).progress.step, 2);
	assert_int_equal(seen_of(l, NO_RANK, 5).progress.step, 3);
	assert_false(seen_of(l, NO_RANK, 0).has_progress);
	hanglogs_free(l);
}

static void a_flood_is_passed_over_and_counted(void **state)
{
	(void)state;
	struct hanglogs *l = hanglogs_new(NULL);
	hanglogs_begin(l, dir, NULL, 0);
	char block[4097];
	memset(block, 'x', sizeof(block) - 1);
	block[4096] = '\0';
	for (int i = 0; i < 100; i++)
		append("rank-0.out", block);
	append("rank-0.out", "\nstep 77/100\n");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	assert_int_equal(hanglogs_bytes(l, NO_RANK, NO_RANK), 100 * 4096 + 13);
	assert_int_equal(seen_of(l, NO_RANK, NO_RANK).progress.step, 77);
	hanglogs_free(l);
}

static void a_user_says_what_a_step_looks_like(void **state)
{
	(void)state;
	static struct progress_patterns user;
	char why[160];
	size_t at;
	assert_int_equal(progress_pattern_init(&user.each[0],
					       span_of("it=(?<step>\\d+) of (?<total>\\d+) \\| L=(?<loss>[^ ]+)"), why,
					       &at),
			 0);
	user.n = 1;
	struct hanglogs *l = hanglogs_new(&user);
	hanglogs_begin(l, dir, NULL, 0);
	append("rank-0.out", "[train] it=11 of 1000 | L=0.5\n[train] it=12 of 1000 | L=nan\n");
	hanglogs_read(l, NULL, NS_PER_S, 0);
	struct liveness_counters s = seen_of(l, NO_RANK, NO_RANK);
	assert_true(s.has_progress && s.progress.step == 12 && s.progress.total == 1000);
	assert_true(s.progress.loss_broken && s.progress.loss_has_step && s.progress.loss_broken_step == 12);
	hanglogs_free(l);
	progress_pattern_done(&user.each[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_rank_has_its_own_steps, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(a_step_s_time_is_the_file_s_or_the_line_s, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(the_last_line_s_time_is_that_of_ranks_at_its_step, folder_make,
						folder_drop),
		cmocka_unit_test_setup_teardown(a_step_told_again_at_once_has_the_file_s_time, folder_make,
						folder_drop),
		cmocka_unit_test_setup_teardown(a_bar_is_read_as_it_stands, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(lines_of_a_launcher_go_to_the_rank_they_name, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(the_output_of_a_job_of_one_is_that_of_its_rank, folder_make,
						folder_drop),
		cmocka_unit_test_setup_teardown(a_user_says_what_a_step_looks_like, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(lines_that_name_the_only_rank_are_its_own, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(lines_of_a_job_without_ranks_may_name_one, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(numbers_within_a_node_are_those_of_its_ranks, folder_make, folder_drop),
		cmocka_unit_test_setup_teardown(a_flood_is_passed_over_and_counted, folder_make, folder_drop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
