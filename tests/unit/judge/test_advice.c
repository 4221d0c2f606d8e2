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

static void a_grower(const char *role, pid_t pid, uint64_t grown_mib, uint64_t over_ms)
{
	struct incident_grower *g = &in.growers[in.n_growers++];
	*g = (struct incident_grower){.pid = pid,
				      .rank = NO_RANK,
				      .grown_bytes = grown_mib * MIB,
				      .over_ms = over_ms,
				      .own_bytes = grown_mib * MIB,
				      .growth_bytes_per_s = (int64_t)(grown_mib * MIB * 1000 / over_ms)};
	TEXT_COPY(g->role, role);
	TEXT_COPY(g->name, "python3");
}

/* A job of 900 MiB whose main process, 100, holds most of it. */
static void a_job(void)
{
	in = (struct incident){.kind = INCIDENT_MEMORY_KILL};
	in.memory.used_bytes = in.memory.total_bytes = in.memory.job_bytes = 900 * MIB;
	in.victim.pid = 100;
	in.victim.rank = NO_RANK;
	in.victim.own_bytes = 900 * MIB;
	TEXT_COPY(in.victim.name, "python3");
}

static void who_grew_is_named_not_who_is_largest(void **state)
{
	(void)state;
	a_job();
	a_grower("worker", 104, 200, 250000);
	a_grower("main", 100, 10, 250000);
	in.memory.growth_bytes_per_s = 800 * 1024;
	in.memory.growth_over_ms = 250000;
	advice_memory_kill(&in, 1);
	assert_non_null(strstr(in.summary, "what grew is worker pid 104 of it, by 200 MiB"));
	assert_non_null(strstr(in.cause.text, "What grew is its worker, pid 104 (python3): by 200 MiB in 4 m 10 s"));
	assert_non_null(strstr(in.cause.text, "Over the last 4 m 10 s memory was filling by 800 KiB/s."));
	assert_true(advised("worker pid 104 keeps"));
	assert_false(advised("data loader"));
}

/* Ranks of one job grow alike: that another grew by some MiB more is not why this one was ended, nor is it "of it". */
static void another_rank_is_named_as_one_and_only_where_the_victim_did_not_grow(void **state)
{
	(void)state;
	a_job();
	in.victim.rank = 0;
	a_grower("main", 104, 152, 6000);
	in.growers[0].rank = 1;
	a_grower("main", 100, 150, 6000);
	in.growers[1].rank = 0;
	advice_memory_kill(&in, 1);
	assert_null(strstr(in.summary, "what grew"));
	in.growers[1].grown_bytes = 30 * MIB;
	advice_memory_kill(&in, 1);
	assert_non_null(strstr(in.summary, "what grew is main pid 104 of rank 1, by 152 MiB"));
}

static void a_loader_is_spoken_of_only_where_it_grew(void **state)
{
	(void)state;
	a_job();
	a_grower("main", 100, 300, 60000);
	a_grower("loader", 104, 20, 60000);
	advice_memory_kill(&in, 1);
	assert_false(advised("loader"));
	assert_non_null(strstr(in.cause.text, "What grew is its main process, pid 100"));
	assert_null(strstr(in.summary, "what grew"));
	a_job();
	a_grower("loader", 104, 200, 60000);
	a_grower("loader", 105, 180, 60000);
	advice_memory_kill(&in, 1);
	assert_true(advised("look into the data loader first: its worker pid 104 grew by 200 MiB"));
	assert_true(advised("num_workers"));
	assert_non_null(strstr(in.cause.text, "with it 1 like it, 380 MiB together"));
}

static void growth_that_explains_nothing_is_not_told(void **state)
{
	(void)state;
	a_job();
	a_grower("worker", 104, 5, 60000);
	advice_memory_kill(&in, 1);
	assert_null(strstr(in.cause.text, "What grew"));
}

static void shared_memory_that_stays_behind_is_named_with_what_to_do(void **state)
{
	(void)state;
	a_job();
	in.n_shm = 2;
	in.shm[0] = (struct incident_shm){.path = "/dev/shm/other", .bytes = 300 * MIB};
	in.shm[1] = (struct incident_shm){.path = "/dev/shm/cache", .bytes = 500 * MIB, .left = true};
	in.memory.shm_left_bytes = 500 * MIB;
	advice_memory_kill(&in, 1);
	assert_non_null(strstr(in.cause.text, "500 MiB of shared memory"));
	assert_non_null(strstr(in.cause.text, "/dev/shm/cache"));
	assert_null(strstr(in.cause.text, "/dev/shm/other"));
	assert_true(advised("lie in /dev/shm/cache and stay until the file is removed"));
}

static void the_rank_that_grew_is_the_culprit(void **state)
{
	(void)state;
	three_ranks(330 * MIB, 320 * MIB);
	assert_int_equal(in.n_culprits, 0);
	in.growers[0] = (struct incident_grower){.pid = 7, .rank = 2, .grown_bytes = 200 * MIB, .over_ms = 5000};
	in.n_growers = 1;
	in.cause.text[0] = 0;
	advice_memory_kill(&in, 3);
	assert_int_equal(in.n_culprits, 1);
	assert_int_equal(in.culprit_ranks[0], 2);
	three_ranks(800 * MIB, 20 * MIB);
	assert_int_equal(in.culprit_ranks[0], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_grew_since_it_was_last_looked_at_holds_what_its_victim_held),
		cmocka_unit_test(a_small_job_among_others_is_told_so),
		cmocka_unit_test(the_machines_shared_memory_says_nothing_about_a_limit_within_it),
		cmocka_unit_test(one_rank_that_holds_more_than_the_others_is_what_to_look_at),
		cmocka_unit_test(who_grew_is_named_not_who_is_largest),
		cmocka_unit_test(another_rank_is_named_as_one_and_only_where_the_victim_did_not_grow),
		cmocka_unit_test(a_loader_is_spoken_of_only_where_it_grew),
		cmocka_unit_test(growth_that_explains_nothing_is_not_told),
		cmocka_unit_test(shared_memory_that_stays_behind_is_named_with_what_to_do),
		cmocka_unit_test(the_rank_that_grew_is_the_culprit),
		cmocka_unit_test(ranks_that_are_alike_need_as_much_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
