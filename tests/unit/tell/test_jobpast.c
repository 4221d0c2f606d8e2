#include "testing.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/units.h"
#include "sense/rank.h"
#include "tell/jobs/jobpast.h"

static char path[64];
static struct series_writer *writer;
static char *text;

static int begin(void **state)
{
	(void)state;
	TEXT_COPY(path, "/tmp/jobpastXXXXXX");
	int fd = mkstemp(path);
	closep(&fd);
	return fd == -1 ? series_create(path, SERIES_MAX_BYTES, &writer) : -1;
}

static int end(void **state)
{
	(void)state;
	writer = series_close(writer);
	free(text);
	text = NULL;
	return unlink(path);
}

static struct span written(void)
{
	size_t len;
	assert_int_equal(series_flush(writer), 0);
	free(text);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 22, &text, &len), 0);
	return (struct span){text, len};
}

static void steps(uint32_t attempt, uint64_t s, uint64_t rank0, uint64_t rank1, uint64_t total)
{
	struct series_steps row = {
		.time_unix_ms = (int64_t)(s * 1000), .mono_ns = s * NS_PER_S, .attempt = attempt, .n = 2};
	row.of[0] = (struct series_step){.rank = 0, .has_total = total > 0, .step = rank0, .total = total};
	row.of[1] = (struct series_step){.rank = 1, .has_total = total > 0, .step = rank1, .total = total};
	assert_int_equal(series_add_steps(writer, &row), 0);
}

static void cells_are(const struct job_steps *s, const struct job_step *step, int64_t now_unix_ms, const char *at,
		      const char *rate, const char *left)
{
	struct job_step_cells cells;
	job_step_cells(s, step, now_unix_ms, &cells);
	assert_string_equal(cells.step, at);
	assert_string_equal(cells.rate, rate);
	assert_string_equal(cells.left, left);
}

static void the_last_step_and_the_rate_of_the_last_minute_are_told(void **state)
{
	(void)state;
	static struct job_steps s;
	char words[160];
	steps(0, 5, 4000, 4000, 5000); /* another attempt */
	steps(1, 10, 1, 1, 5000);
	steps(1, 100, 600, 600, 5000); /* more than a minute before the last */
	steps(1, 200, 700, 700, 5000);
	steps(1, 210, 720, 715, 5000);
	steps(1, 230, 760, 760, 5000);
	assert_true(job_steps_of(written(), 1, &s)); /* what stands before is of no interest */
	assert_int_equal(s.n, 2);
	const struct job_step *one = job_steps_find(&s, 1);
	assert_true(one && one->step == 760 && one->has_total && one->total == 5000 && one->has_rate);
	assert_true(one->per_s > 1.99 && one->per_s < 2.01);
	assert_null(job_steps_find(&s, 2));
	job_steps_text(&s, 231000, words, sizeof(words));
	assert_string_equal(words, "step 760 of 5000, 2/s, 35 m 20 s left");
	job_steps_text(&s, 0, words, sizeof(words));
	assert_string_equal(words, "step 760 of 5000");
	job_steps_text(&s, 231000 + 3 * 60000, words, sizeof(words));
	assert_string_equal(words, "step 760 of 5000, no other for 3 m 01 s");
	cells_are(&s, one, 231000, "760/5000", "2/s", "35 m 20 s");
	cells_are(&s, one, 0, "760/5000", "-", "-"); /* it has ended */
	cells_are(&s, one, 231000 + 3 * 60000, "760/5000", "-", "-"); /* it stands */
	/* of two steps a second none for 20 s is no rate any more */
	cells_are(&s, one, 250000, "760/5000", "2/s", "35 m 20 s");
	cells_are(&s, one, 250001, "760/5000", "-", "-");
	job_steps_text(&s, 250001, words, sizeof(words));
	assert_string_equal(words, "step 760 of 5000, no other for 20.0 s");
	cells_are(&s, NULL, 231000, "-", "-", "-");
	job_steps_of(written(), 2, &s);
	assert_int_equal(s.n, 0);
	assert_null(job_steps_low(&s));
	job_steps_text(&s, 231000, words, sizeof(words));
	assert_string_equal(words, "");
}

