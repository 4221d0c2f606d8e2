#include "testing.h"

#include "model/jobs/job.h"

static void names_and_states_of_jobs_map_to_each_other(void **state)
{
	(void)state;
	for (int s = 0; s < JOB_STATE_MAX; s++)
		assert_int_equal(job_state_of(job_state_name((enum job_state)s)), s);
	assert_string_equal(job_state_name(JOB_WAITING), "waiting");
	assert_string_equal(job_state_name(JOB_LOST), "lost");
}

static void a_foreign_name_or_number_is_no_state(void **state)
{
	(void)state;
	assert_int_equal(job_state_of("Running"), JOB_STATE_MAX);
	assert_int_equal(job_state_of(""), JOB_STATE_MAX);
	assert_string_equal(job_state_name(JOB_STATE_MAX), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_states_of_jobs_map_to_each_other),
		cmocka_unit_test(a_foreign_name_or_number_is_no_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
