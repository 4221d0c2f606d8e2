#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/metrics/metricsseries.h"
#include "base/file.h"
#include "sense/rank.h"

#define T0 (1000 * NS_PER_S)

static char dir[64], path[96];
static struct series_writer *writer;
static struct metrics_series *m;

static int make(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-metrics-XXXXXX");
	m = calloc(1, sizeof(*m));
	if (!m || !mkdtemp(dir))
		return -1;
	TEXT_FORMAT(path, "%s/%s", dir, SERIES_FILE);
	return series_create(path, SERIES_MAX_BYTES, &writer);
}

static int drop(void **state)
{
	(void)state;
	writer = series_close(writer);
	free(m);
	(void)unlink(path);
	return rmdir(dir);
}

static void sample_at(double s, uint32_t attempt, uint64_t own_bytes)
{
	static struct series_sample sample;
	sample = (struct series_sample){.time_unix_ms = (int64_t)(s * 1000),
					.mono_ns = T0 + (uint64_t)(s * 1e9),
					.attempt = attempt,
					.job_bytes = 5 * MIB,
					.n_lanes = 1};
	sample.lane[0] = (struct series_lane){.rank = 0, .processes = 2, .cpu_ns = 7, .own_bytes = own_bytes};
	assert_int_equal(series_add_sample(writer, &sample), 0);
}

static void steps_at(double s, uint32_t attempt, uint64_t first, uint64_t second)
{
	static struct series_steps steps;
	steps = (struct series_steps){
		.time_unix_ms = (int64_t)(s * 1000), .mono_ns = T0 + (uint64_t)(s * 1e9), .attempt = attempt, .n = 2};
	steps.of[0] = (struct series_step){.rank = 0, .step = first, .has_total = true, .total = 100};
	steps.of[1] = (struct series_step){.rank = 1, .step = second};
	assert_int_equal(series_add_steps(writer, &steps), 0);
}

static void look(void)
{
	assert_int_equal(series_flush(writer), 0);
	metricsseries_read(m, dir);
}

static void the_last_use_and_steps_of_each_rank_are_told(void **state)
{
	(void)state;
	sample_at(1, 0, MIB);
	sample_at(2, 0, 3 * MIB);
	steps_at(2, 0, 10, 10);
	steps_at(4, 0, 14, 10);
	look();
	assert_int_equal(m->n_ranks, 2);
	assert_int_equal(m->rank[0].own_bytes, 3 * MIB);
	assert_int_equal(m->rank[0].step, 14);
	assert_int_equal(m->rank[0].total, 100);
	assert_int_equal(m->rank[0].moved_unix_ms, 4000);
	assert_int_equal(m->rank[1].moved_unix_ms, 2000);
	assert_false(m->rank[1].has_total || m->rank[1].has_use);
	assert_int_equal(m->sampled_unix_ms, 2000);
	assert_int_equal(m->group_bytes, 5 * MIB);
}

static void steps_between_two_looks_count_with_their_mean(void **state)
{
	(void)state;
	steps_at(0, 0, 0, 0);
	steps_at(2, 0, 4, 0); /* four of half a second */
	steps_at(6, 0, 8, 1); /* four of a second, and one of six */
	look();
	assert_int_equal(m->times.times.count, 9);
	assert_int_equal(m->times.times.bucket[5], 4); /* to 0.5 s */
	assert_int_equal(m->times.times.bucket[6], 4); /* to 1 s */
	assert_int_equal(m->times.times.bucket[9], 1); /* to 10 s */
	assert_true(m->times.times.sum_ns == 12 * NS_PER_S);
}

static void what_was_read_is_not_counted_again(void **state)
{
	(void)state;
	steps_at(0, 0, 0, 0);
	steps_at(2, 0, 4, 4);
	look();
	uint64_t position = m->position;
	look();
	assert_int_equal(m->times.times.count, 8);
	assert_int_equal(m->position, position);
	steps_at(4, 0, 6, 6);
	look();
	assert_int_equal(m->times.times.count, 12);
}