static void ranks_that_are_apart_are_told_apart(void **state)
{
	(void)state;
	static struct job_steps s;
	char words[160];
	steps(0, 10, 7, 9, 0);
	assert_false(job_steps_of(written(), 0, &s)); /* an earlier record could give them a rate */
	job_steps_text(&s, 11000, words, sizeof(words));
	assert_string_equal(words, "steps 7 to 9");
	assert_int_equal(job_steps_low(&s)->step, 7);
	assert_false(s.of[0].has_rate);
}

static void a_job_of_few_steps_stands_later(void **state)
{
	(void)state;
	static struct job_steps s;
	steps(0, 10, 1, 1, 100);
	steps(0, 40, 2, 2, 100);
	steps(0, 70, 3, 3, 100);
	job_steps_of(written(), 0, &s);
	cells_are(&s, &s.of[0], 129000, "3/100", "0.033/s", "48 m 30 s");
	cells_are(&s, &s.of[0], 131000, "3/100", "-", "-");
}

static void a_step_that_begins_anew_has_no_rate_of_less_than_nothing(void **state)
{
	(void)state;
	static struct job_steps s;
	steps(0, 10, 990, 990, 1000);
	steps(0, 20, 5, 5, 1000);
	job_steps_of(written(), 0, &s);
	assert_false(s.of[0].has_rate);
	steps(0, 30, 25, 25, 1000);
	job_steps_of(written(), 0, &s);
	assert_true(s.of[0].has_rate && s.of[0].per_s > 1.9 && s.of[0].per_s < 2.1);
}

static void a_process_has_its_latest_rank_role_and_end(void **state)
{
	(void)state;
	struct series_process p = {.pid = 9, .start_ticks = 5, .rank = NO_RANK, .started_unix_ms = 100};
	struct series_process *list = NULL;
	size_t n = 0;
	TEXT_COPY(p.role, "main");
	assert_int_equal(series_add_process(writer, &p), 0);
	p.rank = 0;
	assert_int_equal(series_add_process(writer, &p), 0);
	p.ended_unix_ms = 900;
	assert_int_equal(series_add_process(writer, &p), 0);
	p = (struct series_process){.pid = 9, .start_ticks = 6, .rank = 3, .started_unix_ms = 50};
	assert_int_equal(series_add_process(writer, &p), 0);
	steps(0, 10, 7, 9, 0);
	assert_int_equal(job_processes_of(written(), &list, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(list[0].rank, 3);
	assert_int_equal(list[1].rank, 0);
	assert_int_equal(list[1].ended_unix_ms, 900);
	assert_string_equal(list[1].role, "main");
	free(list);
}

static void a_file_that_is_no_series_has_nothing(void **state)
{
	(void)state;
	static struct job_steps s;
	struct series_process *list = NULL;
	size_t n = 7;
	job_steps_of(SPAN("no series"), 0, &s);
	assert_int_equal(s.n, 0);
	assert_int_equal(job_processes_of((struct span){NULL, 0}, &list, &n), 0);
	assert_int_equal(n, 0);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_step_and_the_rate_of_the_last_minute_are_told, begin, end),
		cmocka_unit_test_setup_teardown(a_job_of_few_steps_stands_later, begin, end),
		cmocka_unit_test_setup_teardown(ranks_that_are_apart_are_told_apart, begin, end),
		cmocka_unit_test_setup_teardown(a_step_that_begins_anew_has_no_rate_of_less_than_nothing, begin, end),
		cmocka_unit_test_setup_teardown(a_process_has_its_latest_rank_role_and_end, begin, end),
		cmocka_unit_test(a_file_that_is_no_series_has_nothing),
	};
	return cmocka_run_group_tests_name("tell/jobs/jobpast", tests, NULL, NULL);
}
