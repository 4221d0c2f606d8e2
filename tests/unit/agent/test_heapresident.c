/* Which resident pages sampled blocks explain, and the names of their stacks. */
#include "scratch_fixture.h"

#include <sys/mman.h>

#include "agent/heap/heapresident.h"
#include "agent/heap/heapsymbols.h"
#include "heap_image.h"

#define PAGES 16

static struct heap_image image;
static struct world w;
static uint8_t *touched, *untouched; /* PAGES each */

static int open_all(void **state)
{
	w = live_world();
	size_t bytes = PAGES * w.page_bytes;
	touched = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	untouched = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (touched == MAP_FAILED || untouched == MAP_FAILED)
		return -1;
	memset(touched, 1, bytes);
	return scratch_make(state);
}

static int close_all(void **state)
{
	(void)munmap(touched, PAGES * w.page_bytes);
	(void)munmap(untouched, PAGES * w.page_bytes);
	fixture_close(&w);
	return scratch_remove(state);
}

static void image_put(const char *name)
{
	scratch_put(name, &image, offsetof(struct heap_image, n_live), 0600);
}

static void pages_that_were_touched_are_noted(void **state)
{
	(void)state;
	cleanup(closep) int dir = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(heapshare_done) struct heapshare s = {.row = NULL};
	uint64_t bytes = PAGES * w.page_bytes;
	image_init(&image, getpid());
	const uint64_t native[] = {0x10, 0x20, 0x30};
	uint32_t in = image_stack(&image, native, 1, NULL, 0), out = image_stack(&image, native + 1, 1, NULL, 0);
	uint32_t none = image_stack(&image, native + 2, 1, NULL, 0);
	image_live(&image, in, (uint64_t)(uintptr_t)touched, bytes, bytes, 2000000000);
	image_live(&image, out, (uint64_t)(uintptr_t)untouched, bytes, bytes, 2000000000);
	image_put("1.1.heap");
	assert_int_equal(heapresident_note(&w, getpid(), dir, "1.1.heap", NS_PER_S), 0);
	assert_true(scratch_has("1.1.heap.share"));
	assert_int_equal(heapresident_noted(AT_FDCWD, scratch_path("1.1.heap"), &s), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(heapshare_find(&s, in)->resident_bytes, bytes);
	assert_int_equal(heapshare_find(&s, out)->resident_bytes, 0);
	assert_int_equal(heapshare_find(&s, out)->seen_bytes, bytes);
	assert_null(heapshare_find(&s, none));
	assert_int_equal(heapresident_note(&w, getpid(), dir, "2.1.heap", NS_PER_S), -ENOENT);
}

static void a_note_is_found_beside_the_copy_too(void **state)
{
	(void)state;
	struct heapshare s;
	assert_int_equal(heapresident_noted(AT_FDCWD, scratch_path("1.1.heap"), &s), WORLD_GONE);
	const struct heapshare_row row = {.stack = 3, .seen_bytes = 10, .resident_bytes = 4};
	const struct heapshare made = {.time_unix_ms = 5, .row = (struct heapshare_row *)(uintptr_t)&row, .n = 1};
	cleanup(freep) char *text = NULL;
	size_t len;
	assert_int_equal(heapshare_format(&made, &text, &len), 0);
	assert_int_equal(mkdir(scratch_path("warn"), 0700), 0);
	scratch_put("warn/1.1.heap.share", text, len, 0600);
	assert_int_equal(heapresident_noted(AT_FDCWD, scratch_path("1.1.heap"), &s), 0);
	assert_int_equal(s.time_unix_ms, 5);
	assert_int_equal(s.row[0].resident_bytes, 4);
	heapshare_done(&s);
	scratch_put("warn/1.1.heap.share", "garbage", 7, 0600);
	assert_int_equal(heapresident_noted(AT_FDCWD, scratch_path("1.1.heap"), &s), WORLD_GONE);
}

/* The parent asked for both blocks; the child was forked between them, and has used one address again. */
static void blocks_of_the_parent_explain_pages_of_the_child(void **state)
{
	(void)state;
	cleanup(closep) int dir = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct heapresident *h = heapresident_new(&w);
	struct heapresident_inherited in;
	struct heapregion child;
	struct fault f;
	uint64_t page = w.page_bytes, at = (uint64_t)(uintptr_t)touched, far = UINT64_C(4000000000000000000);
	uint64_t late = start_ticks_of(&w, getpid());
	const uint64_t native[] = {0x10};
	image_init(&image, 70);
	image.header.start_ticks = 5;
	image.header.begun_mono_ns = 1;
	uint32_t s = image_stack(&image, native, 1, NULL, 0);
	image_live(&image, s, at, page, page, 2);
	image_live(&image, s, at + page, page, page, 2);
	image_live(&image, s, at + 2 * page, page, page, far); /* after the fork */
	image_put("70.5.heap");
	image_init(&image, 71);
	image.header.start_ticks = late;
	image.header.origin = HEAP_BY_FORK;
	image.header.ppid = 70;
	image.header.parent_start_ticks = 5;
	s = image_stack(&image, native, 1, NULL, 0);
	image_live(&image, s, at + page, page, page, far);
	image_put("71.6.heap");
	assert_int_equal(heapregion_read(dir, "71.6.heap", &child, &f), 0);
	assert_int_equal(heapresident_inherited(h, dir, &child, getpid(), NS_PER_S, &in), 0);
	assert_true(in.resident_bytes == (double)page);
	/* a process that was not forked has no such blocks */
	child.header.origin = 0;
	assert_int_equal(heapresident_inherited(h, dir, &child, getpid(), NS_PER_S, &in), 0);
	assert_true(in.resident_bytes == 0);
	heapregion_done(&child);
	heapresident_free(h);
}

static void shares_of_no_process_are_not_valid(void **state)
{
	(void)state;
	struct heapresident_shares s = heapresident_shares(&w, 0x7ffffff0, MIB);
	assert_false(s.valid);
	assert_true(s.part == 1);
	s = heapresident_shares(&w, getpid(), 0);
	assert_false(s.valid);
	/* it has as much: pages that a helper shares for a moment are part of it, then */
	static char own[4 * MIB];
	memset(own, 1, sizeof(own));
	s = heapresident_shares(&w, getpid(), MIB);
	assert_true(s.valid && s.pss_anon_bytes <= MIB && s.part > 0 && s.part <= 1);
}

static void stacks_get_names_from_the_profile_alone(void **state)
{
	(void)state;
	cleanup(closep) int dir = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct frametab *frames = frametab_new();
	struct heapsymbols *n = heapsymbols_new(&w, frames);
	struct heapregion r;
	struct fault f;
	uint32_t ids[HEAPSYMBOLS_FRAMES];
	size_t n_ids;
	bool approximate;
	const char *missing;
	image_init(&image, 70);
	image.header.python_version = 0x030a0000;
	image_code(&image, 1, "load", "/app/loader.py", 80, "\x04\x01\x04\x07", 4);
	image_module(&image, "/nowhere/libgone.so", 0x10000, 0x20000);
	const uint64_t native[] = {0x10100, 0x99999}, python[] = {image_python(1, 6, true), image_python(9, 0, true)};
	uint32_t both = image_stack(&image, native, 2, NULL, 0), py = image_stack(&image, NULL, 0, python, 2);
	image.stacks[py].flags = HEAP_BROKEN_PYTHON;
	image_put("70.5.heap");
	assert_int_equal(heapregion_read(dir, "70.5.heap", &r, &f), 0);
	assert_int_equal(heapsymbols_begin(n, &r, 0), 0);
	const struct heapregion_stack *s = r.stacks;
	while (s->row != py)
		s++;
	assert_int_equal(heapsymbols_stack(n, s, ids, &n_ids, &approximate), 0);
	assert_int_equal(n_ids, 3);
	assert_string_equal(frametab_at(frames, ids[0])->name, "load");
	assert_int_equal(frametab_at(frames, ids[0])->line, 88);
	assert_string_equal(frametab_at(frames, ids[1])->name, "[code that there was no room for]");
	assert_string_equal(frametab_at(frames, ids[2])->name, "[not readable further]");
	assert_int_equal(heapsymbols_missing(n, &missing), 0);
	for (s = r.stacks; s->row != both; s++)
		;
	assert_int_equal(heapsymbols_stack(n, s, ids, &n_ids, &approximate), 0);
	assert_int_equal(n_ids, 2);
	assert_string_equal(frametab_at(frames, ids[1])->name, "[code of no file]");
	assert_int_equal(heapsymbols_missing(n, &missing), 1);
	assert_string_equal(missing, "/nowhere/libgone.so");
	heapregion_done(&r);
	heapsymbols_free(n);
	frametab_free(frames);
}

#define WITH_ALL(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ALL(pages_that_were_touched_are_noted),
		WITH_ALL(a_note_is_found_beside_the_copy_too),
		WITH_ALL(blocks_of_the_parent_explain_pages_of_the_child),
		WITH_ALL(shares_of_no_process_are_not_valid),
		WITH_ALL(stacks_get_names_from_the_profile_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