static void a_file_that_was_thinned_adds_only_what_is_new(void **state)
{
	(void)state;
	steps_at(0, 0, 0, 0);
	steps_at(1, 0, 10, 10);
	steps_at(4, 0, 11, 11);
	look();
	struct step_histogram before = m->times.times;
	writer = series_close(writer);
	char old[128];
	TEXT_FORMAT(old, "%s.old", path);
	assert_int_equal(rename(path, old), 0); /* keeps its inode taken */
	assert_int_equal(series_create(path, SERIES_MAX_BYTES, &writer), 0);
	steps_at(0, 0, 0, 0);
	steps_at(4, 0, 11, 11); /* the one between is gone */
	look();
	assert_memory_equal(&m->times.times, &before, sizeof(before));
	steps_at(6, 0, 12, 12);
	look();
	assert_int_equal(m->times.times.count, before.count + 2);
	assert_int_equal(unlink(old), 0);
}

static ino_t inode(void)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* A full file loses records, the last one before a gap among them. What they said of steps stays, in every reader. */
static void thinning_changes_no_count(void **state)
{
	(void)state;
	struct metrics_series *again = calloc(1, sizeof(*again));
	assert_non_null(again);
	writer = series_close(writer);
	assert_int_equal(series_create(path, 1, &writer), 0); /* as small as a file may be */
	size_t thinned = 0;
	uint64_t counted = 0;
	for (uint64_t i = 0; i < 2000; i++) {
		ino_t before = inode();
		/* from the middle on another attempt; the second rank does a step every third look only */
		steps_at((double)i * 0.3, i >= 1000, i % 1000 * 2, i % 1000 / 3);
		if (i % 50 ==
		    49) { /* the reader that follows comes seldom, and misses records that are thinned meanwhile */
			look();
			assert_true(m->times.times.count >= counted);
			counted = m->times.times.count;
		}
		assert_int_equal(series_flush(writer), 0);
		thinned += inode() != before;
	}
	look();
	metricsseries_read(again, dir);
	assert_true(thinned > 3);
	assert_int_equal(m->times.times.count, 2 * (999 * 2 + 333));
	assert_memory_equal(&again->times.times, &m->times.times, sizeof(m->times.times));
	assert_int_equal(again->rank[0].step, m->rank[0].step);
	free(again);
}

static void a_new_attempt_begins_with_its_own_ranks_and_steps(void **state)
{
	(void)state;
	sample_at(1, 0, MIB);
	steps_at(1, 0, 50, 50);
	steps_at(100, 1, 3, 3); /* 99 s for no step of this attempt */
	look();
	assert_int_equal(m->times.times.count, 0);
	assert_false(m->rank[0].has_use);
	assert_int_equal(m->rank[0].step, 3);
}

static void bytes_that_are_no_series_change_nothing(void **state)
{
	static const char *const texts[] = {"", "vigilTS", "vigilTS1", "vigilTS1 rubbish that is no record at all",
					    "x"};
	(void)state;
	sample_at(1, 0, MIB);
	look();
	struct metrics_series before = *m;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		metricsseries_take(m, span_of(texts[i]));
	assert_memory_equal(m, &before, sizeof(before));
	metricsseries_read(m, "/nowhere/at/all");
	metricsseries_read(m, "");
	assert_memory_equal(m, &before, sizeof(before));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(the_last_use_and_steps_of_each_rank_are_told),
		WITH(steps_between_two_looks_count_with_their_mean),
		WITH(what_was_read_is_not_counted_again),
		WITH(a_file_that_was_thinned_adds_only_what_is_new),
		WITH(thinning_changes_no_count),
		WITH(a_new_attempt_begins_with_its_own_ranks_and_steps),
		WITH(bytes_that_are_no_series_change_nothing),
	};
	return cmocka_run_group_tests_name("agent/metrics/metricsseries", tests, NULL, NULL);
}
