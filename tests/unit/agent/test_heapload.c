/* From what a person names to a set, and to the `heap` object of an incident. */
#include "scratch_fixture.h"

#include "agent/heap/heapcase.h"
#include "agent/heap/heapload.h"
#include "heap_image.h"

static struct heap_image image;
static struct world w;

static int open_all(void **state)
{
	w = live_world();
	return scratch_make(state);
}

static int close_all(void **state)
{
	fixture_close(&w);
	return scratch_remove(state);
}

/* One function that holds so many MiB, and held twice that at the peak. */
static void profile_put(const char *name, int32_t pid, uint64_t start_ticks, uint64_t mib)
{
	image_init(&image, pid);
	image.header.start_ticks = start_ticks;
	image.header.python_version = 0x030a0000;
	image_code(&image, 1, "load", "/app/loader.py", 80, "\x04\x01", 2);
	const uint64_t python[] = {image_python(1, 2, true)};
	uint32_t stack = image_stack(&image, NULL, 0, python, 1);
	image_live(&image, stack, 0x100000, mib * MIB, mib * MIB, 2000000000);
	image_live(&image, stack, 0x900000, mib * MIB, mib * MIB, 2000000000);
	image_peak(&image, 3000000000);
	image.live_ptr[1] = 0;
	image_sum(&image.stacks[stack].live, mib * MIB, mib * MIB, -1);
	image_sum(&image.header.live, mib * MIB, mib * MIB, -1);
	scratch_put(name, &image, offsetof(struct heap_image, n_live), 0600);
}

static int loaded(const char *name, struct heapload_loaded *ret, struct fault *f)
{
	const struct heapload_want want = {.state = scratch};
	*ret = (struct heapload_loaded){.set = NULL};
	f->text[0] = '\0';
	return heapload_path(&w, name, &want, ret, f);
}

static void a_path_is_a_profile_a_folder_or_a_snapshot(void **state)
{
	(void)state;
	struct heapload_loaded l;
	struct fault f;
	size_t n;
	profile_put("2147483.79.heap", 2147483, 79, 1);
	profile_put("2147484.79.heap", 2147484, 79, 2);
	assert_int_equal(loaded(scratch_path("2147483.79.heap"), &l, &f), 0);
	(void)heapset_processes(l.set, &n);
	assert_int_equal(n, 1);
	heapset_free(l.set);
	assert_int_equal(loaded(scratch, &l, &f), 0);
	(void)heapset_processes(l.set, &n);
	assert_int_equal(n, 2);
	heapset_free(l.set);
	assert_int_equal(loaded(FIXTURES "/torch/two_devices.pickle", &l, &f), 0);
	assert_int_equal(heapset_source_of(l.set), HEAPSET_TORCH);
	assert_int_equal(l.n_remarks, 1);
	heapset_free(l.set);
}

static void what_is_no_profile_is_refused_with_a_sentence(void **state)
{
	(void)state;
	struct heapload_loaded l;
	struct fault f;
	assert_int_equal(loaded("/nowhere.heap", &l, &f), -ENOENT);
	assert_string_equal(f.text, "/nowhere.heap cannot be read: No such file or directory");
	assert_int_equal(loaded(scratch_put("text", "hello", 5, 0600), &l, &f), HEAPREAD_DAMAGED);
	assert_int_equal(mkdir(scratch_path("empty"), 0700), 0);
	assert_int_equal(loaded(scratch_path("empty"), &l, &f), HEAPREAD_NONE);
	assert_non_null(strstr(f.text, "no process has left a heap profile in "));
	assert_null(l.set);
}

