#include "testing.h"

#include "model/jobs/raytitle.h"

static void a_title_names_what_the_worker_runs(void **state)
{
	(void)state;
	static const struct {
		const char *command, *name;
		bool idle;
	} rows[] = {
		{"ray::preprocess", "preprocess", false},
		{"ray::Learner.learn", "Learner.learn", false},
		{"ray::Learner", "Learner", false},
		{"ray::IDLE     ", "IDLE", true}, /* setproctitle leaves blanks */
		{"ray::IDLE_SpillWorker", "IDLE_SpillWorker", true},
		{"ray::IDLE_x", "IDLE_x", false},
		{"ray::a name: of the user's\xff", "a name: of the user's\xff", false},
		{"ray::DashboardAgent", NULL, false},
		{"ray::RuntimeEnvAgent", NULL, false},
		{"ray::", NULL, false},
		{"ray:: ", NULL, false},
		{"", NULL, false},
		{"python ray::preprocess", NULL, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct raytitle t = {.name = {NULL, 0}};
		assert_int_equal(raytitle_of(span_of(rows[i].command), &t), rows[i].name != NULL);
		if (!rows[i].name)
			continue;
		assert_true(span_eq(t.name, rows[i].name));
		assert_int_equal(t.idle, rows[i].idle);
	}
}

static void an_actor_is_found_by_its_class_and_a_task_by_its_name(void **state)
{
	(void)state;
	static const struct {
		const char *command, *asked;
		bool is;
	} rows[] = {
		{"ray::preprocess", "preprocess", true},
		{"ray::preprocess", "ray::preprocess", true},
		{"ray::preprocess", "pre", false},
		{"ray::preprocess_all", "preprocess", false},
		{"ray::Learner.learn", "Learner", true},
		{"ray::Learner.learn", "Learner.learn", true},
		{"ray::Learner.learn", "ray::Learner", true},
		{"ray::Learner.learn", "Learner.", false},
		{"ray::Learner.learn", "learn", false},
		{"ray::Learner", "Learner.learn", false},
		{"ray::IDLE", "IDLE", false},
		{"ray::IDLE", "ray::IDLE", true},
		{"ray::.x", "", false},
		{"ray::x", "ray::", false},
		{"ray::DashboardAgent", "DashboardAgent", false},
		{"python train.py", "train.py", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(raytitle_is(span_of(rows[i].command), rows[i].asked), rows[i].is);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_title_names_what_the_worker_runs),
		cmocka_unit_test(an_actor_is_found_by_its_class_and_a_task_by_its_name),
	};
	return cmocka_run_group_tests_name("model/jobs/raytitle", tests, NULL, NULL);
}
