/*
 * The sampler's arithmetic and its tables, without the functions that stand in
 * front of the program's: all of preload/ but hooks.c and mappings.c is linked.
 */
#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/inside.h"
#include "testing.h"

void *real_function(const char *name)
{
	(void)name;
	return NULL;
}

void hooks_known(void);
void hooks_known(void)
{
}

void hooks_late(void);
void hooks_late(void)
{
}

void patch_sampled(void);
void patch_sampled(void)
{
}

void hooks_mark_pool(void)
{
}

void mappings_clear(void)
{
}

static char folder[] = "/tmp/vigil-heap-unit-XXXXXX";

static struct heap_header *begun(void)
{
	if (!heap_process.begun) {
		assert_non_null(mkdtemp(folder));
		setenv("VIGIL_HEAP_DIR", folder, 1);
		setenv("VIGIL_HEAP_SEED", "7", 1);
		process_begin();
		heap_process.begun = true;
	}
	assert_true(process_mine());
	struct heap_header *h = region_get();
	assert_non_null(h);
	return h;
}

static void a_weight_is_size_by_chance(void **state)
{
	(void)state;
	static const uint32_t rates[] = {HEAP_RATE_MIN, HEAP_RATE_DEFAULT, HEAP_RATE_MAX};
	for (size_t r = 0; r < 3; r++) {
		for (uint64_t size = 1; size < UINT64_C(1) << 40; size = size * 3 / 2 + 1) {
			double exact = (double)size / -expm1(-(double)size / rates[r]);
			double w = (double)sample_weight(size, rates[r]);
			assert_true(fabs(w - exact) <= 0.5 + exact * 1e-9);
			assert_true(w >= (double)size);
		}
	}
}

static void gaps_are_exponential(void **state)
{
	(void)state;
	enum { N = 200000, R = HEAP_RATE_DEFAULT };
	uint64_t random = 99, above = 0;
	double sum = 0, squares = 0;
	for (int i = 0; i < N; i++) {
		double gap = (double)sample_gap(&random, R);
		assert_true(gap >= 1);
		sum += gap;
		squares += gap * gap;
		above += gap > 3.0 * R;
	}
	double mean = sum / N, deviation = sqrt(squares / N - mean * mean);
	assert_true(fabs(mean / R - 1) < 4 / sqrt(N));
	assert_true(fabs(deviation / R - 1) < 8 / sqrt(N));
	assert_true(fabs((double)above / N - exp(-3)) < 4 * sqrt(exp(-3) / N));
	assert_int_equal(sample_gap(&random, 0), DORMANT_STEP_BYTES);
}

static void of_a_deep_stack_both_ends_stay(void **state)
{
	(void)state;
	for (uint32_t n = HEAP_FRAMES_MAX + 1; n < 200; n++) {
		uint64_t frames[HEAP_FRAMES_MAX];
		for (uint32_t i = 0; i < n; i++)
			frames[frames_place(i)] = i;
		frames_straighten(frames, n);
		for (uint32_t i = 0; i < HEAP_FRAMES_INNER; i++)
			assert_int_equal(frames[i], i);
		for (uint32_t i = HEAP_FRAMES_INNER; i < HEAP_FRAMES_MAX; i++)
			assert_int_equal(frames[i], n - HEAP_FRAMES_MAX + i);
	}
}

static void *address(uint64_t i)
{
	return (void *)(uintptr_t)(UINT64_C(0x7f0000000000) +
				   i * 4112); // NOLINT(performance-no-int-to-ptr): only a number
}

static void sums_come_back_to_nothing(void **state)
{
	(void)state;
	struct heap_header *h = begun();
	struct taken t;
	for (uint64_t i = 0; i < 2000; i++)
		sample_slow(address(i), 1 << 20, HEAP_MALLOC, (struct place){});
	assert_true(h->live.samples > 1500 && h->live.samples == h->total.samples);
	for (uint64_t i = 0; i < 2000; i++) {
		if (i % 3 == 0 && live_take(address(i), &t))
			live_restore(&t);
		if (i % 3 == 1 && live_take(address(i), &t))
			live_restore_part(&t, t.ptr, t.row.size / 3);
		live_take(address(i), &t);
		assert_false(live_take(address(i), &t));
	}
	assert_int_equal(h->live.bytes, 0);
	assert_int_equal(h->live.count_256, 0);
	assert_int_equal(h->live.variance, 0);
	assert_int_equal(h->live.samples, 0);
	assert_int_equal(h->samples, h->frees);
	for (size_t i = 0; i < FILTER_SIZE; i++)
		assert_int_equal(heap_filter[i], 0);
}

