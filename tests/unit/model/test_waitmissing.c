#include "testing.h"

#include <string.h>

#include "base/buf.h"
#include "model/hang/waitmissing.h"
#include "sense/rank.h"

#define RANKS 4
#define HINTS 16

/* Four ranks, of processes 100 to 103 with one thread each, which all wait for something within the process. */
struct job {
	struct waitfact_process process[RANKS];
	struct waitfact_thread thread[RANKS];
	struct waitfact fact[RANKS];
	struct waitgraph_who who[RANKS];
	struct waitcall call[RANKS];
	struct waitfacts facts;
	struct waithint *hint; /* owned */
	struct collective_arrow arrow[RANKS];
	size_t n_arrows;
	bool counters_alone;
	size_t n_ranks, n_calls, n_hints, cap_hints;
};

static void job_begin(struct job *j)
{
	*j = (struct job){.n_ranks = RANKS};
	for (uint32_t i = 0; i < RANKS; i++) {
		pid_t pid = 100 + (pid_t)i;
		j->process[i] =
			(struct waitfact_process){.pid = pid, .wanted = true, .first_thread = i, .n_threads = 1};
		j->thread[i] = (struct waitfact_thread){.pid = pid, .tid = pid, .first = i, .n = 1};
		j->fact[i].kind = WAITFACT_FUTEX;
		j->who[i] = (struct waitgraph_who){.pid = pid, .rank = (int32_t)i, .main = true};
	}
	j->facts = (struct waitfacts){.process = j->process, .n_processes = RANKS, .thread = j->thread,
				      .n_threads = RANKS, .fact = j->fact, .n_facts = RANKS};
}

static void is_in(struct job *j, int32_t rank, enum waitcall_state s, const char *op)
{
	struct waitcall *c = &j->call[j->n_calls++];
	*c = (struct waitcall){.pid = 100 + rank, .state = s};
	TEXT_COPY(c->op, op);
}

static struct waithint *hint_of(struct job *j, int32_t rank, enum waithint_kind kind)
{
	j->hint = j->hint ? j->hint : calloc(HINTS, sizeof(*j->hint));
	j->cap_hints = HINTS;
	struct waithint *h = &j->hint[j->n_hints++];
	*h = (struct waithint){.kind = kind, .pid = 100 + rank, .tid = 100 + rank, .rank = NO_RANK};
	return h;
}

static void waits_for_the_last(struct job *j, int32_t rank, const char *key)
{
	struct waithint *h = hint_of(j, rank, WAITHINT_KEY);
	h->by_last = true;
	TEXT_COPY(h->text, key);
}

static char words[400]; /* of the last arrows(): "0:all_reduce 1:train.py:4 in main", the hints that say no more */

/* "0>2 1>2": the new arrows, those that are only possible with a question mark. */
static const char *arrows(struct job *j)
{
	static char text[200];
	struct buf b = BUF_ON(text), w = BUF_ON(words);
	size_t before = j->n_hints;
	const struct waitmissing_in in = {
		.facts = &j->facts, .who = j->who, .n_who = j->n_ranks, .call = j->call, .n_calls = j->n_calls,
		.arrow = j->arrow, .n_arrows = j->n_arrows,
		.counters_alone = j->counters_alone};
	buf_reset(&b);
	buf_reset(&w);
	assert_int_equal(waitmissing_add(&in, &j->hint, &j->n_hints, &j->cap_hints), 0);
	for (size_t i = before; i < j->n_hints; i++) {
		const struct waithint *h = &j->hint[i];
		assert_false(h->proof);
		if (h->kind == WAITHINT_MEETS || h->kind == WAITHINT_PLACE) {
			buf_printf(&w, "%s%d:%s", w.len ? " " : "", (int)h->pid - 100, h->text);
			continue;
		}
		buf_printf(&b, "%s%d>%d%s%s", b.len ? " " : "", (int)h->pid - 100, (int)h->rank, h->one_of ? "?" : "",
			   h->counted ? "!" : "");
	}
	free(j->hint);
	return text;
}

static void one_that_sleeps_is_missing_in_the_collective_of_the_others(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	for (int32_t i = 0; i < RANKS; i++)
		if (i != 2)
			is_in(&j, i, WAITCALL_IN, "all_reduce");
	j.fact[2].kind = WAITFACT_CLOCK;
	assert_string_equal(arrows(&j), "0>2 1>2 3>2");
}

static void so_is_one_that_waits_for_a_lock_of_python(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	for (int32_t i = 0; i < 3; i++)
		is_in(&j, i, WAITCALL_IN, "all_reduce");
	(void)hint_of(&j, 3, WAITHINT_NOBODY);
	assert_string_equal(arrows(&j), "0>3 1>3 2>3");
}

