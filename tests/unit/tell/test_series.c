#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "model/incident/incident.h"
#include "tell/store/series.h"

#define SMALL (64 * 1024)

static char dir[64], path[128];
static char *text;
static size_t len;

static int make_dir(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-series-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	TEXT_FORMAT(path, "%s/series", dir);
	return 0;
}

static int drop_dir(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	(void)unlink(path);
	return rmdir(dir); /* nothing else is left beside it */
}

static struct series_writer *create(size_t max)
{
	struct series_writer *w = NULL;
	assert_int_equal(series_create(path, max, &w), 0);
	return w;
}

static void add(struct series_writer *w, int i)
{
	struct series_sample s = {.time_unix_ms = 1000 * i,
				  .mono_ns = (uint64_t)i * NS_PER_S,
				  .attempt = 1,
				  .node_used_bytes = 5,
				  .node_total_bytes = UINT64_MAX,
				  .job_bytes = 7,
				  .n_lanes = 2};
	s.lane[0] = (struct series_lane){.rank = NO_RANK, .cpu_ns = 3};
	s.lane[1] = (struct series_lane){.rank = 63,
					 .has_io = true,
					 .processes = 70000,
					 .cpu_ns = (uint64_t)i * 10,
					 .own_bytes = 11,
					 .rss_bytes = 12,
					 .read_bytes = 13,
					 .written_bytes = 14,
					 .read_call_bytes = 15,
					 .write_call_bytes = 16};
	assert_int_equal(series_add_sample(w, &s), 0);
}

static void add_process(struct series_writer *w, pid_t pid, int64_t ended)
{
	struct series_process p = {.pid = pid,
				   .ppid = 1,
				   .start_ticks = (uint64_t)pid,
				   .rank = 2,
				   .attempt = 3,
				   .started_unix_ms = 1000,
				   .ended_unix_ms = ended,
				   .own_bytes = 5 * GIB + 1023,
				   .role = "loader",
				   .name = "python"};
	assert_int_equal(series_add_process(w, &p), 0);
}

static struct series_reader load(void)
{
	struct series_reader r;
	free(text);
	assert_int_equal(file_slurp(AT_FDCWD, path, 64 * MIB, &text, &len), 0);
	assert_int_equal(series_reader_init(&r, (struct span){text, len}), 0);
	return r;
}

struct found {
	size_t samples, processes, alive;
	int64_t first, last, widest;
	uint64_t skipped;
};

static struct found count(struct series_reader r)
{
	static struct series_record rec;
	struct found f = {.samples = 0};
	while (series_next(&r, &rec)) {
		if (rec.kind == SERIES_PROCESS) {
			f.processes++;
			f.alive += rec.process.ended_unix_ms == 0;
			continue;
		}
		if (f.samples++ == 0)
			f.first = rec.sample.time_unix_ms;
		else
			f.widest = MAX(f.widest, rec.sample.time_unix_ms - f.last);
		assert_true(rec.sample.time_unix_ms >= f.last);
		f.last = rec.sample.time_unix_ms;
		assert_int_equal(rec.sample.lane[1].cpu_ns, (uint64_t)f.last / 100);
	}
	f.skipped = r.skipped_bytes;
	return f;
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	add(w, 9);
	add_process(w, 42, 0);
	assert_int_equal(series_flush(w), 0);
	series_close(w);
	struct series_reader r = load();
	static struct series_record rec;
	assert_true(series_next(&r, &rec));
	assert_int_equal(rec.kind, SERIES_SAMPLE);
	const struct series_sample *s = &rec.sample;
	assert_int_equal(s->time_unix_ms, 9000);
	assert_true(s->node_total_bytes == UINT64_MAX);
	assert_int_equal(s->n_lanes, 2);
	assert_int_equal(s->lane[0].rank, NO_RANK);
	assert_false(s->lane[0].has_io);
	const struct series_lane *l = &s->lane[1];
	assert_int_equal(l->rank, 63);
	assert_true(l->has_io);
	assert_int_equal(l->processes, 65535);
	assert_int_equal(l->own_bytes, 11);
	assert_int_equal(l->write_call_bytes, 16);
	assert_true(series_next(&r, &rec));
	assert_int_equal(rec.kind, SERIES_PROCESS);
	assert_int_equal(rec.process.pid, 42);
	assert_int_equal(rec.process.rank, 2);
	assert_true(rec.process.own_bytes == 5 * GIB);
	assert_string_equal(rec.process.role, "loader");
	assert_string_equal(rec.process.name, "python");
	assert_false(series_next(&r, &rec));
	assert_int_equal(r.skipped_bytes, 0);
}

