#include "testing.h"

#include <stdlib.h>

#include "model/stacks/stackdump.h"

static char *copy(const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *s = malloc(bytes);
	assert_non_null(s);
	memcpy(s, text, bytes);
	return s;
}

static void frame_fill(struct dump_frame *f)
{
	*f = (struct dump_frame){.kind = FRAME_PYTHON, .name = copy("step"), .file = copy("a.py"), .line = 3};
	f->locals = calloc(2, sizeof(*f->locals));
	assert_non_null(f->locals);
	f->locals[0] = (struct dump_local){.name = copy("x"), .value = copy("1"), .is_arg = true};
	f->locals[1] = (struct dump_local){.name = copy("y"), .value = NULL};
	f->n_locals = 2;
}

static void a_freed_frame_is_empty_and_may_be_freed_again(void **state)
{
	(void)state;
	struct dump_frame f;
	frame_fill(&f);
	dump_frame_done(&f);
	assert_null(f.name);
	assert_null(f.file);
	assert_null(f.locals);
	assert_int_equal(f.n_locals, 0);
	assert_int_equal(f.line, 0);
	dump_frame_done(&f);
}

static void a_freed_dump_is_empty_and_may_be_freed_again(void **state)
{
	(void)state;
	struct stackdump d = {.captured_unix_ms = 5, .cut = true, .n = 2};
	d.processes = calloc(2, sizeof(*d.processes));
	assert_non_null(d.processes);
	for (size_t i = 0; i < 2; i++) {
		struct dump_process *p = &d.processes[i];
		p->n_threads = i + 1;
		p->threads = calloc(p->n_threads, sizeof(*p->threads));
		assert_non_null(p->threads);
		p->threads[0].frames = calloc(1, sizeof(struct dump_frame));
		assert_non_null(p->threads[0].frames);
		p->threads[0].n_frames = 1;
		frame_fill(&p->threads[0].frames[0]);
	}
	stackdump_done(&d);
	assert_null(d.processes);
	assert_int_equal(d.n, 0);
	assert_int_equal(d.captured_unix_ms, 0);
	assert_false(d.cut);
	stackdump_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_freed_frame_is_empty_and_may_be_freed_again),
		cmocka_unit_test(a_freed_dump_is_empty_and_may_be_freed_again),
	};
	return cmocka_run_group_tests_name("model/stacks/stackdump", tests, NULL, NULL);
}
