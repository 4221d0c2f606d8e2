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

static void rank_add(struct footprint *f, const char *job, int32_t rank, int32_t world_size)
{
	row_add(f, (pid_t)f->n + 1, job, 1, 0);
	f->rows[f->n - 1].has_role = true;
	f->rows[f->n - 1].who = (struct role_info){.rank = rank, .world_size = world_size, .role = ROLE_MAIN};
}

static void the_node_of_rank_0_is_a_head_where_other_ranks_are_elsewhere(void **state)
{
	(void)state;
	struct footprint f = {.n = 0};
	rank_add(&f, "here", 0, 2);
	rank_add(&f, "here", 1, 2);
	footprint_head(&f);
	assert_string_equal(f.head_of, ""); /* all of it is here */
	rank_add(&f, "large", 4, 8);
	footprint_head(&f);
	assert_string_equal(f.head_of, ""); /* its rank 0 is not */
	rank_add(&f, "other", 0, 4);
	footprint_head(&f);
	assert_string_equal(f.head_of, "job other");
	footprint_done(&f);
}

static void a_ray_node_with_the_global_store_is_a_head(void **state)
{
	(void)state;
	struct footprint f = {.ray = calloc(1, sizeof(*f.ray)), .n_rays = 1};
	assert_non_null(f.ray);
	f.ray[0].part[0] = (struct raynode_part){.kind = "raylet"};
	f.ray[0].n_parts = 1;
	footprint_head(&f);
	assert_string_equal(f.head_of, "");
	f.ray[0].part[f.ray[0].n_parts++] = (struct raynode_part){.kind = "gcs_server"};
	footprint_head(&f);
	assert_string_equal(f.head_of, "Ray");
	footprint_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_by_own_bytes_and_then_by_pid),
		cmocka_unit_test(the_node_of_rank_0_is_a_head_where_other_ranks_are_elsewhere),
		cmocka_unit_test(a_ray_node_with_the_global_store_is_a_head),
		cmocka_unit_test(sums_are_over_all_rows_and_made_anew_each_time),
		cmocka_unit_test(shared_memory_of_a_job_counts_once),
		cmocka_unit_test(jobs_that_hold_the_same_are_sorted_by_name),
		cmocka_unit_test(jobs_beyond_the_table_are_left_out),
		cmocka_unit_test(sums_stop_at_the_largest_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