static void a_full_file_keeps_its_whole_shape_within_its_bound(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	struct stat st;
	for (int i = 1; i <= 5000; i++) {
		add(w, i);
		assert_int_equal(series_flush(w), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size <= SMALL);
	}
	series_close(w);
	struct found f = count(load());
	assert_int_equal(f.first, 1000);
	assert_int_equal(f.last, 5000000);
	assert_true(f.samples > 150 && f.samples < 400);
	assert_in_range(f.widest, 1000, 64000); /* no hole anywhere */
	assert_int_equal(f.skipped, 0);
}

/* The newest quarter of an hour must be told finer than what is a day old. */
static void what_is_newer_is_kept_denser(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	for (int i = 1; i <= 3 * 86400; i += 5) {
		add(w, i);
		assert_int_equal(series_flush(w), 0);
	}
	series_close(w);
	struct series_reader r = load();
	static struct series_record rec;
	size_t newest = 0, oldest = 0;
	while (series_next(&r, &rec)) {
		newest += rec.sample.time_unix_ms > 1000 * (3 * 86400 - 1800);
		oldest += rec.sample.time_unix_ms <= 1000 * 1800;
	}
	assert_true(len <= SMALL);
	assert_true(newest >= 10);
	assert_true(oldest <= 3);
}

static void a_peak_of_memory_outlives_thinning(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	for (int i = 1; i <= 20000; i++) {
		struct series_sample s = {.time_unix_ms = 1000 * i,
					  .mono_ns = (uint64_t)i * NS_PER_S,
					  .job_bytes = i == 3333 ? 900 : 7,
					  .n_lanes = 1};
		assert_int_equal(series_add_sample(w, &s), 0);
		assert_int_equal(series_flush(w), 0);
	}
	series_close(w);
	struct series_reader r = load();
	static struct series_record rec;
	bool seen = false;
	while (series_next(&r, &rec))
		seen |= rec.kind == SERIES_SAMPLE && rec.sample.job_bytes == 900;
	assert_true(seen);
}

static void devices_are_read_back_and_thinned_like_samples(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	static struct series_devices d;
	for (int i = 1; i <= 20000; i++) {
		d = (struct series_devices){.time_unix_ms = 1000 * i,
					    .mono_ns = (uint64_t)i * NS_PER_S,
					    .attempt = 2,
					    .n = 1,
					    .of = {{.index = 31,
						    .rank = NO_RANK,
						    .has = SERIES_HAS_BUSY | SERIES_HAS_TOTAL,
						    .busy_percent = 99,
						    .used_bytes = UINT64_MAX,
						    .total_bytes = 5}}};
		assert_int_equal(series_add_devices(w, &d), 0);
		assert_int_equal(series_flush(w), 0);
	}
	series_close(w);
	struct series_reader r = load();
	static struct series_record rec;
	size_t seen = 0;
	while (series_next(&r, &rec)) {
		assert_int_equal(rec.kind, SERIES_DEVICES);
		seen++;
	}
	d.time_unix_ms = 20000000;
	assert_memory_equal(&rec.devices, &d, sizeof(d));
	assert_true(len <= SMALL && seen > 100);
	assert_int_equal(r.skipped_bytes, 0);
}

static void large_processes_stay_with_their_sample(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	for (int i = 1; i <= 20000; i++) {
		const uint64_t ns = (uint64_t)i * NS_PER_S;
		struct series_sample s = {.time_unix_ms = 1000 * i, .mono_ns = ns, .n_lanes = 1};
		struct series_bulk b = {.time_unix_ms = 1000 * i, .mono_ns = ns, .attempt = 3, .n = 2};
		b.of[0] = (struct series_bulk_process){.pid = 7, .start_ticks = UINT64_MAX, .own_bytes = (uint64_t)i};
		b.of[1] = (struct series_bulk_process){.pid = INT32_MAX, .start_ticks = 5, .own_bytes = 6};
		s.lane[0].own_bytes = i % 7 == 0 ? 100 : 50;
		assert_int_equal(series_add_sample(w, &s), 0);
		assert_int_equal(series_add_bulk(w, &b), 0);
		assert_int_equal(series_flush(w), 0);
	}
	series_close(w);
	struct series_reader r = load();
	static struct series_record rec;
	size_t samples = 0, bulks = 0;
	uint64_t sampled_ns = 0;
	while (series_next(&r, &rec)) {
		if (rec.kind == SERIES_SAMPLE) {
			sampled_ns = rec.sample.mono_ns;
			samples++;
			continue;
		}
		assert_int_equal(rec.kind, SERIES_BULK);
		assert_int_equal(rec.bulk.mono_ns, sampled_ns);
		assert_int_equal(rec.bulk.of[0].own_bytes, sampled_ns / NS_PER_S);
		bulks++;
	}
	assert_true(len <= SMALL && samples > 100);
	assert_int_equal(bulks, samples);
	assert_int_equal(rec.bulk.attempt, 3);
	assert_int_equal(rec.bulk.n, 2);
	assert_int_equal(rec.bulk.of[0].pid, 7);
	assert_true(rec.bulk.of[0].start_ticks == UINT64_MAX);
	assert_int_equal(rec.bulk.of[1].pid, INT32_MAX);
	assert_int_equal(rec.bulk.of[1].own_bytes, 6);
	assert_int_equal(r.skipped_bytes, 0);
}

