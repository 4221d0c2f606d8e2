/* What is known of a job by its series file: of its steps, by the end of the file, and of its processes. */
#include "scratch_fixture.h"

#include "agent/jobs/past.h"
#include "sense/rank.h"

#define LANES 64

static struct job job;
static char *whole; /* the file, for comparison */
static size_t whole_len;

static void file_begin(struct series_writer **w)
{
	job = (struct job){.attempt = 1};
	TEXT_COPY(job.log_dir, scratch);
	assert_int_equal(series_create(scratch_path(SERIES_FILE), SERIES_MAX_BYTES, w), 0);
}

static void steps_add(struct series_writer *w, uint64_t s, uint64_t step)
{
	struct series_steps row = {.time_unix_ms = (int64_t)(s * 1000), .mono_ns = s * NS_PER_S, .attempt = 1, .n = 2};
	row.of[0] = (struct series_step){.rank = 0, .step = step};
	row.of[1] = (struct series_step){.rank = 1, .step = step + 3};
	assert_int_equal(series_add_steps(w, &row), 0);
	assert_int_equal(series_flush(w), 0);
}

/* Samples of 64 ranks: some 5 KiB each. */
static void samples_add(struct series_writer *w, uint64_t s, size_t n)
{
	static struct series_sample row;
	for (size_t i = 0; i < n; i++) {
		row = (struct series_sample){.time_unix_ms = (int64_t)((s + i) * 1000),
					     .mono_ns = (s + i) * NS_PER_S,
					     .attempt = 1,
					     .n_lanes = LANES};
		for (uint32_t k = 0; k < LANES; k++)
			row.lane[k] = (struct series_lane){.rank = (int32_t)k, .processes = 1, .has_io = true};
		assert_int_equal(series_add_sample(w, &row), 0);
		assert_int_equal(series_flush(w), 0);
	}
}

static void file_end(struct series_writer *w)
{
	int error;
	series_close(w);
	free(whole);
	whole = past_read(&job, &whole_len, &error);
	assert_non_null(whole);
}

static void assert_as_in_the_whole(const struct job_steps *s)
{
	static struct job_steps all;
	ignore(job_steps_of((struct span){whole, whole_len}, 1, &all), "the whole file");
	assert_int_equal(s->n, all.n);
	assert_int_equal(s->time_unix_ms, all.time_unix_ms);
	for (uint32_t i = 0; i < all.n; i++) {
		assert_int_equal(s->of[i].rank, all.of[i].rank);
		assert_int_equal(s->of[i].step, all.of[i].step);
		assert_int_equal(s->of[i].has_rate, all.of[i].has_rate);
		assert_true(s->of[i].per_s >= all.of[i].per_s && s->of[i].per_s <= all.of[i].per_s);
	}
}

static void steps_at_the_end_are_told_by_the_end(void **state)
{
	(void)state;
	static struct job_steps s;
	struct series_writer *w;
	file_begin(&w);
	for (uint64_t i = 0; i < 200; i++) {
		samples_add(w, 10 + i, 1);
		steps_add(w, 10 + i, i * 2);
	}
	file_end(w);
	assert_true(whole_len > 512 * KIB);
	past_steps_tail(&job, &s);
	assert_true(s.n == 2 && s.of[0].has_rate);
	assert_as_in_the_whole(&s);
	past_steps(&job, &s);
	assert_as_in_the_whole(&s);
}

static void steps_that_are_far_back_are_found_by_who_asks_for_all(void **state)
{
	(void)state;
	static struct job_steps s;
	struct series_writer *w;
	file_begin(&w);
	steps_add(w, 10, 1);
	steps_add(w, 20, 21);
	samples_add(w, 30, 400);
	file_end(w);
	assert_true(whole_len > MIB);
	past_steps(&job, &s);
	assert_true(s.n == 2 && s.of[0].has_rate);
	assert_as_in_the_whole(&s);
	past_steps_tail(&job, &s);
	assert_int_equal(s.n, 0);
}

