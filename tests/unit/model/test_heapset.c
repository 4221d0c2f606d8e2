#include "testing.h"

#include "model/heap/heapset_together.h"

static uint32_t frame(struct heapset *h, enum frame_kind kind, const char *name, const char *place, int32_t line)
{
	const struct frame f = {.kind = kind,
				.name = name,
				.file = kind == FRAME_PYTHON ? place : "",
				.module = kind == FRAME_NATIVE ? place : "",
				.line = line};
	uint32_t id;
	assert_int_equal(frametab_intern(heapset_frames(h), &f, &id), 0);
	return id;
}

static struct heap_amount amount(double bytes)
{
	return (struct heap_amount){
		.bytes = bytes, .objects = bytes / 100, .variance = bytes * 1000, .chance_bytes = bytes, .samples = 4};
}

static struct heapset_figures figures(double live, double peak, double total)
{
	return (struct heapset_figures){
		.live = amount(live), .peak = amount(peak), .total = amount(total), .temporary_share = 0.25};
}

static uint32_t process(struct heapset *h, pid_t pid, int32_t rank)
{
	struct heapset_process p = {.pid = pid, .rank = rank, .name = "python train.py", .seconds = 10};
	uint32_t id;
	assert_int_equal(heapset_process_add(h, &p, &id), 0);
	return id;
}

static void add(struct heapset *h, uint32_t p, const uint32_t *frames, size_t n, struct heapset_figures f)
{
	assert_int_equal(heapset_add(h, p, frames, n, &f), 0);
	struct heapset_process *to = heapset_process_at(h, p);
	heap_amount_add(&to->live, &f.live);
	heap_amount_add(&to->peak, &f.peak);
	heap_amount_add(&to->total, &f.total);
}

struct two {
	struct heapset *h;
	uint32_t load, main, malloc, step;
};

static struct two two_ranks(void)
{
	struct two t = {.h = heapset_new(HEAPSET_SAMPLED)};
	assert_non_null(t.h);
	t.malloc = frame(t.h, FRAME_NATIVE, "PyArray_NewFromDescr", "numpy/core/_multiarray_umath.so", 0);
	t.load = frame(t.h, FRAME_PYTHON, "load", "/app/loader.py", 88);
	t.step = frame(t.h, FRAME_PYTHON, "step", "/app/train.py", 12);
	t.main = frame(t.h, FRAME_PYTHON, "<module>", "/app/train.py", 40);
	uint32_t a = process(t.h, 100, 0), b;
	add(t.h, a, (const uint32_t[]){t.malloc, t.load, t.main}, 3, figures(100, 300, 1000));
	add(t.h, a, (const uint32_t[]){t.step, t.main}, 2, figures(50, 10, 500));
	add(t.h, a, (const uint32_t[]){t.malloc, t.load, t.main}, 3,
	    figures(20, 0, 20)); /* a second row of the profile */
	b = process(t.h, 200, 1);
	add(t.h, b, (const uint32_t[]){t.malloc, t.load, t.main}, 3, figures(900, 900, 900));
	return t;
}

static void the_same_stack_is_one_site_of_a_process(void **state)
{
	(void)state;
	struct two t = two_ranks();
	size_t n;
	const struct heapset_site *s = heapset_sites(t.h, &n);
	assert_int_equal(n, 3);
	assert_true(s[0].f.live.bytes == 120 && s[0].f.total.bytes == 1020);
	heapset_free(t.h);
}