static void a_job_is_read_by_its_newest_attempt(void **state)
{
	(void)state;
	struct job j = {.attempt = 3, .ended_unix_ms = 1};
	struct heapload_want want = {.state = scratch};
	struct heapload_loaded l = {.set = NULL};
	struct fault f;
	TEXT_COPY(j.id, "j7");
	TEXT_COPY(j.command, "python train.py");
	assert_int_equal(heapload_job(&w, &j, &want, &l, &f), HEAPREAD_NONE);
	assert_non_null(strstr(f.text, "'vigil run --heap -- python train.py'"));
	assert_null(strstr(f.text, "--attach"));
	j.ended_unix_ms = 0;
	assert_int_equal(heapload_job(&w, &j, &want, &l, &f), HEAPREAD_NONE);
	assert_non_null(strstr(f.text, "'vigil heap j7 --attach'"));
	assert_int_equal(file_mkdirs(scratch_path("jobs/j7/attempt-1/heap"), 0700), 0);
	assert_int_equal(file_mkdirs(scratch_path("jobs/j7/attempt-2/heap"), 0700), 0);
	profile_put("jobs/j7/attempt-1/heap/2147483.79.heap", 2147483, 79, 1);
	profile_put("jobs/j7/attempt-2/heap/2147484.79.heap", 2147484, 79, 2);
	assert_int_equal(heapload_job(&w, &j, &want, &l, &f), 0);
	size_t n;
	assert_int_equal(heapset_processes(l.set, &n)->pid, 2147484);
	heapset_free(l.set);
	want.has_attempt = true;
	want.attempt = 1;
	assert_int_equal(heapload_job(&w, &j, &want, &l, &f), 0);
	assert_int_equal(heapset_processes(l.set, &n)->pid, 2147483);
	heapset_free(l.set);
	want.warn = true;
	assert_int_equal(heapload_job(&w, &j, &want, &l, &f), HEAPREAD_NONE);
	assert_string_equal(f.text, "attempt 1 of job j7 has no copies: memory never got short");
}

static void a_process_that_was_attached_to_is_read_after_its_end(void **state)
{
	(void)state;
	const struct heapload_want want = {.state = scratch};
	struct heapload_loaded l = {.set = NULL};
	struct fault f;
	size_t n;
	assert_int_equal(heapload_dead(&w, 2147483, &want, &l, &f), HEAPREAD_NONE);
	assert_int_equal(file_mkdirs(scratch_path("heap/pid-2147483-79"), 0700), 0);
	assert_int_equal(file_mkdirs(scratch_path("heap/pid-2147483-8"), 0700), 0);
	assert_int_equal(file_mkdirs(scratch_path("heap/pid-21474831-99"), 0700), 0);
	profile_put("heap/pid-2147483-79/2147483.79.heap", 2147483, 79, 1);
	assert_int_equal(heapload_dead(&w, 2147483, &want, &l, &f), 0);
	assert_int_equal(heapset_processes(l.set, &n)->pid, 2147483);
	heapset_free(l.set);
}

static void an_incident_shows_the_peak_of_its_victims(void **state)
{
	(void)state;
	const struct proc_id victims[] = {{2147483, 79}, {2147484, 79}};
	assert_null(heapcase_json(&w, scratch, victims, 2, "job j7"));
	assert_int_equal(mkdir(scratch_path("warn"), 0700), 0);
	profile_put("2147483.79.heap", 2147483, 79, 1);
	profile_put("warn/2147483.79.heap", 2147483, 79, 1);
	cleanup(js_freep) struct js *j = heapcase_json(&w, scratch, victims, 2, "job j7");
	assert_string_equal(js_get_text(j, "what", ""), "peak");
	assert_string_equal(js_get_text(j, "file", ""), scratch_path("2147483.79.heap"));
	assert_string_equal(js_get_text(j, "before", ""), scratch_path("warn/2147483.79.heap"));
	assert_int_equal(js_get_i64(j, "ended_processes", 0), 2);
	const struct js *top = js_at(js_get(j, "top"), 0);
	assert_int_equal(js_get_i64(top, "bytes", 0), 2 * MIB);
	assert_non_null(strstr(js_get_text(top, "text", ""), "load"));
}

static void an_incident_shows_the_copy_where_the_file_is_gone(void **state)
{
	(void)state;
	const struct proc_id victim = {2147483, 79};
	assert_int_equal(mkdir(scratch_path("warn"), 0700), 0);
	profile_put("warn/2147483.79.heap", 2147483, 79, 1);
	cleanup(js_freep) struct js *j = heapcase_json(&w, scratch, &victim, 1, "job j7");
	assert_string_equal(js_get_text(j, "what", ""), "live");
	assert_string_equal(js_get_text(j, "file", ""), scratch_path("warn/2147483.79.heap"));
	assert_null(js_get(j, "before"));
	assert_null(js_get(j, "ended_processes"));
}

#define WITH_ALL(test) cmocka_unit_test_setup_teardown(test, open_all, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ALL(a_path_is_a_profile_a_folder_or_a_snapshot),
		WITH_ALL(what_is_no_profile_is_refused_with_a_sentence),
		WITH_ALL(a_job_is_read_by_its_newest_attempt),
		WITH_ALL(a_process_that_was_attached_to_is_read_after_its_end),
		WITH_ALL(an_incident_shows_the_peak_of_its_victims),
		WITH_ALL(an_incident_shows_the_copy_where_the_file_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