static void the_rate_is_read_where_samples_stand_between(void **state)
{
	(void)state;
	static struct job_steps s;
	struct series_writer *w;
	file_begin(&w);
	samples_add(w, 1, 3);
	steps_add(w, 10, 1);
	samples_add(w, 11, 20); /* more than is read at first */
	steps_add(w, 40, 61);
	file_end(w);
	past_steps_tail(&job, &s);
	assert_true(s.n == 2 && s.of[1].has_rate && s.of[1].per_s > 1.9 && s.of[1].per_s < 2.1);
	assert_as_in_the_whole(&s);
}

static void a_job_without_a_file_has_no_steps(void **state)
{
	(void)state;
	static struct job_steps s;
	job = (struct job){.attempt = 1};
	TEXT_COPY(job.log_dir, scratch);
	past_steps(&job, &s);
	assert_int_equal(s.n, 0);
	scratch_put(SERIES_FILE, "short", 5, 0600);
	past_steps(&job, &s);
	assert_int_equal(s.n, 0);
}

static void process_add(struct series_writer *w, pid_t pid, const char *role, int64_t lived_ms)
{
	struct series_process p = {.pid = pid,
				   .start_ticks = (uint64_t)pid,
				   .rank = NO_RANK,
				   .attempt = 1,
				   .started_unix_ms = 1000,
				   .ended_unix_ms = lived_ms > 0 ? 1000 + lived_ms : 0};
	TEXT_COPY(p.role, role);
	assert_int_equal(series_add_process(w, &p), 0);
}

struct told {
	pid_t pid[8];
	uint64_t peak_bytes[8];
	size_t n;
};

static int told_take(void *ctx, const struct job_process *p)
{
	struct told *t = ctx;
	assert_true(t->n < ARRAY_SIZE(t->pid));
	t->pid[t->n] = p->pid;
	t->peak_bytes[t->n++] = p->peak_own_bytes;
	return 0;
}

/* Who lived shortest is left out, never a launcher; who has no end lived until the job's. */
static void workers_of_an_ended_job_are_told_with_the_most_they_had(void **state)
{
	(void)state;
	struct series_writer *w;
	struct store *store;
	struct fault f = {.text = ""};
	char note[256];
	uint64_t left_out = 0;
	struct told seen = {.n = 0}, shown = {.n = 0};
	file_begin(&w);
	TEXT_COPY(job.id, "job-1");
	job.ended_unix_ms = 9000;
	process_add(w, 11, "worker", 20);
	process_add(w, 12, "loader", 500);
	process_add(w, 13, "launcher", 1);
	process_add(w, 14, "worker", 0);
	struct series_bulk bulk = {.n = 1, .of = {{.pid = 12, .start_ticks = 12, .own_bytes = 77}}};
	assert_int_equal(series_add_bulk(w, &bulk), 0);
	assert_int_equal(series_flush(w), 0);
	file_end(w);
	assert_int_equal(store_open(scratch, STORE_WRITE, &store, note, &f), 0);
	assert_int_equal(past_each_seen(store, &job, 2, told_take, &seen, &left_out), 0);
	assert_int_equal(past_each_process(store, &job, told_take, &shown), 0);
	store_close(store);
	assert_int_equal(left_out, 1);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.pid[0] + seen.pid[1] + seen.pid[2], 12 + 13 + 14);
	for (size_t i = 0; i < seen.n; i++)
		assert_int_equal(seen.peak_bytes[i], seen.pid[i] == 12 ? 77 : 0);
	assert_int_equal(shown.n, 1);
	assert_int_equal(shown.pid[0], 13);
}

static int all_done(void **state)
{
	free(whole);
	whole = NULL;
	return scratch_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(steps_at_the_end_are_told_by_the_end, scratch_make, all_done),
		cmocka_unit_test_setup_teardown(steps_that_are_far_back_are_found_by_who_asks_for_all, scratch_make,
						all_done),
		cmocka_unit_test_setup_teardown(the_rate_is_read_where_samples_stand_between, scratch_make, all_done),
		cmocka_unit_test_setup_teardown(a_job_without_a_file_has_no_steps, scratch_make, all_done),
		cmocka_unit_test_setup_teardown(workers_of_an_ended_job_are_told_with_the_most_they_had, scratch_make,
						all_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
