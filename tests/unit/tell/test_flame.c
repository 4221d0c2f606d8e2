#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/stacks/stackset_parts.h"
#include "tell/stacks/flame_parts.h"

#define HOSTILE "</script><b>\"'&]]>\x01\xff;\n\xe2\x80\xae"

static uint32_t frame(struct stackset *s, enum frame_kind kind, const char *name, const char *file, const char *module)
{
	const struct frame f = {.kind = kind, .name = name, .file = file, .module = module, .line = *file ? 7 : 0};
	uint32_t id = 0;
	assert_int_equal(frametab_intern(stackset_frames(s), &f, &id), 0);
	return id;
}

/* Two lanes, all kinds of frames and states, and a name that wants to break out. */
static struct stackset *recording(void)
{
	struct stackset *s = stackset_new();
	const struct stack_lane lanes[] = {
		{.pid = 10, .tid = 10, .rank = 0, .role = "main", .process = "python " HOSTILE, .thread = "MainThread"},
		{.pid = 10, .tid = 11, .rank = NO_RANK, .thread = "worker"},
	};
	uint32_t a = 0, b = 0;
	assert_int_equal(stackset_lane(s, &lanes[0], &a), 0);
	assert_int_equal(stackset_lane(s, &lanes[1], &b), 0);
	uint32_t top = frame(s, FRAME_PYTHON, "main", "/srv/train.py", ""),
		 bad = frame(s, FRAME_PYTHON, HOSTILE, "/x/" HOSTILE, "");
	uint32_t mm = frame(s, FRAME_NATIVE, "at::mm", "", "libtorch.so"),
		 sys = frame(s, FRAME_KERNEL, "do_futex", "", "");
	uint32_t idle = frame(s, FRAME_NOTE, "[idle: lock]", "", "");
	const uint32_t run[] = {mm, bad, top}, wait[] = {idle, sys, top}, gil[] = {bad, top};
	for (int i = 0; i < 3; i++)
		assert_int_equal(stackset_add(s, a, run, 3, SAMPLE_RUNNING, true, 10 * NS_PER_MS), 0);
	assert_int_equal(stackset_add(s, a, wait, 3, SAMPLE_IDLE, false, 10 * NS_PER_MS), 0);
	assert_int_equal(stackset_add(s, b, gil, 2, SAMPLE_GIL_WAIT, false, 10 * NS_PER_MS), 0);
	assert_int_equal(stackset_add(s, b, gil, 0, SAMPLE_RUNNING, false, 10 * NS_PER_MS), 0);
	struct stackset_meta *m = stackset_meta(s);
	snprintf(m->title, sizeof(m->title), "title " HOSTILE);
	m->rate_hz = 100;
	m->rate_got_hz = 99.5;
	m->duration_ns = 4 * NS_PER_S;
	m->dropped = 4;
	m->has_wrong_ratio = true;
	m->wrong_ratio = 0.00125;
	m->moved_ratio = 0.2;
	m->shortened = 3;
	return s;
}

struct text {
	char *p;
	size_t len;
};

static struct text written(const struct stackset *s, enum flame_format format)
{
	struct text t = {0};
	FILE *to = open_memstream(&t.p, &t.len);
	assert_int_equal(flame_write(s, format, to), 0);
	fclose(to);
	return t;
}

static void folded_text_has_the_contracts_form(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recording();
	struct text t = written(s, FLAME_FOLDED);
	assert_string_equal(
		t.p, "main (train.py:7);</script><b>\"'&]]> ?:   (script><b>\"'&]]> ?:  :7);at::mm [libtorch.so] 3\n"
		     "main (train.py:7);do_futex [kernel];[idle: lock] 1\n"
		     "main (train.py:7);</script><b>\"'&]]> ?:   (script><b>\"'&]]> ?:  :7) 1\n");
	free(t.p);
}

