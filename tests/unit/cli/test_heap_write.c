#include "cli_fixture.h"

#include "cli/heap/heap_write.h"
#include "cli/options/commands.h"

static struct made_world made;
static struct heapset *set;
static struct heap_show_want show;
static const struct heap_name name = {.title = "job train-1", .key = "train-1"};

static int begin(void **state)
{
	(void)state;
	struct heapset_process p = {.pid = 812, .rank = 0, .name = "python", .device = -1, .seconds = 5};
	const struct frame at = {
		.kind = FRAME_PYTHON, .name = "load", .file = "/app/loader.py", .module = "", .line = 88};
	struct heapset_figures f = {.live = {.bytes = 3e6, .objects = 10, .samples = 6}};
	uint32_t id, frame;
	made_begin(&made);
	log_capture();
	made_write(&made, "812.heap", "profile", 7);
	TEXT_FORMAT(p.file, "%s/812.heap", made.dir);
	set = heapset_new(HEAPSET_SAMPLED);
	f.seen = f.peak = f.total = f.live;
	p.live = p.seen = f.live;
	assert_int_equal(heapset_process_add(set, &p, &id), 0);
	assert_int_equal(frametab_intern(heapset_frames(set), &at, &frame), 0);
	assert_int_equal(heapset_add(set, id, &frame, 1, &f), 0);
	show = (struct heap_show_want){.part = {.what = HEAPSET_LIVE, .lines = true}, .title = name.title};
	return 0;
}

static int end(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	set = heapset_free(set);
	made_end(&made);
	return 0;
}

static char output[200];

static int write_to(const char *file, int format)
{
	TEXT_FORMAT(output, "%s/%s", made.dir, file);
	const struct heap_write_want want = {
		.set = set, .show = &show, .name = &name, .output = output, .format = format, .by = HEAP_BY_JOB};
	return heap_write_out(&want);
}

/* The file begins with this text. */
static void assert_begins(const char *start)
{
	char got[400];
	size_t len;
	assert_int_equal(file_read_at(AT_FDCWD, output, got, sizeof(got), &len), 0);
	got[MIN(len, strlen(start))] = '\0';
	assert_string_equal(got, start);
}

static void the_suffix_of_the_output_chooses_the_format(void **state)
{
	(void)state;
	static const struct {
		const char *file, *start;
	} cases[] = {
		{"a.json", "{\"schema\": \"vigil.heap/1\""},
		{"a.svg", "<?xml"},
		{"a.html", "<!DOCTYPE html"},
		{"a.folded", "load"},
		{"a.pb.gz", "\x1f\x8b"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char want[300];
		assert_int_equal(write_to(cases[i].file, -1), 0);
		TEXT_FORMAT(want, "vigil: written to %s\n", output);
		assert_logged(want);
		assert_begins(cases[i].start);
	}
}

static void a_format_that_is_given_goes_before_the_suffix(void **state)
{
	(void)state;
	assert_int_equal(write_to("a.svg", HEAP_JSON), 0);
	assert_begins("{\"schema\": \"vigil.heap/1\"");
	assert_int_equal(write_to("a.unknown", -1), 0); /* a table */
	char first[400];
	size_t len;
	assert_int_equal(file_read_at(AT_FDCWD, output, first, sizeof(first), &len), 0);
	assert_non_null(strstr(first, "job train-1"));
	assert_true(first[0] != '<' && first[0] != '{');
}

static void a_name_that_ends_in_heap_takes_the_profiles(void **state)
{
	(void)state;
	char want[500];
	assert_int_equal(write_to("now.heap", -1), 0);
	TEXT_FORMAT(want, "vigil: 1 profile as of now in %s; 'vigil heap train-1 --diff %s' tells what changed since\n",
		    output, output);
	assert_logged(want);
	assert_begins("profile");
	assert_int_equal(write_to("json.heap", HEAP_JSON), 0);
	assert_begins("{\"schema\": \"vigil.heap/1\"");
}

static void differences_have_no_pprof_and_leave_no_file(void **state)
{
	(void)state;
	show.compare = true;
	show.before = show.part;
	assert_int_equal(write_to("a.pb.gz", -1), EXIT_PROBLEM);
	assert_logged("vigil: differences are written as a table, html, svg, folded or json, not as pprof\n");
	assert_int_equal(access(output, F_OK), -1);
}

static void notes_are_logged_beside_a_picture(void **state)
{
	(void)state;
	static char notes[][300] = {"one rank has no profile"};
	char want[400];
	show.remarks = notes;
	show.n_remarks = 1;
	assert_int_equal(write_to("a.svg", -1), 0);
	TEXT_FORMAT(want, "vigil: written to %s\nvigil: one rank has no profile\n", output);
	assert_logged(want);
	assert_int_equal(write_to("a.json", -1), 0); /* it has them inside */
	TEXT_FORMAT(want, "vigil: written to %s\n", output);
	assert_logged(want);
}

static void a_place_that_cannot_be_written_is_a_problem(void **state)
{
	(void)state;
	assert_int_equal(write_to("absent/a.svg", -1), EXIT_PROBLEM);
	assert_non_null(strstr(logged, output));
}

#define WRITE_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WRITE_TEST(the_suffix_of_the_output_chooses_the_format),
		WRITE_TEST(a_format_that_is_given_goes_before_the_suffix),
		WRITE_TEST(a_name_that_ends_in_heap_takes_the_profiles),
		WRITE_TEST(differences_have_no_pprof_and_leave_no_file),
		WRITE_TEST(notes_are_logged_beside_a_picture),
		WRITE_TEST(a_place_that_cannot_be_written_is_a_problem),
	};
	return cmocka_run_group_tests_name("cli/heap_write", tests, NULL, NULL);
}