static void one_of_which_nothing_is_known_may_be_in_it(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 0, WAITCALL_IN, "all_reduce");
	is_in(&j, 1, WAITCALL_UNKNOWN, ""); /* rank 2: its stack was not read */
	is_in(&j, 3, WAITCALL_OUT, "");
	assert_string_equal(arrows(&j), "0>3?");
}

static void one_that_sleeps_in_backward_may_wait_for_who_is_elsewhere(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 0, WAITCALL_BACKWARD, "backward()");
	is_in(&j, 1, WAITCALL_IN, "all_reduce");
	is_in(&j, 2, WAITCALL_BACKWARD, "backward()");
	(void)hint_of(&j, 3, WAITHINT_OWNER);
	assert_string_equal(arrows(&j), "0>3? 1>3? 2>3?");
}

static void where_nobody_is_elsewhere_backward_tells_nothing(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 0, WAITCALL_BACKWARD, "backward()");
	is_in(&j, 1, WAITCALL_IN, "all_reduce");
	is_in(&j, 2, WAITCALL_UNKNOWN, "");
	is_in(&j, 3, WAITCALL_IN, "all_reduce");
	assert_string_equal(arrows(&j), "");
}

static void of_several_that_are_elsewhere_each_is_possible(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 0, WAITCALL_IN, "barrier");
	is_in(&j, 1, WAITCALL_IN, "barrier");
	is_in(&j, 2, WAITCALL_OUT, "");
	j.fact[3].kind = WAITFACT_STOPPED;
	assert_string_equal(arrows(&j), "0>2? 0>3? 1>2? 1>3?");
}

static void ranks_on_other_machines_may_be_missing_as_well(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	for (int32_t i = 0; i < RANKS; i++)
		j.who[i].rank = i + 4;
	is_in(&j, 0, WAITCALL_IN, "barrier");
	is_in(&j, 1, WAITCALL_IN, "barrier");
	is_in(&j, 2, WAITCALL_IN, "barrier");
	is_in(&j, 3, WAITCALL_OUT, "");
	assert_string_equal(arrows(&j), "0>7? 1>7? 2>7?");
}

static void where_all_have_come_there_are_no_arrows(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	for (int32_t i = 0; i < RANKS; i++)
		is_in(&j, i, WAITCALL_IN, i == 2 ? "barrier" : "all_reduce");
	assert_string_equal(arrows(&j), "");
	assert_string_equal(words, "0:all_reduce 1:all_reduce 2:barrier 3:all_reduce");
}

static void where_a_rank_stands_is_told_beside_whom_it_waits_for(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	for (int32_t i = 0; i < 3; i++)
		is_in(&j, i, WAITCALL_IN, "all_reduce");
	TEXT_COPY(j.call[1].place, "train.py:40 in step");
	is_in(&j, 3, WAITCALL_PLACED, "");
	TEXT_COPY(j.call[3].place, "train.py:60 in save");
	j.fact[3].kind = WAITFACT_CLOCK;
	assert_string_equal(arrows(&j), "0>3 1>3 2>3");
	assert_string_equal(words, "1:train.py:40 in step 3:train.py:60 in save");
}

static void a_number_that_two_have_tells_nothing(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	j.who[1].rank = 0;
	is_in(&j, 0, WAITCALL_IN, "barrier");
	is_in(&j, 3, WAITCALL_OUT, "");
	assert_string_equal(arrows(&j), "");
}

static void the_barrier_of_a_store_waits_for_who_is_not_at_its_key(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	waits_for_the_last(&j, 0, "key a");
	waits_for_the_last(&j, 1, "key a");
	waits_for_the_last(&j, 2, "key a");
	is_in(&j, 3, WAITCALL_IN, "all_reduce"); /* it did not make the new group */
	assert_string_equal(arrows(&j), "0>3 1>3 2>3 3>0? 3>1? 3>2?");
}

static void a_key_of_a_rank_says_whom_it_waits_for(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	hint_of(&j, 0, WAITHINT_KEY)->by_rank = true;
	j.hint[0].rank = 1;
	is_in(&j, 0, WAITCALL_STORE, "init_process_group");
	is_in(&j, 2, WAITCALL_STORE, "TCPStore");
	is_in(&j, 3, WAITCALL_STORE, "TCPStore");
	j.fact[1].kind = WAITFACT_CLOCK;
	assert_string_equal(arrows(&j), "2>1 3>1");
}

static void who_exchanges_a_message_with_another_is_not_in_the_barrier(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	hint_of(&j, 0, WAITHINT_RANK)->rank = 2;
	is_in(&j, 0, WAITCALL_UNKNOWN, "");
	for (int32_t i = 1; i < RANKS; i++)
		is_in(&j, i, WAITCALL_IN, "barrier");
	assert_string_equal(arrows(&j), "1>0 2>0 3>0");
}