static void json_comes_back_as_it_was(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recording(), *again = NULL;
	struct fault f = {0};
	struct text t = written(s, FLAME_JSON);
	assert_int_equal(flame_read(t.p, t.len, &again, &f), 0);
	struct text u = written(again, FLAME_JSON);
	assert_string_equal(t.p, u.p);
	size_t n, n_again;
	const struct stack_node *a = stackset_nodes(s, &n), *b = stackset_nodes(again, &n_again);
	assert_int_equal(n, n_again);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(a[i].self_weight, b[i].self_weight,
				    sizeof(a[i].self_weight) + sizeof(a[i].self_samples));
	assert_int_equal(stackset_meta(again)->dropped, 4);
	assert_int_equal(stackset_meta(again)->shortened, 3);
	assert_true(stackset_meta(again)->moved_ratio > 0.19 && stackset_meta(again)->moved_ratio < 0.21);
	assert_true(stackset_meta(again)->wrong_ratio > 0.00124 && stackset_meta(again)->wrong_ratio < 0.00126);
	assert_int_equal(stackset_lanes(again, &n)[0].rank, 0);
	assert_int_equal(stackset_lanes(again, &n)[1].rank, NO_RANK);
	struct text v = written(s, FLAME_JSON);
	assert_string_equal(t.p, v.p); /* equal recordings give equal bytes */
	free(t.p);
	free(u.p);
	free(v.p);
}

static void folded_text_comes_back_as_it_was(void **state)
{
	(void)state;
	static const char text[] = "main (train.py:7);f (torch/nn/conv.py:3);at::mm(int) [libtorch.so] 12\n"
				   "main (train.py:7);do_futex [kernel];[idle: lock] 3\n"
				   "[idle] 1\nodd name ( 4\nload (<frozen importlib>:3);operator()(int) 5\n";
	cleanup(stackset_freep) struct stackset *s = NULL;
	struct fault f = {0};
	assert_int_equal(flame_read(text, sizeof(text) - 1, &s, &f), 0);
	struct text t = written(s, FLAME_FOLDED);
	assert_string_equal(t.p, text);
	free(t.p);
	assert_int_equal(stackset_meta(s)->samples, 25);
	assert_int_equal(stackset_frame(s, 1)->kind, FRAME_PYTHON);
	assert_string_equal(stackset_frame(s, 1)->file, "torch/nn/conv.py");
	assert_int_equal(stackset_frame(s, 1)->line, 3);
	assert_string_equal(stackset_frame(s, 2)->module, "libtorch.so");
	assert_int_equal(stackset_frame(s, 3)->kind, FRAME_KERNEL);
	assert_int_equal(stackset_frame(s, 4)->kind, FRAME_NOTE);
}

