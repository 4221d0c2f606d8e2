#include "testing.h"

#include <string.h>

#include "judge/advice.h"

static struct incident in;

static bool advised(const char *words)
{
	for (size_t i = 0; i < in.cause.n_advice; i++)
		if (strstr(in.cause.advice[i], words))
			return true;
	return false;
}

static void a_job_that_grew_since_it_was_last_looked_at_holds_what_its_victim_held(void **state)
{
	(void)state;
	in = (struct incident){.kind = INCIDENT_MEMORY_KILL};
	in.memory.used_bytes = 210 * MIB;
	in.memory.total_bytes = 256 * MIB;
	in.memory.job_bytes = 498 * KIB;
	in.victim.own_bytes = 200 * MIB;
	advice_memory_kill(&in, 1);
	assert_string_equal(in.cause.id, "job_outgrew_memory");
	assert_true(advised("this attempt needs more than 200 MiB"));
}

static void a_small_job_among_others_is_told_so(void **state)
{
	(void)state;
	in = (struct incident){.kind = INCIDENT_MEMORY_KILL};
	in.memory.used_bytes = 10 * GIB;
	in.memory.total_bytes = 10 * GIB;
	in.memory.job_bytes = GIB;
	in.victim.own_bytes = 900 * MIB;
	advice_memory_kill(&in, 1);
	assert_string_equal(in.cause.id, "memory_crowded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_grew_since_it_was_last_looked_at_holds_what_its_victim_held),
		cmocka_unit_test(a_small_job_among_others_is_told_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