static void a_new_group_waits_for_who_is_in_another_call(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	for (int32_t i = 0; i < 3; i++)
		is_in(&j, i, WAITCALL_STORE, "new_group");
	is_in(&j, 3, WAITCALL_IN, "all_reduce");
	assert_string_equal(arrows(&j), "0>3 1>3 2>3 3>0? 3>1? 3>2?");
}

static void who_has_gone_on_from_the_start_is_not_missing_there(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 0, WAITCALL_STORE, "TCPStore");
	is_in(&j, 1, WAITCALL_OUT, "");
	is_in(&j, 2, WAITCALL_IN, "all_reduce");
	is_in(&j, 3, WAITCALL_IN, "all_reduce");
	assert_string_equal(arrows(&j), "0>1 2>1 3>1");
}

static void a_key_of_the_program_s_own_says_nothing(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	(void)hint_of(&j, 0, WAITHINT_KEY);
	is_in(&j, 0, WAITCALL_UNKNOWN, "");
	j.fact[1].kind = WAITFACT_CLOCK;
	assert_string_equal(arrows(&j), "");
}

static void counted(struct job *j, int32_t from, int32_t to)
{
	j->arrow[j->n_arrows] = (struct collective_arrow){.from = from, .to = to};
	TEXT_COPY(j->arrow[j->n_arrows++].call, "all_reduce number 41 of group dp");
}

/* Ranks 0 and 1 wait in calls of two groups: which ranks those are of is known by the library alone. */
static void the_counters_of_the_library_know_the_members(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 0, WAITCALL_IN, "all_reduce");
	is_in(&j, 1, WAITCALL_UNKNOWN, ""); /* it waits for its device */
	is_in(&j, 2, WAITCALL_OUT, "");
	is_in(&j, 3, WAITCALL_OUT, "");
	counted(&j, 0, 2);
	counted(&j, 1, 3);
	assert_string_equal(arrows(&j), "0>2! 1>3!");
}

/* A call that was asked for may still wait while its rank is about something else. */
static void who_is_elsewhere_by_its_stack_does_not_wait_in_a_call(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 0, WAITCALL_IN, "all_reduce");
	is_in(&j, 1, WAITCALL_OUT, "");
	is_in(&j, 2, WAITCALL_OUT, "");
	counted(&j, 0, 2);
	counted(&j, 1, 2);
	assert_string_equal(arrows(&j), "0>2!");
}

/* `vigil waits` reads no native stack: where none is known the library's counters say enough. */
static void where_no_stack_is_read_the_counters_count(void **state)
{
	(void)state;
	struct job j;
	job_begin(&j);
	is_in(&j, 1, WAITCALL_OUT, "");
	counted(&j, 0, 2);
	counted(&j, 1, 2);
	assert_string_equal(arrows(&j), "");
	j.counters_alone = true;
	assert_string_equal(arrows(&j), "0>2!");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_sleeps_is_missing_in_the_collective_of_the_others),
		cmocka_unit_test(so_is_one_that_waits_for_a_lock_of_python),
		cmocka_unit_test(one_of_which_nothing_is_known_may_be_in_it),
		cmocka_unit_test(one_that_sleeps_in_backward_may_wait_for_who_is_elsewhere),
		cmocka_unit_test(where_nobody_is_elsewhere_backward_tells_nothing),
		cmocka_unit_test(of_several_that_are_elsewhere_each_is_possible),
		cmocka_unit_test(ranks_on_other_machines_may_be_missing_as_well),
		cmocka_unit_test(where_all_have_come_there_are_no_arrows),
		cmocka_unit_test(where_a_rank_stands_is_told_beside_whom_it_waits_for),
		cmocka_unit_test(a_number_that_two_have_tells_nothing),
		cmocka_unit_test(the_barrier_of_a_store_waits_for_who_is_not_at_its_key),
		cmocka_unit_test(a_key_of_a_rank_says_whom_it_waits_for),
		cmocka_unit_test(who_exchanges_a_message_with_another_is_not_in_the_barrier),
		cmocka_unit_test(a_new_group_waits_for_who_is_in_another_call),
		cmocka_unit_test(who_has_gone_on_from_the_start_is_not_missing_there),
		cmocka_unit_test(a_key_of_the_program_s_own_says_nothing),
		cmocka_unit_test(the_counters_of_the_library_know_the_members),
		cmocka_unit_test(who_is_elsewhere_by_its_stack_does_not_wait_in_a_call),
		cmocka_unit_test(where_no_stack_is_read_the_counters_count),
	};
	return cmocka_run_group_tests_name("model/waitmissing", tests, NULL, NULL);
}