static void rows_add_up_processes_and_come_by_size(void **state)
{
	(void)state;
	struct two t = two_ranks();
	struct heapset_row *rows;
	size_t n;
	struct heapset_want want = {.what = HEAPSET_LIVE, .lines = true};
	assert_int_equal(heapset_rows(t.h, &want, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_true(rows[0].amount.bytes == 1020 && rows[0].processes == 2);
	assert_true(rows[1].amount.bytes == 50 && rows[1].processes == 1);
	assert_true(heapset_total(t.h, &want).bytes == 1070);
	free(rows);
	want.has_rank = true;
	want.rank = 0;
	want.what = HEAPSET_PEAK;
	assert_int_equal(heapset_rows(t.h, &want, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_true(rows[0].amount.bytes == 300);
	assert_true(heapset_total(t.h, &want).bytes == 310);
	free(rows);
	want.what = HEAPSET_TEMPORARY;
	assert_int_equal(heapset_rows(t.h, &want, &rows, &n), 0);
	assert_true(rows[0].amount.bytes == 255);
	free(rows);
	heapset_free(t.h);
}

static void two_ranks_are_compared_by_what_differs_most(void **state)
{
	(void)state;
	struct two t = two_ranks();
	struct heapset_row *rows;
	size_t n;
	struct heapset_want zero = {.what = HEAPSET_LIVE, .has_rank = true, .rank = 0},
			    one = {.what = HEAPSET_LIVE, .has_rank = true, .rank = 1};
	assert_int_equal(heapset_compare(t.h, &zero, &one, &rows, &n), 0);
	assert_int_equal(n, 2);
	assert_true(rows[0].before.bytes == 120 && rows[0].amount.bytes == 900);
	assert_true(rows[1].before.bytes == 50 && rows[1].amount.bytes == 0);
	free(rows);
	heapset_free(t.h);
}

static void two_moments_are_merged_as_two_sides(void **state)
{
	(void)state;
	struct two a = two_ranks(), b = two_ranks();
	struct heapset_row *rows;
	size_t n, n_processes;
	uint32_t more[] = {a.malloc, a.step, a.main};
	add(a.h, 1, more, 3, figures(70, 70, 70));
	assert_int_equal(heapset_merge(a.h, b.h, 1), 0);
	(void)heapset_processes(a.h, &n_processes);
	assert_int_equal(n_processes, 4);
	struct heapset_want now = {.what = HEAPSET_LIVE, .has_side = true, .side = 0}, before = now;
	before.side = 1;
	assert_int_equal(heapset_compare(a.h, &before, &now, &rows, &n), 0);
	assert_int_equal(n, 3);
	assert_true(rows[0].before.bytes == 0 && rows[0].amount.bytes == 70);
	assert_true(rows[1].before.bytes == rows[1].amount.bytes);
	free(rows);
	heapset_free(a.h);
	heapset_free(b.h);
}

static void ways_through_a_library_are_one_line_of_the_program(void **state)
{
	(void)state;
	struct two t = two_ranks();
	struct heapset_row *rows;
	size_t n;
	uint32_t other = frame(t.h, FRAME_NATIVE, "PyArray_Copy", "numpy/core/_multiarray_umath.so", 0);
	add(t.h, 1, (const uint32_t[]){other, t.load, t.main}, 3, figures(500, 500, 500));
	const struct heapset_want want = {.what = HEAPSET_LIVE, .lines = true};
	assert_int_equal(heapset_rows(t.h, &want, &rows, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(heapset_rows_by_line(t.h, rows, &n), 0);
	assert_int_equal(n, 2);
	assert_true(rows[0].amount.bytes == 1520 && rows[0].processes == 2 && rows[1].amount.bytes == 50);
	const struct frame *path[4];
	assert_int_equal(heapset_path(t.h, rows[0].node, path, 4), 3);
	assert_string_equal(path[0]->name, "PyArray_NewFromDescr");
	free(rows);
	heapset_free(t.h);
}

static void a_picture_has_bytes_for_time_and_loses_none(void **state)
{
	(void)state;
	struct two t = two_ranks();
	for (int by = LANES_ALL; by <= LANES_PROCESS; by++) {
		struct heapset_want want = {.what = HEAPSET_LIVE, .by = (enum stack_lanes)by, .lines = by != LANES_ALL};
		struct stackset *s;
		size_t n, lanes;
		uint64_t sum = 0;
		assert_int_equal(heapset_view(t.h, &want, &s), 0);
		const struct stack_node *nodes = stackset_nodes(s, &n);
		const struct stack_lane *l = stackset_lanes(s, &lanes);
		for (size_t i = 0; i < n; i++)
			sum += nodes[i].self_weight[SAMPLE_RUNNING];
		assert_int_equal(sum, 1070);
		assert_int_equal(lanes, by == LANES_ALL ? 1 : 2);
		assert_int_equal(stackset_meta_of(s)->unit, STACK_BYTES);
		if (by != LANES_ALL) {
			assert_int_equal(l[1].pid, 200);
			assert_int_equal(l[1].rank, 1);
		}
		stackset_free(s);
	}
	heapset_free(t.h);
}

static void only_steady_growth_beyond_chance_is_a_leak(void **state)
{
	(void)state;
	struct heapset_figures f = {.live = {.bytes = 1000, .variance = 100, .chance_bytes = 10, .samples = 9},
				    .old_bytes = 800};
	assert_true(heapset_amount(&f, HEAPSET_LEAKS).bytes == 0);
	f.leak = (struct heap_leak){.valid = true, .score = 0.9, .bytes_per_s = 3, .grown_bytes = 700};
	assert_true(heapset_amount(&f, HEAPSET_LEAKS).bytes == 800);
	f.live.variance = 500.0 * 500;
	assert_true(heapset_amount(&f, HEAPSET_LEAKS).bytes == 0);
	f.live.variance = 1;
	f.leak.score = 0.1;
	assert_true(heapset_amount(&f, HEAPSET_LEAKS).bytes == 0);
}

static void assert_headline(struct heapset *h, uint32_t p, const uint32_t *frames, size_t n, const char *expected)
{
	char text[200];
	size_t n_sites;
	add(h, p, frames, n, figures(1, 1, 1));
	heapset_headline(h, heapset_sites(h, &n_sites)[n_sites - 1].node, text, sizeof(text));
	assert_string_equal(text, expected);
}

static void a_headline_names_the_program_s_line_and_the_library(void **state)
{
	(void)state;
	struct heapset *h = heapset_new(HEAPSET_SAMPLED);
	assert_non_null(h);
	uint32_t p = process(h, 1, NO_RANK);
	uint32_t libc = frame(h, FRAME_NATIVE, "malloc", "libc.so.6", 0),
		 eval = frame(h, FRAME_NATIVE, "eval", "python3.11", 0);
	uint32_t numpy =
		frame(h, FRAME_NATIVE, "alloc", "numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", 0);
	uint32_t torch = frame(h, FRAME_NATIVE, "at::empty", "libtorch_cpu.so", 0);
	uint32_t data = frame(h, FRAME_PYTHON, "fetch", "/usr/lib/python3/dist-packages/torch/utils/data/fetch.py", 51);
	uint32_t pickle = frame(h, FRAME_PYTHON, "loads", "/usr/lib/python3.11/pickle.py", 9);
	uint32_t own = frame(h, FRAME_PYTHON, "load", "/app/loader.py", 88),
		 frozen = frame(h, FRAME_PYTHON, "_call", "<frozen importlib._bootstrap>", 1);
	uint32_t c = frame(h, FRAME_NATIVE, "work", "prog", 0), mainc = frame(h, FRAME_NATIVE, "main", "prog", 0);
	assert_headline(h, p, (const uint32_t[]){libc, numpy, eval, own}, 4, "loader.py:88 load -> numpy");
	assert_headline(h, p, (const uint32_t[]){libc, torch, data, own}, 4, "loader.py:88 load -> libtorch_cpu");
	assert_headline(h, p, (const uint32_t[]){eval, data, own}, 3, "loader.py:88 load -> torch");
	assert_headline(h, p, (const uint32_t[]){eval, pickle, own}, 3, "loader.py:88 load -> pickle");
	assert_headline(h, p, (const uint32_t[]){eval, own}, 2, "loader.py:88 load");
	assert_headline(h, p, (const uint32_t[]){frozen, pickle}, 2, "<frozen importlib._bootstrap>:1 _call");
	assert_headline(h, p, (const uint32_t[]){libc, c, mainc}, 3, "work [prog]");
	assert_headline(h, p, (const uint32_t[]){libc}, 1, "malloc [libc.so.6]");
	assert_headline(h, p, NULL, 0, "[no stack]");
	heapset_free(h);
}

static void lived(struct heapset *h, uint32_t process, int64_t from_ms, int64_t to_ms, double peak)
{
	struct heapset_process *p = heapset_process_at(h, process);
	p->begun_unix_ms = from_ms;
	p->ended_unix_ms = to_ms;
	p->peak = (struct heap_amount){.bytes = peak};
}

static void peaks_count_of_those_that_lived_together(void **state)
{
	(void)state;
	struct heapset *h = heapset_new(HEAPSET_SAMPLED);
	const struct heapset_want want = {.what = HEAPSET_PEAK, .lines = true};
	struct heapset_together t;
	struct heapset_row *rows;
	size_t n;
	uint32_t id[5], malloc_id = frame(h, FRAME_NATIVE, "malloc", "libc.so.6", 0);
	for (int i = 0; i < 5; i++) {
		id[i] = process(h, 100 + i, i);
		add(h, id[i], (const uint32_t[]){malloc_id}, 1, figures(0, 1 << i, 1 << i));
	}
	/* 0 all the time; 1 and 2 one after the other, on the same millisecond; 3 with 2; 4 alone, and largest */
	lived(h, id[0], 1000, 9000, 10);
	lived(h, id[1], 2000, 3000, 30);
	lived(h, id[2], 3000, 6000, 25);
	lived(h, id[3], 4000, 5000, 7);
	lived(h, id[4], 9000, 9500, 41);
	assert_int_equal(heapset_together(h, &want, &t), 0);
	assert_true(t.n == 3 && t.apart == 2 && t.in[0] && !t.in[1] && t.in[2] && t.in[3] && !t.in[4]);
	assert_true(t.least_bytes == 25 && t.ends_unknown == 0);
	heapset_together_done(&t);
	assert_true(heapset_total(h, &want).bytes == 42);
	assert_int_equal(heapset_rows(h, &want, &rows, &n), 0);
	assert_true(n == 1 && rows[0].processes == 3 && rows[0].amount.bytes == 1 + 4 + 8);
	free(rows);
	/* nobody knows when 1 ended: it may have been there when 2 and 3 were */
	lived(h, id[1], 2000, 0, 30);
	heapset_process_at(h, id[1])->end_unknown = true;
	assert_int_equal(heapset_together(h, &want, &t), 0);
	assert_true(t.n == 4 && t.apart == 1 && t.ends_unknown == 1 && t.least_bytes == 30);
	heapset_together_done(&t);
	assert_true(heapset_total(h, &want).bytes == 72);
	const struct heapset_want rank = {.what = HEAPSET_PEAK, .has_rank = true, .rank = 3},
				  none = {.has_rank = true, .rank = 9};
	assert_true(heapset_total(h, &rank).bytes == 7);
	assert_int_equal(heapset_together(h, &none, &t), 0);
	assert_true(t.n == 0 && t.apart == 0);
	heapset_together_done(&t);
	/* what lives now is no matter of that */
	const struct heapset_want live = {.what = HEAPSET_TEMPORARY};
	assert_int_equal(heapset_rows(h, &live, &rows, &n), 0);
	assert_true(n == 1 && rows[0].processes == 5);
	free(rows);
	heapset_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_stack_is_one_site_of_a_process),
		cmocka_unit_test(rows_add_up_processes_and_come_by_size),
		cmocka_unit_test(two_ranks_are_compared_by_what_differs_most),
		cmocka_unit_test(two_moments_are_merged_as_two_sides),
		cmocka_unit_test(ways_through_a_library_are_one_line_of_the_program),
		cmocka_unit_test(a_picture_has_bytes_for_time_and_loses_none),
		cmocka_unit_test(only_steady_growth_beyond_chance_is_a_leak),
		cmocka_unit_test(a_headline_names_the_program_s_line_and_the_library),
		cmocka_unit_test(peaks_count_of_those_that_lived_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