static void what_is_no_recording_is_refused_with_a_reason(void **state)
{
	(void)state;
	static const char *const bad[][2] = {
		{"", "empty"},
		{"  \n", "empty"},
		{"{\"schema\":\"vigil.waits/1\"}", "vigil.waits/1"},
		{"{", "JSON"},
		{"main;f\n", "no count"},
		{"main;f 3\nmain;f x\n", "no count"},
		{" 3\n", "no count"},
		{"{\"schema\":\"vigil.flame/1\",\"nodes\":[{\"lane\":0}]}", "node 0"},
		{"{\"schema\":\"vigil.flame/"
		 "1\",\"lanes\":[{}],\"frames\":[{}],\"nodes\":[{\"lane\":0},{\"parent\":1,\"frame\":0}]}",
		 "node 1"},
		{"{\"schema\":\"vigil.flame/"
		 "1\",\"lanes\":[{}],\"frames\":[{}],\"nodes\":[{\"lane\":0},{\"parent\":0,\"frame\":1}]}",
		 "node 1"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct stackset *s = NULL;
		struct fault f = {0};
		assert_int_equal(flame_read(bad[i][0], strlen(bad[i][0]), &s, &f), -EBADMSG);
		assert_null(s);
		if (!strstr(f.text, bad[i][1]))
			fail_msg("case %zu: '%s' does not name '%s'", i, f.text, bad[i][1]);
	}
	struct stackset *s = NULL;
	struct fault f = {0};
	assert_int_equal(flame_read("a 1\nb\n", 6, &s, &f), -EBADMSG);
	assert_int_equal(f.line, 2);
}

static struct stackset *read_back(const char *text)
{
	struct stackset *s = NULL;
	struct fault f = {0};
	if (flame_read(text, strlen(text), &s, &f) != 0)
		fail_msg("%s", f.text);
	return s;
}

static void assert_form(const struct stackset *s, enum flame_format format, const char *has)
{
	const struct text t = written(s, format);
	if (!strstr(t.p, has))
		fail_msg("'%s' is not in %s", has, t.p);
	free(t.p);
}

static void a_heap_profile_is_a_recording_of_bytes(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = read_back(
		"{\"schema\":\"vigil.heap/1\",\"title\":\"job a\",\"what\":\"peak\",\"total\":{\"samples\":9},"
		"\"processes\":[{\"rate_bytes\":524288}],\"stacks\":["
		"{\"bytes\":3000,\"objects\":2,\"frames\":[{\"kind\":\"native\",\"name\":\"malloc\"},"
		"{\"kind\":\"python\",\"name\":\"load\",\"file\":\"/a/b.py\",\"line\":4}]},"
		"{\"bytes\":500,\"objects\":1,\"frames\":[{\"kind\":\"python\",\"name\":\"load\",\"file\":\"/a/b.py\","
		"\"line\":4}]},{\"bytes\":-7,\"frames\":5}]}");
	assert_int_equal(stackset_meta_of(s)->unit, STACK_BYTES);
	assert_int_equal(stackset_meta_of(s)->samples, 9);
	assert_form(s, FLAME_FOLDED, "load (b.py:4) 500\n");
	assert_form(s, FLAME_FOLDED, "load (b.py:4);malloc 3000\n");
	assert_form(s, FLAME_SPEEDSCOPE, "\"unit\":\"bytes\"");
	assert_form(s, FLAME_JSON, "\"title\":\"Memory (peak) of job a\"");
	/* as JSON it comes back in the same unit */
	const struct text json = written(s, FLAME_JSON);
	cleanup(stackset_freep) struct stackset *again = read_back(json.p);
	free(json.p);
	assert_int_equal(stackset_meta_of(again)->unit, STACK_BYTES);
	assert_int_equal(stackset_meta_of(again)->period_bytes, 524288);
	assert_form(again, FLAME_FOLDED, "load (b.py:4);malloc 3000\n");
}

static void of_stacks_each_thread_is_one_sample(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s =
		read_back("{\"schema\":\"vigil.stacks/1\",\"captured_unix_ms\":1790000000000,\"processes\":["
			  "{\"pid\":7,\"rank\":1,\"threads\":["
			  "{\"tid\":7,\"name\":\"MainThread\",\"frames\":[{\"name\":\"wait\"},{\"name\":\"main\"}]},"
			  "{\"tid\":8,\"frames\":[{\"name\":\"wait\"},{\"name\":\"main\"}]},{\"tid\":9}]},"
			  "{\"pid\":-4,\"rank\":-2},5]}");
	size_t n;
	const struct stack_lane *lanes = stackset_lanes(s, &n);
	assert_int_equal(n, 2);
	assert_int_equal(lanes[0].rank, 1);
	assert_int_equal(lanes[1].tid, 8);
	assert_int_equal(stackset_meta_of(s)->samples, 2);
	assert_form(s, FLAME_SPEEDSCOPE, "\"unit\":\"none\"");
	assert_form(s, FLAME_SVG, "sample");
	assert_form(s, FLAME_FOLDED, "main;wait 1\n");
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;
	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

static void names_cannot_leave_their_place_in_a_page(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recording();
	struct text svg = written(s, FLAME_SVG), html = written(s, FLAME_HTML);
	assert_int_equal(count(svg.p, "</script>"), 1);
	assert_int_equal(count(svg.p, "]]>"), 1);
	assert_null(strstr(svg.p, "<b>"));
	assert_int_equal(count(html.p, "</script>"), 2);
	assert_int_equal(count(html.p, "<script"), 2);
	assert_null(strstr(html.p, "<b>"));
	assert_non_null(strstr(html.p, "Content-Security-Policy"));
	for (const char *c = svg.p; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t');
	for (const char *c = html.p; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t');
	/* what was lost is printed on the picture */
	assert_non_null(strstr(svg.p, "4 dropped"));
	assert_non_null(strstr(html.p, "4 dropped"));
	free(svg.p);
	free(html.p);
}

static void boxes_too_narrow_to_see_are_left_out(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = NULL;
	struct fault f;
	static const char text[] = "wide 1000000\nwide;part 200000\nthin 10\nthin;below 9\n";
	assert_int_equal(flame_read(text, sizeof(text) - 1, &s, &f), 0);
	struct text t = written(s, FLAME_SVG);
	assert_int_equal(count(t.p, "<g><title>"), 3); /* all, wide, part */
	assert_null(strstr(t.p, "thin"));
	free(t.p);
}

static void a_thinned_recording_keeps_all_of_its_time(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new(), *thin = NULL;
	const struct stack_lane lane = {.pid = 1, .rank = NO_RANK};
	uint32_t l = 0, top = frame(s, FRAME_PYTHON, "top", "/a.py", ""),
		 big = frame(s, FRAME_PYTHON, "big", "/a.py", "");
	assert_int_equal(stackset_lane(s, &lane, &l), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "f%u", i);
		uint32_t f = frame(s, FRAME_PYTHON, name, "/a.py", "");
		const uint32_t deep[] = {f, f, top};
		const uint32_t heavy[] = {big, top};
		assert_int_equal(
			stackset_add(s, l, deep, 3, i % 2 ? SAMPLE_IDLE : SAMPLE_RUNNING, i % 4 == 0, 1 + i % 3), 0);
		assert_int_equal(stackset_add(s, l, heavy, 2, SAMPLE_RUNNING, true, 10), 0);
	}
	assert_int_equal(flame_thin(s, 10, &thin), 0);
	size_t n, n_thin;
	const struct stack_node *all = stackset_nodes(s, &n), *few = stackset_nodes(thin, &n_thin);
	assert_int_equal(n_thin, 4); /* root, top, big, and what is too small */
	struct stack_node a = {0}, b = {0};
	for (size_t i = 0; i < n; i++)
		stack_node_add(&a, &all[i]);
	for (size_t i = 0; i < n_thin; i++)
		stack_node_add(&b, &few[i]);
	assert_memory_equal(a.self_weight, b.self_weight, sizeof(a.self_weight));
	assert_memory_equal(a.self_samples, b.self_samples, sizeof(a.self_samples));
	assert_true(a.gil_weight == b.gil_weight);
	assert_string_equal(stackset_frame(thin, few[2].frame)->name, "[too small to be shown apart]");
	assert_int_equal(few[3].self_weight[SAMPLE_RUNNING], 10000);
}

static void a_difference_shows_both_sides(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *a = NULL, *b = NULL;
	struct fault f;
	assert_int_equal(flame_read("x;same 5\nx;gone 5\n", 18, &a, &f), 0);
	assert_int_equal(flame_read("x;same 10\nx;new 10\n", 19, &b, &f), 0);
	struct text t = {0};
	FILE *to = open_memstream(&t.p, &t.len);
	assert_int_equal(flame_diff_write(a, b, FLAME_FOLDED, to), 0);
	fclose(to);
	assert_string_equal(t.p, "x;same 5 10\nx;gone 5 0\nx;new 0 10\n");
	free(t.p);
	to = open_memstream(&t.p, &t.len);
	assert_int_equal(flame_diff_write(a, b, FLAME_SVG, to), 0);
	fclose(to);
	/* shares count, not the lengths of the recordings: equal is white, less is blue, more is red */
	assert_non_null(strstr(t.p, "50.00 % (5 samples) before, 50.00 % (10 samples) after: +0.00 points"));
	assert_int_equal(count(t.p, "fill=\"#f5f5f5\""), 3); /* all, x, same */
	assert_int_equal(count(t.p, "fill=\"#5050f5\""), 1);
	assert_int_equal(count(t.p, "fill=\"#f55050\""), 1);
	free(t.p);
	to = open_memstream(&t.p, &t.len);
	assert_int_equal(flame_diff_write(a, b, FLAME_PPROF, to), -ENOTSUP);
	assert_int_equal(flame_diff_write(a, b, FLAME_SPEEDSCOPE, to), -ENOTSUP);
	fclose(to);
	free(t.p);
}

static void a_full_disk_is_reported(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recording();
	for (enum flame_format format = FLAME_SVG; format <= FLAME_JSON; format++) {
		FILE *full = fopen("/dev/full", "we");
		assert_non_null(full);
		assert_int_equal(flame_write(s, format, full), -ENOSPC);
		fclose(full);
	}
	for (enum flame_format format = FLAME_SVG; format <= FLAME_FOLDED; format++) {
		FILE *full = fopen("/dev/full", "we");
		assert_int_equal(flame_diff_write(s, s, format, full), -ENOSPC);
		fclose(full);
	}
}

static void an_empty_recording_is_written_in_every_form(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	for (enum flame_format format = FLAME_SVG; format <= FLAME_JSON; format++) {
		struct text t = written(s, format);
		assert_true(format == FLAME_FOLDED ? t.len == 0 : t.len > 20);
		free(t.p);
	}
	struct text t = {0};
	FILE *to = open_memstream(&t.p, &t.len);
	assert_int_equal(flame_diff_write(s, s, FLAME_SVG, to), 0);
	flame_summary(s, to);
	fclose(to);
	free(t.p);
}

/* Bytes instead of time: every form names them so. */
static void memory_is_shown_in_bytes(void **state)
{
	(void)state;
	struct stackset *s = recording();
	struct stackset_meta *m = stackset_meta(s);
	*m = (struct stackset_meta){
		.unit = STACK_BYTES, .period_bytes = 524288, .samples = 6, .dropped = 2, .duration_ns = NS_PER_S};
	static const struct {
		enum flame_format format;
		const char *words;
	} forms[] = {{FLAME_FOLDED, "main (train.py:7);"}, {FLAME_SVG, "28.6 MiB"}, {FLAME_HTML, "\"unit\":\"bytes\""},
		     {FLAME_HTML, "each 512 KiB on average"}, {FLAME_JSON, "\"period_bytes\":524288"}};
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		char *text = NULL;
		size_t len;
		FILE *to = open_memstream(&text, &len);
		assert_int_equal(flame_write(s, forms[i].format, to), 0);
		assert_int_equal(fclose(to), 0);
		if (!strstr(text, forms[i].words))
			fail_msg("'%s' is not in:\n%.2000s", forms[i].words, text);
		if (forms[i].format == FLAME_FOLDED)
			assert_non_null(strstr(text, " 30000000\n"));
		free(text);
	}
	stackset_free(s);
}

static void the_summary_tells_what_was_lost(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recording();
	struct text t = {0};
	FILE *to = open_memstream(&t.p, &t.len);
	flame_summary(s, to);
	fclose(to);
	assert_string_equal(
		t.p, "6 stacks of 2 threads in 4.0 s, 99.5 of 100 times a second\n"
		     "dropped            4 of 10 (40 %): changed while read; left out\n"
		     "shortened          3 of 6 (50 %): without callers that changed meanwhile\n"
		     "unproved           0 of 6 (0 %): maybe not of one moment, not proved\n"
		     "late               0 of 6 (0 %): taken more than one period too late\n"
		     "wrong stacks       at most 0.12 %: frames of two moments in one stack\n"
		     "wrong lines        at most 1 %: a caller on the line of another call\n"
		     "pauses             0: no thread was stopped\n");
	free(t.p);
	struct stackset_meta *m = stackset_meta(s);
	m->pauses = 20;
	m->pause_ns_median = 6000;
	m->pause_ns_max = 90000;
	m->pause_ns_sum = 210000;
	for (m->pauses_caught = 0; m->pauses_caught <= 19; m->pauses_caught += 19) {
		to = open_memstream(&t.p, &t.len);
		flame_summary(s, to);
		fclose(to);
		assert_non_null(strstr(
			t.p,
			m->pauses_caught
				? "pauses             20, 19 of them without stopping the thread: half took at most "
				  "6 us, the longest 90 us, all together 210 us\n"
				: "pauses             20, the thread was stopped each time: half took"));
		assert_int_equal(strstr(t.p, "CAP_PERFMON") == NULL, m->pauses_caught > 0);
		free(t.p);
	}
}

static void large_counts_are_grouped_and_small_shares_stay_visible(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = recording();
	struct stackset_meta *m = stackset_meta(s);
	struct text t = {0};
	m->samples = 2013;
	m->dropped = 0;
	m->incomplete = 4;
	m->native = true;
	m->merged = 1234567;
	m->approximate = 999;
	m->has_wrong_ratio = false;
	snprintf(m->missing, sizeof(m->missing), "process 7: it may not be read");
	FILE *to = open_memstream(&t.p, &t.len);
	flame_summary(s, to);
	fclose(to);
	assert_non_null(strstr(t.p, "2,013 stacks of 2 threads"));
	assert_non_null(strstr(t.p, "dropped            0 of 2,013 (0 %):"));
	assert_non_null(strstr(t.p, "matched stacks     1,234,567 of 2,013"));
	assert_non_null(strstr(t.p, "guessed stacks     999 of 2,013 (50 %):"));
	assert_non_null(strstr(t.p, "Python only        0 of 2,013 (0 %):"));
	assert_non_null(strstr(t.p, "wrong stacks       unknown: there are too few samples"));
	assert_non_null(strstr(t.p, "not shown          process 7: it may not be read\n"));
	assert_non_null(strstr(
		t.p, "incomplete stacks  4 of 2,013 (0.2 %): their outermost native callers could not be found\n"));
	free(t.p);
}

static void a_recording_without_a_rate_has_one_line(void **state)
{
	(void)state;
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	struct text t = {0};
	FILE *to = open_memstream(&t.p, &t.len);
	flame_summary(s, to);
	fclose(to);
	assert_string_equal(t.p, "0 stacks of 0 processes\n");
	free(t.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folded_text_has_the_contracts_form),
		cmocka_unit_test(json_comes_back_as_it_was),
		cmocka_unit_test(folded_text_comes_back_as_it_was),
		cmocka_unit_test(what_is_no_recording_is_refused_with_a_reason),
		cmocka_unit_test(a_heap_profile_is_a_recording_of_bytes),
		cmocka_unit_test(of_stacks_each_thread_is_one_sample),
		cmocka_unit_test(names_cannot_leave_their_place_in_a_page),
		cmocka_unit_test(boxes_too_narrow_to_see_are_left_out),
		cmocka_unit_test(a_thinned_recording_keeps_all_of_its_time),
		cmocka_unit_test(a_difference_shows_both_sides),
		cmocka_unit_test(a_full_disk_is_reported),
		cmocka_unit_test(an_empty_recording_is_written_in_every_form),
		cmocka_unit_test(memory_is_shown_in_bytes),
		cmocka_unit_test(the_summary_tells_what_was_lost),
		cmocka_unit_test(large_counts_are_grouped_and_small_shares_stay_visible),
		cmocka_unit_test(a_recording_without_a_rate_has_one_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
