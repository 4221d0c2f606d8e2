/* The environment of a job whose processes leave heap profiles. */
#include "scratch_fixture.h"

#include "agent/heap/heaprun.h"

static struct world w;

/* A library that vigil finds, and a program of glibc. */
static int library_make(void **state)
{
	if (scratch_make(state))
		return -1;
	w = live_world();
	scratch_put("libvigil_heap.so", "x", 1, 0755);
	return setenv("VIGIL_DATA_DIR", scratch, 1) || unsetenv("LD_PRELOAD");
}

static int library_remove(void **state)
{
	fixture_close(&w);
	return unsetenv("VIGIL_DATA_DIR") || unsetenv("LD_PRELOAD") || scratch_remove(state);
}

static struct heaprun prepared(const struct heaprun_want *want, int expected, struct fault *f)
{
	struct heaprun h = {.preload = NULL};
	f->text[0] = '\0';
	assert_int_equal(heaprun_prepare(&w, want, &h, f), expected);
	return h;
}

static void the_library_goes_in_front_of_the_users(void **state)
{
	(void)state;
	char expected[400];
	struct fault f;
	const struct heaprun_want want = {.program = "/bin/true", .rate_bytes = 524288, .objects = true};
	struct heaprun h = prepared(&want, 0, &f);
	TEXT_FORMAT(expected, "LD_PRELOAD=%s/libvigil_heap.so", scratch);
	assert_string_equal(h.preload, expected);
	assert_string_equal(h.rate, "VIGIL_HEAP_RATE=524288");
	assert_string_equal(h.objects, "VIGIL_HEAP_OBJECTS=1");
	assert_string_equal(h.unfit, "");
	heaprun_done(&h);
	assert_null(h.preload);
	assert_int_equal(setenv("LD_PRELOAD", "/lib/libjemalloc.so", 1), 0);
	h = prepared(&want, 0, &f);
	TEXT_FORMAT(expected, "LD_PRELOAD=%s/libvigil_heap.so:/lib/libjemalloc.so", scratch);
	assert_string_equal(h.preload, expected);
	heaprun_done(&h);
}

static void asan_stays_first(void **state)
{
	(void)state;
	char expected[400];
	struct fault f;
	const struct heaprun_want want = {.program = "/bin/true", .rate_bytes = 0};
	assert_int_equal(setenv("LD_PRELOAD", "/lib/libasan.so.8", 1), 0);
	struct heaprun h = prepared(&want, 0, &f);
	TEXT_FORMAT(expected, "LD_PRELOAD=/lib/libasan.so.8:%s/libvigil_heap.so", scratch);
	assert_string_equal(h.preload, expected);
	assert_string_equal(h.rate, "VIGIL_HEAP_RATE=0");
	assert_string_equal(h.objects, "");
	heaprun_done(&h);
}

static void rates_out_of_range_are_refused(void **state)
{
	(void)state;
	struct fault f;
	(void)prepared(&(struct heaprun_want){.program = "true", .rate_bytes = 4095}, -EINVAL, &f);
	assert_true(strstr(f.text, "4 KiB to 16 MiB"));
	(void)prepared(&(struct heaprun_want){.program = "true", .rate_bytes = 16 * MIB + 1}, -EINVAL, &f);
}

static void a_path_that_ld_preload_cannot_name_is_refused(void **state)
{
	(void)state;
	struct fault f;
	assert_int_equal(mkdir(scratch_path("a b"), 0755), 0);
	scratch_put("a b/libvigil_heap.so", "x", 1, 0755);
	assert_int_equal(setenv("VIGIL_DATA_DIR", scratch_path("a b"), 1), 0);
	(void)prepared(&(struct heaprun_want){.program = "true", .rate_bytes = 65536}, -EINVAL, &f);
	assert_true(strstr(f.text, "a blank or a colon"));
}

static void a_program_that_is_no_64_bit_one_is_named(void **state)
{
	(void)state;
	struct fault f;
	char elf[64] = "\177ELF\1\1\1";
	struct heaprun h = prepared(
		&(struct heaprun_want){.program = scratch_put("old", elf, sizeof(elf), 0755), .rate_bytes = 65536}, 0,
		&f);
	assert_true(strstr(h.unfit, "/old leaves no heap profile: it is no 64-bit program"));
	assert_non_null(h.preload); /* what it starts may be one */
	heaprun_done(&h);
}

static void an_attempt_gets_a_folder_of_its_own(void **state)
{
	(void)state;
	struct heaprun h = {.preload = NULL};
	char expected[400], whole[PATH_MAX];
	int r = heaprun_attempt(&h, scratch_path("job-7"), 2);
	if (r == -EOPNOTSUPP)
		skip(); /* no file system here can reserve space */
	assert_int_equal(r, 0);
	assert_non_null(realpath(scratch_path("job-7/attempt-2/heap"), whole));
	TEXT_FORMAT(expected, "VIGIL_HEAP_DIR=%s", whole);
	assert_string_equal(h.dir, expected);
	assert_string_equal(h.files.folder, whole);
	struct stat st;
	assert_int_equal(stat(whole, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	/* where it is a link to a disk, the folder there is removed with it */
	(void)rmdir(whole);
	(void)unlink(scratch_path("job-7/attempt-2/heap"));
	assert_int_equal(heaprun_attempt(&h, "", 0), -ENOENT);
	assert_string_equal(h.dir, "");
	assert_string_equal(h.files.folder, "");
}

static void the_end_says_why_there_is_no_profile(void **state)
{
	(void)state;
	struct heaprun h = {.preload = NULL};
	char text[400];
	heaprun_nothing(&h, text, sizeof(text));
	assert_string_equal(text, "");
	heapfiles_begin(&h.files, scratch);
	heaprun_nothing(&h, text, sizeof(text));
	assert_true(strstr(text, "less than about a MiB"));
	scratch_put("8.1.off-3", "", 0, 0600);
	scratch_put("9.1.off-3", "", 0, 0600);
	heaprun_nothing(&h, text, sizeof(text));
	assert_true(strstr(text, "2 processes could not have one: "));
	scratch_put("10.1.heap", "", 0, 0600);
	heaprun_nothing(&h, text, sizeof(text));
	assert_string_equal(text, "");
	assert_int_equal(unlink(scratch_path("10.1.heap")), 0);
	TEXT_COPY(h.unfit, "said before");
	heaprun_nothing(&h, text, sizeof(text));
	assert_string_equal(text, "");
}

#define WITH_LIBRARY(test) cmocka_unit_test_setup_teardown(test, library_make, library_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LIBRARY(the_library_goes_in_front_of_the_users),
		WITH_LIBRARY(asan_stays_first),
		WITH_LIBRARY(rates_out_of_range_are_refused),
		WITH_LIBRARY(a_path_that_ld_preload_cannot_name_is_refused),
		WITH_LIBRARY(a_program_that_is_no_64_bit_one_is_named),
		WITH_LIBRARY(an_attempt_gets_a_folder_of_its_own),
		WITH_LIBRARY(the_end_says_why_there_is_no_profile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
