/* Locks that are never released, by the waits and owners in two dumps. */
#include "testing.h"

#include "base/buf.h"
#include "judge/hang/hang_parts.h"

static struct hang_settings s;
static struct hang_history m;
static struct liveness_set p;
static struct hang_verdict v;
static struct hang_case c;
static struct hang_work w;
static struct dump_thread thread[2][3];
static struct dump_process process[2][2];
static struct stackdump dump[2];

/* Two dumps of rank 0 (pid 10, threads 11 to 13) with nothing wrong, old enough for any proof. */
static int three_threads(void **state)
{
	(void)state;
	memset(&v, 0, sizeof(v));
	memset(thread, 0, sizeof(thread));
	memset(process, 0, sizeof(process));
	c = (struct hang_case){.n_dumps = 2, .dumps = {&dump[0], &dump[1]}};
	for (size_t k = 0; k < 2; k++) {
		for (pid_t i = 0; i < 3; i++)
			thread[k][i] = (struct dump_thread){.tid = 11 + i, .main = i == 0, .wait.kind = WAIT_POLL};
		process[k][0] = (struct dump_process){
			.pid = 10, .role = "main", .name = "python3", .threads = thread[k], .n_threads = 3};
		process[k][1] = (struct dump_process){.pid = 9, .rank = NO_RANK, .name = "bash"};
		dump[k] = (struct stackdump){.processes = process[k], .n = 2};
	}
	w = (struct hang_work){.s = &s, .m = &m, .c = &c, .p = &p, .v = &v, .has_stacks = true,
			       .standstill_ns = 60 * NS_PER_S};
	return 0;
}

static void waits_for(size_t i, pid_t owner)
{
	for (size_t k = 0; k < 2; k++)
		thread[k][i].wait = (struct threadwait){.kind = WAIT_LOCK, .owner = owner, .text = "futex"};
}

static void a_lock_whose_owner_runs_is_no_deadlock(void **state)
{
	(void)state;
	waits_for(0, 12);
	assert_false(hang_lock_proofs(&w));
	assert_int_equal(v.kind, HANG_NONE);
}

static void two_threads_that_wait_for_each_other_are_a_deadlock(void **state)
{
	(void)state;
	waits_for(0, 12);
	waits_for(1, 11);
	assert_true(hang_lock_proofs(&w));
	assert_string_equal(v.id, "deadlock");
	assert_int_equal(v.confidence, CONFIDENCE_HIGH);
	assert_true(v.n_culprits == 1 && v.culprits[0] == 0);
	assert_non_null(strstr(v.text, "Two threads of main 10 of rank 0 wait for each other's locks in a circle."));
	assert_int_equal(v.n_evidence, 2);
}

static void a_circle_of_three_and_one_of_one_are_deadlocks_too(void **state)
{
	(void)state;
	waits_for(0, 12);
	waits_for(1, 13);
	waits_for(2, 11);
	assert_true(hang_lock_proofs(&w));
	assert_non_null(strstr(v.text, "Several threads of"));
	three_threads(NULL);
	waits_for(0, 11);
	process[0][0].n_threads = process[1][0].n_threads = 1;
	assert_true(hang_lock_proofs(&w));
	assert_non_null(strstr(v.text, "waits for a lock that it holds itself."));
	assert_int_equal(v.confidence, CONFIDENCE_HIGH);
	assert_true(v.proved);
}

static void its_own_lock_may_be_given_back_by_another_thread(void **state)
{
	(void)state;
	waits_for(1, 12);
	assert_true(hang_lock_proofs(&w));
	assert_int_equal(v.kind, HANG_NONE); /* not yet */
	three_threads(NULL);
	waits_for(1, 12);
	w.standstill_ns = 3 * 60 * NS_PER_S;
	assert_true(hang_lock_proofs(&w));
	assert_non_null(strstr(v.text, "that it holds itself, unless another of its threads gives it back."));
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
	assert_false(v.proved);
}

static void who_tries_for_a_while_is_in_no_circle(void **state)
{
	(void)state;
	waits_for(0, 12);
	waits_for(1, 11);
	for (size_t k = 0; k < 2; k++) {
		TEXT_COPY(thread[k][0].syscall, "futex");
		thread[k][0].wait.arg[3] = 1; /* where its time limit stands */
	}
	assert_false(hang_lock_proofs(&w));
}