static void short_lives_are_dropped_before_long_ones(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	add_process(w, 1, 0);
	add_process(w, 2, 0);
	add_process(w, 2, 1000 + 3600000);
	for (int i = 3; i < 5000; i++) {
		add_process(w, i, 0);
		add_process(w, i, 1000 + 50);
		assert_int_equal(series_flush(w), 0);
	}
	add(w, 1);
	assert_int_equal(series_flush(w), 0);
	series_close(w);
	struct series_reader r = load();
	static struct series_record rec;
	bool one = false, two = false;
	size_t n = 0;
	while (series_next(&r, &rec)) {
		n++;
		one |= rec.kind == SERIES_PROCESS && rec.process.pid == 1 && rec.process.ended_unix_ms == 0;
		two |= rec.kind == SERIES_PROCESS && rec.process.pid == 2 && rec.process.ended_unix_ms != 0;
	}
	assert_true(one);
	assert_true(two);
	assert_true(n > 1 && len <= SMALL);
}

static void processes_that_all_lived_as_long_are_not_all_dropped(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	for (int i = 2; i < 5000; i++) {
		add_process(w, i, 1000 + 50);
		assert_int_equal(series_flush(w), 0);
	}
	series_close(w);
	struct found f = count(load());
	assert_true(f.processes * 104 > SMALL / 5);
}

static void a_torn_last_record_costs_only_itself(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	for (int i = 1; i <= 3; i++)
		add(w, i);
	assert_int_equal(series_flush(w), 0);
	series_close(w);
	(void)load();
	size_t whole = len, record = (whole - 8) / 3;
	for (size_t cut = 1; cut < record; cut++) {
		struct series_reader r;
		assert_int_equal(series_reader_init(&r, (struct span){text, whole - cut}), 0);
		struct found f = count(r);
		assert_int_equal(f.samples, 2);
		assert_int_equal(f.skipped, record - cut);
	}
}

static void damage_in_the_middle_is_passed_over(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	for (int i = 1; i <= 9; i++)
		add(w, i);
	assert_int_equal(series_flush(w), 0);
	series_close(w);
	struct series_reader r = load();
	text[8 + (len - 8) / 9 * 4 + 20] ^= 1;
	struct found f = count(r);
	assert_int_equal(f.samples, 8);
	assert_int_equal(f.skipped, (len - 8) / 9);
}

static void another_programs_file_is_refused(void **state)
{
	(void)state;
	struct series_reader r;
	assert_int_equal(series_reader_init(&r, SPAN("")), -EBADMSG);
	assert_int_equal(series_reader_init(&r, SPAN("SQLite format 3")), -EBADMSG);
}

static void a_full_disk_leaves_a_sound_file_that_goes_on(void **state)
{
	(void)state;
	struct series_writer *w = create(SMALL);
	struct rlimit old, small = {.rlim_cur = 600, .rlim_max = RLIM_INFINITY};
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int failed = 0;
	for (int i = 1; i <= 6; i++) {
		add(w, i);
		failed += series_flush(w) < 0;
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_true(failed > 0 && failed < 6);
	add(w, 7);
	assert_int_equal(series_flush(w), 0);
	series_close(w);
	struct found f = count(load());
	assert_int_equal(f.samples, 7 - failed);
	assert_int_equal(f.last, 7000);
	assert_int_equal(f.skipped, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, drop_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_written_is_read),
		TEST(a_full_file_keeps_its_whole_shape_within_its_bound),
		TEST(what_is_newer_is_kept_denser),
		TEST(a_peak_of_memory_outlives_thinning),
		TEST(devices_are_read_back_and_thinned_like_samples),
		TEST(large_processes_stay_with_their_sample),
		TEST(short_lives_are_dropped_before_long_ones),
		TEST(processes_that_all_lived_as_long_are_not_all_dropped),
		TEST(a_torn_last_record_costs_only_itself),
		TEST(damage_in_the_middle_is_passed_over),
		cmocka_unit_test(another_programs_file_is_refused),
		TEST(a_full_disk_leaves_a_sound_file_that_goes_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