/* What was not freed after all has left no life behind. */
static void lives_are_counted_and_taken_back(void **state)
{
	(void)state;
	struct heap_header *h = begun();
	struct taken t;
	struct heap_stack *s = region_row(h, &h->table.stacks, 0), before = *s;
	const struct heap_live row = {
		.size = 1 << 20, .weight = 3 << 20, .born_mono_ns = coarse_ns() - UINT64_C(3000000000), .stack = 0};
	sum_add(&s->live, &row);
	sum_add(&h->live, &row);
	assert_true(live_insert(h, (uintptr_t)address(1), &row));
	for (int i = 0; i < 2; i++) {
		assert_true(live_take(address(1), &t));
		for (size_t k = 0; k < HEAP_LIFETIMES; k++) {
			assert_int_equal(s->freed_bytes[k] - before.freed_bytes[k], k == 6 ? row.weight : 0);
			assert_int_equal(s->freed_early_bytes[k], before.freed_early_bytes[k]);
		}
		uint64_t lived_ms = (s->lived_kib_ms - before.lived_kib_ms) / (row.weight / 1024);
		assert_true(lived_ms >= 2999 && lived_ms < 4000);
		if (i == 0)
			live_restore(&t);
		assert_true(i || memcmp(s->freed_bytes, before.freed_bytes, sizeof(before.freed_bytes)) == 0);
		assert_true(i || s->lived_kib_ms == before.lived_kib_ms);
	}
	/* 1.5 s are in the earlier half of up to four */
	struct heap_live younger = row;
	younger.born_mono_ns += UINT64_C(1500000000);
	sum_add(&s->live, &younger);
	sum_add(&h->live, &younger);
	assert_true(live_insert(h, (uintptr_t)address(1), &younger) && live_take(address(1), &t));
	assert_int_equal(s->freed_early_bytes[6] - before.freed_early_bytes[6], row.weight);
}

/* Without time for a copy of the stacks the most that was alive is known all the same. */
static void the_highest_moment_is_kept_without_its_stacks(void **state)
{
	(void)state;
	struct heap_header *h = begun();
	struct taken t;
	uint64_t before = h->highest.bytes, which = h->peak_which, copies = h->peak_rows;
	h->peak_rows = UINT64_MAX / 10000;
	for (uint64_t i = 0; i < 100; i++)
		sample_slow(address(i), 1 << 30, HEAP_MALLOC, (struct place){});
	assert_int_equal(h->peak_which, which);
	uint64_t most = h->live.bytes;
	assert_true(most > before && most >= UINT64_C(100) << 30);
	for (uint64_t i = 0; i < 100; i++)
		live_take(address(i), &t);
	assert_int_equal(h->highest.bytes, most);
	assert_true(h->highest.samples >= 100);
	/* with time for it the next sample has them copied, however short after the last copy */
	h->peak_rows = copies;
	for (uint64_t i = 0; i < 3; i++)
		sample_slow(address(i), UINT64_C(1) << (40 + i), HEAP_MALLOC, (struct place){});
	assert_int_equal(h->peak_bytes[h->peak_which], h->live.bytes);
	for (uint64_t i = 0; i < 3; i++)
		live_take(address(i), &t);
}

static void a_full_table_loses_what_it_says(void **state)
{
	(void)state;
	struct heap_header *h = begun();
	uint64_t n = h->table.live.n + 20000, before = h->samples;
	struct taken t;
	for (uint64_t i = 0; i < n; i++)
		sample_slow(address(i), 64 << 20, HEAP_MALLOC, (struct place){});
	uint64_t taken = h->samples - before;
	assert_true(taken >= n - 1);
	assert_true(h->lost[HEAP_LOST_LIVE_FULL] >= 20000);
	assert_int_equal(h->live.samples + h->lost[HEAP_LOST_LIVE_FULL], taken);
	assert_true(h->live.samples > h->table.live.n * 9 / 10);
	for (uint64_t i = 0; i < n; i++)
		live_take(address(i), &t);
	assert_int_equal(h->live.bytes, 0);
	assert_int_equal(h->live.samples, 0);
}

/* Runs last: the child's region is the second file. */
static void a_child_has_a_region_of_its_own(void **state)
{
	(void)state;
	struct heap_header *h = begun();
	uint64_t samples = h->samples;
	pid_t pid = fork();
	if (pid == 0) {
		for (uint64_t i = 0; i < 10; i++)
			sample_slow(address(i), 64 << 20, HEAP_MALLOC, (struct place){});
		struct heap_header *mine = heap_process.region;
		_exit(mine && mine != NULL && mine->origin == HEAP_BY_FORK && mine->samples >= 8 &&
				      mine->pid == getpid()
			      ? 0
			      : 1);
	}
	int status = 1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(h->samples, samples);
	DIR *d = opendir(folder);
	assert_non_null(d);
	int files = 0;
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		files++;
		assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
	}
	closedir(d);
	assert_int_equal(files, 2);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_weight_is_size_by_chance),
		cmocka_unit_test(gaps_are_exponential),
		cmocka_unit_test(of_a_deep_stack_both_ends_stay),
		cmocka_unit_test(sums_come_back_to_nothing),
		cmocka_unit_test(lives_are_counted_and_taken_back),
		cmocka_unit_test(the_highest_moment_is_kept_without_its_stacks),
		cmocka_unit_test(a_full_table_loses_what_it_says),
		cmocka_unit_test(a_child_has_a_region_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