static void a_thread_that_ran_between_the_dumps_is_in_no_circle(void **state)
{
	(void)state;
	waits_for(0, 12);
	waits_for(1, 11);
	thread[1][1].wait.user_ticks = 1;
	assert_false(hang_lock_proofs(&w));
	thread[0][1].wait.user_ticks = 1;
	thread[0][0].wait.owner = 13;
	assert_false(hang_lock_proofs(&w));
}

static void with_one_dump_a_deadlock_is_less_sure(void **state)
{
	(void)state;
	waits_for(0, 12);
	waits_for(1, 11);
	c.n_dumps = 1;
	assert_true(hang_lock_proofs(&w));
	assert_int_equal(v.confidence, CONFIDENCE_MEDIUM);
}

static void a_young_deadlock_is_decided_but_not_reported_yet(void **state)
{
	(void)state;
	waits_for(0, 12);
	waits_for(1, 11);
	w.standstill_ns = 9 * NS_PER_S;
	assert_true(hang_lock_proofs(&w));
	assert_int_equal(v.kind, HANG_NONE);
	assert_int_equal(v.again_ns, NS_PER_S);
}

static void a_lock_of_the_parent_s_thread_was_inherited_over_the_fork(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		process[k][0].ppid = 9;
		process[k][0].n_threads = 1;
		process[k][1] = (struct dump_process){
			.pid = 9, .rank = NO_RANK, .name = "python3", .threads = &thread[k][1], .n_threads = 1};
		TEXT_COPY(thread[k][1].name, "logger");
	}
	waits_for(0, 12);
	thread[0][0].wait.owner_gone = thread[1][0].wait.owner_gone = true;
	assert_true(hang_lock_proofs(&w));
	assert_string_equal(v.id, "fork_lock");
	assert_non_null(
		strstr(v.text, "its owner is thread 12 of the parent (logger), which does not exist in this process."));
	/* without a parent that could have been forked nothing is proved */
	three_threads(NULL);
	waits_for(0, 12);
	thread[0][0].wait.owner_gone = thread[1][0].wait.owner_gone = true;
	assert_false(hang_lock_proofs(&w));
}

static void places_inside_the_c_library_are_known_by_their_module(void **state)
{
	(void)state;
	assert_true(hang_c_library("/lib/x86_64-linux-gnu/libc.so.6"));
	assert_true(hang_c_library("/lib64/ld-linux-x86-64.so.2"));
	assert_true(hang_c_library("[vdso]"));
	assert_false(hang_c_library("/usr/lib/libcudart.so.12"));
	assert_false(hang_c_library(NULL));
}

static void a_process_is_named_by_role_and_rank_or_by_its_name(void **state)
{
	(void)state;
	char who[120];
	hang_process_who(&process[0][0], who, sizeof(who));
	assert_string_equal(who, "main 10 of rank 0");
	hang_process_who(&process[0][1], who, sizeof(who));
	assert_string_equal(who, "process 9 (bash)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_lock_whose_owner_runs_is_no_deadlock, three_threads),
		cmocka_unit_test_setup(two_threads_that_wait_for_each_other_are_a_deadlock, three_threads),
		cmocka_unit_test_setup(a_circle_of_three_and_one_of_one_are_deadlocks_too, three_threads),
		cmocka_unit_test_setup(its_own_lock_may_be_given_back_by_another_thread, three_threads),
		cmocka_unit_test_setup(who_tries_for_a_while_is_in_no_circle, three_threads),
		cmocka_unit_test_setup(a_thread_that_ran_between_the_dumps_is_in_no_circle, three_threads),
		cmocka_unit_test_setup(with_one_dump_a_deadlock_is_less_sure, three_threads),
		cmocka_unit_test_setup(a_young_deadlock_is_decided_but_not_reported_yet, three_threads),
		cmocka_unit_test_setup(a_lock_of_the_parent_s_thread_was_inherited_over_the_fork, three_threads),
		cmocka_unit_test(places_inside_the_c_library_are_known_by_their_module),
		cmocka_unit_test_setup(a_process_is_named_by_role_and_rank_or_by_its_name, three_threads),
	};
	return cmocka_run_group_tests_name("judge/hang/hang_locks", tests, NULL, NULL);
}
