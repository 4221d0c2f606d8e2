#include "agent/scratch_fixture.h"

#include <fcntl.h>

#include "sense/framework/raylogs.h"

#define ID "2fe49167ed6756aa531026bfd251261eef72da961126bd85db777aae"
#define OTHER "99949167ed6756aa531026bfd251261eef72da961126bd85db777aae"

static void put(const char *name, const char *text)
{
	(void)scratch_put(name, text, strlen(text), 0600);
}

static struct raylogs logs_of_scratch(void)
{
	struct raylogs l = {.fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			    .user = {.uid = geteuid(), .gid = getegid()}};
	assert_true(l.fd >= 0);
	TEXT_COPY(l.folder, scratch);
	return l;
}

static void the_last_task_that_is_named_counts(void **state)
{
	(void)state;
	struct raylogs_title t;
	raylogs_title_parse(SPAN(":job_id:01000000\n:task_name:first\nhi\n:task_name:my leak\n said :task_name:no\n"),
			    &t);
	assert_string_equal(t.title, "ray::my leak");
	assert_string_equal(t.job_id, "01000000");
	raylogs_title_parse(SPAN(":job_id:02000000\n:actor_name:Learner\nact\n"), &t);
	assert_string_equal(t.title, "ray::Learner");
	raylogs_title_parse(SPAN(":task_name:\n"), &t);
	assert_string_equal(t.title, "");
	raylogs_title_parse(SPAN(""), &t);
	assert_true(t.title[0] == '\0' && t.job_id[0] == '\0');
}

static void a_dead_worker_is_found_by_its_pid(void **state)
{
	(void)state;
	struct rayworker w;
	struct raylogs_title t;
	put("worker-" ID "-ffffffff-504.out", ":job_id:01000000\n:task_name:leak\n");
	put("worker-" OTHER "-02000000-3504.out", ":task_name:other\n");
	put("worker-" ID "-ffffffff-504.err", ":task_name:none\n");
	cleanup(raylogs_done) struct raylogs l = logs_of_scratch();
	for (int again = 0; again < 2; again++) {
		assert_int_equal(raylogs_worker(&l, 504, &w, &t), 0);
		assert_string_equal(w.worker_id, ID);
		assert_string_equal(w.job_id, "01000000");
		assert_string_equal(t.title, "ray::leak");
	}
	assert_int_equal(raylogs_worker(&l, 3504, &w, &t), 0);
	assert_string_equal(w.worker_id, OTHER);
	assert_int_equal(raylogs_worker(&l, 4, &w, &t), WORLD_ABSENT);
}

static void the_end_of_a_long_output_is_read(void **state)
{
	(void)state;
	struct rayworker w;
	struct raylogs_title t;
	char *text = calloc(1, 300001);
	assert_non_null(text);
	memset(text, 'x', 300000);
	memcpy(text, ":job_id:01000000\n:task_name:first\n", 34);
	memcpy(text + 299000, "\n:task_name:last\n", 17);
	(void)scratch_put("worker-" ID "-ffffffff-504.out", text, 300000, 0600);
	free(text);
	cleanup(raylogs_done) struct raylogs l = logs_of_scratch();
	assert_int_equal(raylogs_worker(&l, 504, &w, &t), 0);
	assert_string_equal(t.title, "ray::last");
	assert_string_equal(t.job_id, "01000000");
}

static void a_link_is_no_output(void **state)
{
	(void)state;
	struct rayworker w;
	struct raylogs_title t;
	put("secret", ":task_name:secret\n");
	assert_int_equal(symlink("secret", scratch_path("worker-" ID "-ffffffff-504.out")), 0);
	cleanup(raylogs_done) struct raylogs l = logs_of_scratch();
	assert_int_equal(raylogs_worker(&l, 504, &w, &t), WORLD_ABSENT);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_task_that_is_named_counts),
		IN_SCRATCH(a_dead_worker_is_found_by_its_pid),
		IN_SCRATCH(the_end_of_a_long_output_is_read),
		IN_SCRATCH(a_link_is_no_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
