#include "testing.h"

#include "agent/made_world.h"
#include "agent/jobs/logfiles.h"

static struct made_world made;
static struct logfiles files;
static char got[200000];
static size_t n_lines;
static size_t stop_after; /* 0: never */

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	files = (struct logfiles){.files = NULL};
	got[0] = '\0';
	n_lines = stop_after = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	logfiles_done(&files);
	made_end(&made);
	return 0;
}

static void make(const char *path, const char *text)
{
	char dir[200];
	TEXT_COPY(dir, path);
	char *slash = strrchr(dir, '/');
	if (slash) {
		*slash = '\0';
		made_folder(&made, dir);
	}
	made_write(&made, path, text, strlen(text));
}

static void append(const char *path, const char *text)
{
	char full[300];
	TEXT_FORMAT(full, "%s/%s", made.dir, path);
	cleanup(closep) int fd = open(full, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* Each line between '<' and '>'. */
static int take_line(void *ctx, const struct logfile *f, const char *text, size_t len)
{
	size_t at = strlen(got);
	(void)ctx;
	assert_non_null(f);
	assert_true(at + len + 3 < sizeof(got));
	got[at] = '<';
	memcpy(got + at + 1, text, len);
	memcpy(got + at + 1 + len, ">", 2);
	return ++n_lines == stop_after;
}

static int read_first(bool raw, bool last)
{
	got[0] = '\0';
	return logfiles_read(&files.files[0], raw, last, take_line, NULL);
}

static void open_one(const char *text)
{
	make("attempt-0/rank-0.out", text);
	assert_int_equal(logfiles_open(&files, made.dir, 0, -1, LOGFILES_OUT), 0);
	assert_int_equal(files.n, 1);
}

static void the_newest_attempt_is_the_highest_number(void **state)
{
	(void)state;
	uint32_t newest = 7;
	assert_int_equal(logfiles_newest(made.dir, &newest), -ENOENT);
	made_folder(&made, "attempt-x");
	made_folder(&made, "attempt-4294967296");
	made_folder(&made, "an-attempt-90");
	assert_int_equal(logfiles_newest(made.dir, &newest), -ENOENT);
	assert_int_equal(newest, 7);
	made_folder(&made, "attempt-0");
	assert_int_equal(logfiles_newest(made.dir, &newest), 0);
	assert_int_equal(newest, 0);
	made_folder(&made, "attempt-9");
	made_folder(&made, "attempt-10");
	assert_int_equal(logfiles_newest(made.dir, &newest), 0);
	assert_int_equal(newest, 10);
	assert_int_equal(logfiles_newest("/nowhere/at/all", &newest), -ENOENT);
}

static void files_are_sorted_by_rank_and_stdout_comes_first(void **state)
{
	(void)state;
	static const char *const names[] = {"rank-10.out", "rank-2.err", "rank-2.out", "rank-0.err"};
	static const char *const others[] = {"rank-1.txt",  "rank-.out", "rank--1.out",
					     "rank-1x.err", "notes",	 "rank-3.outs"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[64];
		TEXT_FORMAT(path, "attempt-3/%s", names[i]);
		make(path, "x\n");
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		char path[64];
		TEXT_FORMAT(path, "attempt-3/%s", others[i]);
		make(path, "x\n");
	}
	assert_int_equal(logfiles_open(&files, made.dir, 3, -1, LOGFILES_OUT | LOGFILES_ERR), 0);
	assert_int_equal(files.n, 4);
	assert_int_equal(files.attempt, 3);
	static const int32_t ranks[] = {0, 2, 2, 10};
	static const bool err[] = {true, false, true, false};
	for (size_t i = 0; i < files.n; i++) {
		assert_int_equal(files.files[i].rank, ranks[i]);
		assert_int_equal(files.files[i].err, err[i]);
	}
}

static void a_second_opening_adds_only_new_files(void **state)
{
	(void)state;
	open_one("a\n");
	files.files[0].at = 2;
	make("attempt-0/rank-1.out", "b\n");
	make("attempt-0/rank-1.err", "c\n");
	assert_int_equal(logfiles_open(&files, made.dir, 0, -1, LOGFILES_OUT), 0);
	assert_int_equal(files.n, 2);
	assert_int_equal(files.files[0].at, 2);
	assert_int_equal(files.files[1].rank, 1);
	assert_int_equal(logfiles_open(&files, made.dir, 0, 1, LOGFILES_ERR), 0);
	assert_int_equal(files.n, 3);
	assert_true(files.files[2].err);
	assert_int_equal(logfiles_open(&files, made.dir, 4, -1, LOGFILES_OUT), -ENOENT);
}

static void the_tail_counts_lines_from_the_end(void **state)
{
	(void)state;
	open_one("one\ntwo\nthree\n");
	static const struct {
		uint64_t lines;
		const char *rest;
	} cases[] = {{0, ""},
		     {1, "<three\n>"},
		     {2, "<two\n><three\n>"},
		     {3, "<one\n><two\n><three\n>"},
		     {9, "<one\n><two\n><three\n>"}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(logfiles_tail(&files.files[0], cases[i].lines), 0);
		assert_int_equal(read_first(false, false), 0);
		assert_string_equal(got, cases[i].rest);
	}
}

static void a_tail_without_a_last_newline_counts_it_as_a_line(void **state)
{
	(void)state;
	open_one("one\ntwo");
	assert_int_equal(logfiles_tail(&files.files[0], 1), 0);
	assert_int_equal(read_first(false, true), 0);
	assert_string_equal(got, "<two>");
}

static void the_tail_reaches_over_many_blocks(void **state)
{
	(void)state;
	static char text[40001];
	for (size_t i = 0; i < 400; i++) /* 400 lines of 100 bytes: five blocks */
		(void)snprintf(text + i * 100, 101, "%098zu|\n", i);
	open_one(text);
	assert_int_equal(logfiles_tail(&files.files[0], 300), 0);
	assert_int_equal(files.files[0].at, 10000);
	assert_int_equal(logfiles_tail(&files.files[0], 400), 0);
	assert_int_equal(files.files[0].at, 0);
}

static void an_open_line_waits_for_its_end(void **state)
{
	(void)state;
	open_one("one\ntw");
	assert_int_equal(read_first(false, false), 0);
	assert_string_equal(got, "<one\n>");
	append("attempt-0/rank-0.out", "o\nthr");
	assert_int_equal(read_first(false, false), 0);
	assert_string_equal(got, "<two\n>");
	assert_int_equal(read_first(false, true), 0); /* the job has ended: so has the line */
	assert_string_equal(got, "<thr>");
	assert_int_equal(read_first(false, true), 0);
	assert_string_equal(got, "");
}

static void a_progress_bar_gives_a_line_at_each_redrawing(void **state)
{
	(void)state;
	open_one("10%\r20%\r\n\rdone\n");
	assert_int_equal(read_first(false, false), 0);
	assert_string_equal(got, "<10%\r><20%\r\n><\rdone\n>");
}

static void raw_bytes_do_not_wait(void **state)
{
	(void)state;
	open_one("one\ntw");
	assert_int_equal(read_first(true, false), 0);
	assert_string_equal(got, "<one\ntw>");
}

static void a_line_that_is_too_long_comes_in_parts(void **state)
{
	(void)state;
	static char text[70001];
	memset(text, 'x', 70000);
	text[69999] = '\n';
	open_one(text);
	assert_int_equal(read_first(false, false), 0);
	assert_int_equal(n_lines, 2);
	assert_int_equal(strlen(got), 70000 + 4);
	assert_int_equal(strcspn(got + 1, ">"), 65536);
}

static void the_reader_can_stop_and_go_on(void **state)
{
	(void)state;
	open_one("one\ntwo\n");
	stop_after = 1;
	assert_int_equal(read_first(false, false), -ECANCELED);
	assert_string_equal(got, "<one\n>");
}

#define LOG_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOG_TEST(the_newest_attempt_is_the_highest_number),
		LOG_TEST(files_are_sorted_by_rank_and_stdout_comes_first),
		LOG_TEST(a_second_opening_adds_only_new_files),
		LOG_TEST(the_tail_counts_lines_from_the_end),
		LOG_TEST(a_tail_without_a_last_newline_counts_it_as_a_line),
		LOG_TEST(the_tail_reaches_over_many_blocks),
		LOG_TEST(an_open_line_waits_for_its_end),
		LOG_TEST(a_progress_bar_gives_a_line_at_each_redrawing),
		LOG_TEST(raw_bytes_do_not_wait),
		LOG_TEST(a_line_that_is_too_long_comes_in_parts),
		LOG_TEST(the_reader_can_stop_and_go_on),
	};
	return cmocka_run_group_tests_name("cli/logfiles", tests, NULL, NULL);
}
