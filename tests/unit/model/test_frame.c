#include "testing.h"

#include <stdio.h>

#include "base/utf8.h"
#include "model/stacks/frame.h"

static void expect_label(struct frame f, const char *expected)
{
	char label[256];
	f.file = f.file ? f.file : "";
	f.module = f.module ? f.module : "";
	frame_label(&f, label, sizeof(label));
	assert_string_equal(label, expected);
}

static void labels_read_as_the_folded_form_wants(void **state)
{
	(void)state;
	expect_label((struct frame){.name = "step", .file = "/srv/train.py", .line = 7}, "step (train.py:7)");
	expect_label((struct frame){.name = "step", .file = "/srv/train.py"}, "step (train.py)");
	expect_label((struct frame){.name = "step"}, "step");
	expect_label((struct frame){.name = "Conv.forward",
				    .file = "/usr/lib/python3/dist-packages/torch/nn/conv.py",
				    .line = 3},
		     "Conv.forward (torch/nn/conv.py:3)");
	expect_label((struct frame){.name = "f", .file = "/opt/lib/python3.12/site-packages/a/b.py", .line = 3},
		     "f (a/b.py:3)");
	expect_label((struct frame){.name = "get", .file = "/usr/lib/python3.13t/queue.py", .line = 3},
		     "get (queue.py:3)");
	expect_label((struct frame){.name = "loads", .file = "/usr/lib/python3.8/json/decoder.py", .line = 3},
		     "loads (json/decoder.py:3)");
	expect_label((struct frame){.name = "f", .file = "/srv/python/x/a.py", .line = 1}, "f (a.py:1)");
	expect_label((struct frame){.name = "load", .file = "<frozen importlib._bootstrap/x>", .line = 1},
		     "load (<frozen importlib._bootstrap/x>:1)");
	expect_label((struct frame){.name = "f", .file = "src/a.py", .line = 1}, "f (src/a.py:1)");
	expect_label((struct frame){.kind = FRAME_NATIVE, .name = "at::mm(int)", .module = "libtorch_cpu.so"},
		     "at::mm(int) [libtorch_cpu.so]");
	expect_label((struct frame){.kind = FRAME_KERNEL, .name = "do_futex"}, "do_futex [kernel]");
	expect_label((struct frame){.kind = FRAME_NOTE, .name = "[idle: lock]"}, "[idle: lock]");
	expect_label((struct frame){.kind = FRAME_NOTE, .name = ""}, "[unknown]");
}

static void hostile_names_cannot_break_a_line_or_a_stack(void **state)
{
	(void)state;
	expect_label((struct frame){.kind = FRAME_NOTE, .name = "a;b\nc\td\033[2Je\377\300\257f\xed\xa0\x80"},
		     "a:b c d [2Je???f???");
	expect_label((struct frame){.kind = FRAME_NOTE,
				    .name = "\xe2\x80\xae"
					    "evil"},
		     " evil");
	char label[6];
	const struct frame f = {.kind = FRAME_NOTE,
				.name = "abcd\xc3\xa4"
					"e"};
	frame_label(&f, label, sizeof(label));
	assert_string_equal(label, "abcd");
	frame_label(&f, label, 1);
	assert_string_equal(label, "");
}

static void utf8_takes_characters_and_nothing_else(void **state)
{
	(void)state;
	uint32_t code;
	assert_int_equal(utf8_char("\xc3\xa4", 2, &code), 2);
	assert_int_equal(code, 0xe4);
	assert_int_equal(utf8_char("\xf0\x9f\x98\x80", 4, &code), 4);
	assert_int_equal(code, 0x1f600);
	static const char *const bad[] = {"\x80",
					  "\xc0\x80",
					  "\xc3",
					  "\xe0\x80\x80",
					  "\xed\xa0\x80",
					  "\xf4\x90\x80\x80",
					  "\xf8\x88\x80\x80\x80",
					  "\xef\xbf\xbf",
					  "\xc3(",
					  "\xff"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(utf8_char(bad[i], strlen(bad[i]), &code), 0);
}

static void equal_frames_have_one_number_and_never_move(void **state)
{
	(void)state;
	cleanup(frametab_freep) struct frametab *t = frametab_new();
	char name[32];
	const struct frame *first = NULL;
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(name, sizeof(name), "f%u", i / 2);
			const struct frame f = {.name = name, .file = "a.py", .module = NULL, .line = (int32_t)(i % 2)};
			uint32_t id;
			assert_int_equal(frametab_intern(t, &f, &id), 0);
			assert_int_equal(id, i);
			if (i == 0 && round == 0)
				first = frametab_at(t, 0);
		}
	}
	assert_ptr_equal(first, frametab_at(t, 0));
	assert_string_equal(first->name, "f0");
	assert_string_equal(first->module, "");
	assert_ptr_equal(frametab_at(t, 1)->name, first->name);
	assert_ptr_equal(frametab_at(t, 4999)->file, first->file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_read_as_the_folded_form_wants),
		cmocka_unit_test(hostile_names_cannot_break_a_line_or_a_stack),
		cmocka_unit_test(utf8_takes_characters_and_nothing_else),
		cmocka_unit_test(equal_frames_have_one_number_and_never_move),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
