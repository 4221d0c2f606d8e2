#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "judge/memory/advice.h"

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

static void the_machines_shared_memory_says_nothing_about_a_limit_within_it(void **state)
{
	(void)state;
	for (int own_limit = 0; own_limit < 2; own_limit++) {
		in = (struct incident){.kind = INCIDENT_MEMORY_KILL};
		in.memory.scope = own_limit ? MEMORY_SCOPE_JOB : MEMORY_SCOPE_NODE;
		in.memory.used_bytes = in.memory.total_bytes = in.memory.job_bytes = 60 * MIB;
		in.memory.shm_bytes = 11 * MIB;
		in.victim.own_bytes = 57 * MIB;
		advice_memory_kill(&in, 1);
		assert_int_equal(advised("shared memory"), !own_limit);
	}
}

static void three_ranks(uint64_t one_bytes, uint64_t others_bytes)
{
	in = (struct incident){.kind = INCIDENT_MEMORY_KILL};
	in.memory.used_bytes = in.memory.total_bytes = GIB;
	in.memory.job_bytes = GIB;
	in.victim.rank = 1;
	in.victim.own_bytes = one_bytes;
	TEXT_COPY(in.victim.name, "python");
	in.n_candidates = 3;
	for (int32_t i = 0; i < 3; i++)
		in.candidates[i] =
			(struct incident_candidate){.rank = i, .own_bytes = i == 1 ? one_bytes : others_bytes};
	advice_memory_kill(&in, 3);
}

static void one_rank_that_holds_more_than_the_others_is_what_to_look_at(void **state)
{
	(void)state;
	three_ranks(800 * MIB, 20 * MIB);
	assert_non_null(strstr(in.summary, "vigil ended python (rank 1, pid "));
	assert_non_null(strstr(in.cause.text, "Rank 1 held 800 MiB of its own, no other rank more than 20.0 MiB."));
	assert_true(advised("only rank 1 keeps"));
	assert_false(advised("fewer ranks"));
}

static void ranks_that_are_alike_need_as_much_each(void **state)
{
	(void)state;
	three_ranks(330 * MIB, 320 * MIB);
	assert_null(strstr(in.cause.text, "no other rank"));
	assert_true(advised("fewer ranks on this node than 3, each needs about 330 MiB"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_grew_since_it_was_last_looked_at_holds_what_its_victim_held),
		cmocka_unit_test(a_small_job_among_others_is_told_so),
		cmocka_unit_test(the_machines_shared_memory_says_nothing_about_a_limit_within_it),
		cmocka_unit_test(one_rank_that_holds_more_than_the_others_is_what_to_look_at),
		cmocka_unit_test(ranks_that_are_alike_need_as_much_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
