/* One process looked into, and ranks that a program starts itself. */
#include "child_fixture.h"

#include <sys/syscall.h>

#include "agent/inspect/procview.h"
#include "agent/inspect/spawnrank.h"

static void how_still_a_thread_stands_follows_from_its_wait(void **state)
{
	(void)state;
	assert_int_equal(procview_still_of(WAIT_RUNNING, -1), PROCVIEW_RUNS);
	assert_int_equal(procview_still_of(WAIT_STOPPED, SYS_futex), PROCVIEW_STOPPED);
	assert_int_equal(procview_still_of(WAIT_LOCK, SYS_futex), PROCVIEW_WAITS);
	assert_int_equal(procview_still_of(WAIT_POLL, SYS_epoll_pwait), PROCVIEW_TOUCHY);
}

static void the_state_of_the_main_interpreter_is_preferred(void **state)
{
	(void)state;
	const struct pythread list[] = {{.tid = 7, .interp_id = 2},
					{.tid = 7, .interp_id = 0},
					{.tid = 7, .interp_id = 1},
					{.tid = 8, .interp_id = 3}};
	assert_ptr_equal(procview_python_thread(list, 4, 7), &list[1]);
	assert_ptr_equal(procview_python_thread(list, 4, 8), &list[3]);
	assert_null(procview_python_thread(list, 4, 9));
	assert_null(procview_python_thread(NULL, 0, 7));
}

static void a_stack_that_ends_early_is_incomplete(void **state)
{
	(void)state;
	static struct unwind_trace t;
	struct procview_sample s = {.native = NULL};
	assert_false(procview_is_incomplete(&s));
	s.native = &t;
	t.end = UNWIND_COMPLETE;
	assert_false(procview_is_incomplete(&s));
	t.end = UNWIND_TOO_DEEP;
	assert_false(procview_is_incomplete(&s));
	t.end = UNWIND_COMPLETE == 0 ? 1 : 0;
	assert_true(procview_is_incomplete(&s));
}

static void a_view_of_a_child_shows_no_python(void **state)
{
	(void)state;
	const struct procview_want want = {.natives = NULL};
	struct procview *l = NULL;
	struct fault f = {.text = ""};
	assert_int_equal(procview_open(&w, child, &want, &l, &f), 0);
	assert_false(l->has_python);
	assert_false(procview_changed(l));
	assert_false(procview_code_changed(l));
	assert_false(procview_lost(l));
	assert_false(procview_ask_changed(l)); /* no Python thread whose sample could take it along */
	assert_false(procview_waits_for_gil(l, SYS_futex, 0x1000));
	struct procview_totals totals;
	procview_count(l, &totals);
	assert_int_equal(totals.python.samples, 0);
	procview_again(l);
	assert_int_equal(l->pid, child);
	procview_close(l);
	assert_null(procview_close(NULL));
	assert_int_equal(procview_open(&w, NO_PROCESS, &want, &l, &f), WORLD_GONE);
}

static void a_zombie_has_no_stack(void **state)
{
	(void)state;
	const struct procview_want want = {.natives = NULL};
	struct procview *l = NULL;
	struct fault f;
	siginfo_t si;
	pid_t dead = fork();
	if (dead == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)dead, &si, WEXITED | WNOWAIT), 0);
	assert_int_equal(procview_open(&w, dead, &want, &l, &f), WORLD_DENIED);
	assert_non_null(strstr(f.text, "has ended and waits for its parent"));
	assert_int_equal(procview_why_none(&w, dead, &f), WORLD_DENIED);
	assert_int_equal(waitpid(dead, NULL, 0), dead);
	assert_int_equal(procview_why_none(&w, dead, &f), WORLD_GONE);
	assert_string_equal(f.text, "nothing of it is running any more");
}

static void only_children_that_may_be_ranks_are_asked(void **state)
{
	(void)state;
	struct spawnranks *s = spawnranks_new();
	struct ownranks_process p[] = {
		{.pid = getpid(), .start_ticks = 1, .who = {.rank = NO_RANK, .role = ROLE_MAIN}},
		{.pid = child, .ppid = getpid(), .start_ticks = 2, .who = {.rank = NO_RANK, .role = ROLE_LOADER}},
	};
	assert_false(spawnranks_update(s, &w, p, 1, 0, 8, false));
	assert_true(spawnranks_update(s, &w, p, 1, 0, 8, true)); /* the list is another one */
	assert_int_equal(s->n, 0);
	p[1].ended = true;
	assert_false(spawnranks_update(s, &w, p, 2, 0, 8, false));
	assert_int_equal(s->n, 0);
	spawnranks_forget(s);
	assert_int_equal(s->n_told, 0);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_still_a_thread_stands_follows_from_its_wait),
		cmocka_unit_test(the_state_of_the_main_interpreter_is_preferred),
		cmocka_unit_test(a_stack_that_ends_early_is_incomplete),
		WITH_CHILD(a_view_of_a_child_shows_no_python),
		WITH_CHILD(a_zombie_has_no_stack),
		WITH_CHILD(only_children_that_may_be_ranks_are_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
