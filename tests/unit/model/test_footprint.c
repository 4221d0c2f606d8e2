#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "model/memory/footprint.h"

static void row_add(struct footprint *f, pid_t pid, const char *job, uint64_t own, uint64_t shmem)
{
	f->rows = realloc(f->rows, (f->n + 1) * sizeof(*f->rows));
	assert_non_null(f->rows);
	struct footprint_row *row = &f->rows[f->n++];
	*row = (struct footprint_row){
		.pid = pid, .own_bytes = own, .rss_bytes = own + shmem, .swap_bytes = 3, .shmem_bytes = shmem};
	TEXT_COPY(row->job, job);
}

static void rows_are_sorted_by_own_bytes_and_then_by_pid(void **state)
{
	(void)state;
	struct footprint f = {.n = 0};
	row_add(&f, 30, "", 50, 0);
	row_add(&f, 20, "", 70, 0);
	row_add(&f, 10, "", 50, 0);
	footprint_settle(&f);
	assert_int_equal(f.rows[0].pid, 20);
	assert_int_equal(f.rows[1].pid, 10);
	assert_int_equal(f.rows[2].pid, 30);
	footprint_done(&f);
}

static void sums_are_over_all_rows_and_made_anew_each_time(void **state)
{
	(void)state;
	struct footprint f = {.n = 0};
	row_add(&f, 1, "", 100, 20);
	row_add(&f, 2, "a", 7, 1);
	footprint_settle(&f);
	footprint_settle(&f);
	assert_int_equal(f.own_bytes, 107);
	assert_int_equal(f.rss_bytes, 128);
	assert_int_equal(f.swap_bytes, 6);
	assert_int_equal(f.n_jobs, 1);
	footprint_done(&f);
	assert_null(f.rows);
	assert_int_equal(f.n, 0);
}

static void shared_memory_of_a_job_counts_once(void **state)
{
	(void)state;
	struct footprint f = {.n = 0};
	row_add(&f, 1, "small", 10, 0);
	row_add(&f, 2, "large", 10, 40);
	row_add(&f, 3, "large", 10, 30);
	row_add(&f, 4, "", 1000, 0);
	footprint_settle(&f);
	assert_int_equal(f.n_jobs, 2);
	assert_string_equal(f.job[0].id, "large");
	assert_int_equal(f.job[0].processes, 2);
	assert_int_equal(f.job[0].own_bytes, 20);
	assert_int_equal(f.job[0].shmem_bytes, 40);
	assert_int_equal(f.job[0].swap_bytes, 6);
	assert_string_equal(f.job[1].id, "small");
	footprint_done(&f);
}

static void jobs_that_hold_the_same_are_sorted_by_name(void **state)
{
	(void)state;
	struct footprint f = {.n = 0};
	row_add(&f, 1, "b", 10, 0);
	row_add(&f, 2, "a", 0, 10);
	footprint_settle(&f);
	assert_string_equal(f.job[0].id, "a");
	assert_string_equal(f.job[1].id, "b");
	footprint_done(&f);
}

static void jobs_beyond_the_table_are_left_out(void **state)
{
	(void)state;
	struct footprint f = {.n = 0};
	for (int i = 0; i < FOOTPRINT_JOBS + 5; i++) {
		char id[32];
		snprintf(id, sizeof(id), "job-%d", i);
		row_add(&f, i + 1, id, 10, 0);
	}
	footprint_settle(&f);
	assert_int_equal(f.n_jobs, FOOTPRINT_JOBS);
	assert_int_equal(f.own_bytes, 10 * (FOOTPRINT_JOBS + 5));
	footprint_done(&f);
}

static void sums_stop_at_the_largest_number(void **state)
{
	(void)state;
	struct footprint f = {.n = 0};
	row_add(&f, 1, "a", UINT64_MAX - 1, 0);
	row_add(&f, 2, "a", 5, 0);
	footprint_settle(&f);
	assert_true(f.own_bytes == UINT64_MAX);
	assert_true(f.job[0].own_bytes == UINT64_MAX);
	footprint_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_by_own_bytes_and_then_by_pid),
		cmocka_unit_test(sums_are_over_all_rows_and_made_anew_each_time),
		cmocka_unit_test(shared_memory_of_a_job_counts_once),
		cmocka_unit_test(jobs_that_hold_the_same_are_sorted_by_name),
		cmocka_unit_test(jobs_beyond_the_table_are_left_out),
		cmocka_unit_test(sums_stop_at_the_largest_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
