#include "testing.h"

#include <string.h>

#include "model/speed/threadshare.h"

static struct threadshare share;
static size_t at;

/* One look: the main thread has number 10, the others 11 and so on, and each rests at a word of its own. */
static enum threadshare_is look_at(const char *does)
{
	static const char letters[] = {[THREADSHARE_RESTS] = 'w',     [THREADSHARE_RUNS] = 'R',
				       [THREADSHARE_NAPS] = 'n',      [THREADSHARE_BLOCKS] = 'b',
				       [THREADSHARE_FOR_RANKS] = 'r', [THREADSHARE_UNKNOWN] = '?'};
	struct threadshare_look look[8];
	size_t n = strlen(does);
	for (size_t i = 0; i < n; i++) {
		const char *letter = memchr(letters, does[i], sizeof(letters));
		/* 'm': it rests at another word, that of messages */
		look[i] = (struct threadshare_look){.tid = (pid_t)(10 + i),
						    .does = letter ? (enum threadshare_does)(letter - letters)
								   : THREADSHARE_RESTS,
						    .word = letter ? 100 + 2 * i : 900};
	}
	return threadshare_add(&share, look, n, &at);
}

static void many(const char *does, int times)
{
	for (int i = 0; i < times; i++)
		(void)look_at(does);
}

static void begin(void)
{
	share = (struct threadshare){.looks = 0};
}

/* Main waits for two workers, then for ranks by itself. */
static void the_main_thread_waits_for_a_worker_that_works(void **state)
{
	(void)state;
	begin();
	assert_int_equal(look_at("wwR"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 2);
	assert_int_equal(look_at("wnR"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 2);
	assert_int_equal(look_at("wwn"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 2);
	assert_int_equal(look_at("wbn"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 1);
	assert_int_equal(look_at("rww"), THREADSHARE_WAITS);
	assert_int_equal(at, 0);
	assert_int_equal(look_at("Rww"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 0);
	/* nobody is seen to do anything */
	assert_int_equal(look_at("www"), THREADSHARE_VAGUE);
	assert_int_equal(look_at("w?R"), THREADSHARE_VAGUE);
}

/* A worker that takes all the time is busy at all looks; so may be a thread that has nothing to do with steps. */
static void who_is_always_busy_is_what_a_process_does_where_nobody_waits_for_ranks(void **state)
{
	(void)state;
	begin();
	many("wR", 60);
	assert_int_equal(look_at("wR"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 1);
	begin();
	many("mrR", 60);
	assert_int_equal(look_at("mrR"), THREADSHARE_VAGUE);
}

/* Messages are received by a thread of their own, for which the main one waits at one word, for workers at another. */
static void a_word_at_which_all_wait_for_ranks_is_one_of_messages(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 30; i++) {
		many("wrR", 2);
		many("mrw", 3);
	}
	assert_int_equal(look_at("wrR"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 2);
	assert_int_equal(look_at("mrw"), THREADSHARE_WAITS);
	assert_int_equal(at, 1);
	/* a thread that saves something meanwhile changes nothing */
	assert_int_equal(look_at("mrR"), THREADSHARE_WAITS);
	assert_int_equal(at, 1);
}

/* One word for both: whether it waits for work or for messages is not known while somebody works. */
static void a_word_for_work_and_messages_is_vague(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 30; i++) {
		many("wrR", 2);
		many("wrw", 1);
	}
	assert_int_equal(look_at("wrR"), THREADSHARE_VAGUE);
	assert_int_equal(look_at("wrw"), THREADSHARE_WAITS);
	/* so it is until it was seen often enough */
	begin();
	assert_int_equal(look_at("wrR"), THREADSHARE_VAGUE);
	assert_int_equal(look_at("wrw"), THREADSHARE_VAGUE);
}

/* A progress bar that sleeps between its lines, on one rank alone. */
static void who_sleeps_while_messages_are_waited_for_makes_nobody_slow(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 30; i++) {
		many("wrRn", 2);
		many("mrwn", 3);
	}
	assert_int_not_equal(look_at("mrwn"), THREADSHARE_AS_THREAD);
	/* where the main one waits for ranks by itself now and then, that sleeper is known to have no part in it */
	begin();
	for (int i = 0; i < 30; i++) {
		many("wrRn", 2);
		many("mrwn", 3);
		many("rrwn", 1);
	}
	assert_int_equal(look_at("mrwn"), THREADSHARE_WAITS);
	assert_int_equal(look_at("wrRn"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 2);
}

/* The main thread joins one that goes through the steps and has a worker. */
static void a_main_thread_that_only_joins_others_tells_nothing(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 30; i++) {
		many("wwR", 2);
		many("wrw", 2);
		many("wRw", 1);
	}
	assert_int_equal(look_at("wwR"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 2);
	assert_int_equal(look_at("wRw"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 1);
	/* a thread that computes on its own while the one of the steps waits for ranks */
	assert_int_equal(look_at("wrR"), THREADSHARE_WAITS);
	assert_int_equal(at, 1);
}

/* A team whose threads compute together, and one of them longer: that it is busy beside the main one is no sign. */
static void a_team_that_works_together_is_waited_for(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 30; i++) {
		many("RR", 4);
		many("wn", 4);
	}
	assert_int_equal(look_at("wn"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 1);
}

/* A thread that listens for visitors is not what the main one waits for while a worker sleeps. */
static void who_always_waits_for_others_comes_last(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 30; i++) {
		many("wnb", 1);
		many("wwb", 1);
	}
	assert_int_equal(look_at("wnb"), THREADSHARE_AS_THREAD);
	assert_int_equal(at, 1);
}

/* A loop of events that may wait for ranks or for its own: nothing is claimed, whoever saves something beside it. */
static void a_wait_that_may_be_for_ranks_claims_nothing(void **state)
{
	(void)state;
	begin();
	for (int i = 0; i < 60; i++) {
		many("w?R", 1);
		many("w?w", 1);
	}
	assert_int_equal(look_at("w?R"), THREADSHARE_VAGUE);
}

/* Threads that are made anew in each step. */
static void threads_that_end_make_room(void **state)
{
	(void)state;
	begin();
	for (pid_t i = 0; i < 500; i++) {
		const struct threadshare_look look[] = {{.tid = 10, .word = 7},
							{.tid = 1000 + i, .does = THREADSHARE_NAPS}};
		assert_int_equal(threadshare_add(&share, look, 2, &at), THREADSHARE_AS_THREAD);
		assert_int_equal(at, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_main_thread_waits_for_a_worker_that_works),
		cmocka_unit_test(who_is_always_busy_is_what_a_process_does_where_nobody_waits_for_ranks),
		cmocka_unit_test(a_word_at_which_all_wait_for_ranks_is_one_of_messages),
		cmocka_unit_test(a_word_for_work_and_messages_is_vague),
		cmocka_unit_test(who_sleeps_while_messages_are_waited_for_makes_nobody_slow),
		cmocka_unit_test(a_main_thread_that_only_joins_others_tells_nothing),
		cmocka_unit_test(a_team_that_works_together_is_waited_for),
		cmocka_unit_test(who_always_waits_for_others_comes_last),
		cmocka_unit_test(a_wait_that_may_be_for_ranks_claims_nothing),
		cmocka_unit_test(threads_that_end_make_room),
	};
	return cmocka_run_group_tests_name("model/speed/threadshare", tests, NULL, NULL);
}
