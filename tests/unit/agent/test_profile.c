/* What is recorded of running processes: a snapshot, a profile, one process of it. */
#include "child_fixture.h"

#include "agent/stacks/profile.h"
#include "agent/stacks/profproc.h"
#include "agent/stacks/snapshot.h"

static void a_snapshot_has_the_processes_that_run(void **state)
{
	(void)state;
	struct stackdump d;
	struct fault f = {.text = ""};
	const pid_t pids[] = {NO_PROCESS, child};
	struct snapshot_want want = {.pids = pids, .n_pids = 2};
	assert_int_equal(snapshot_take(&w, &want, &d, &f), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.processes[0].pid, child);
	assert_int_equal(d.processes[0].ppid, getpid());
	assert_int_equal(d.processes[0].rank, NO_RANK);
	assert_int_equal(d.processes[0].n_threads, 1);
	assert_true(d.processes[0].threads[0].main);
	assert_int_equal(d.processes[0].threads[0].tid, child);
	assert_false(d.cut);
	stackdump_done(&d);
	want.n_pids = 1;
	assert_int_equal(snapshot_take(&w, &want, &d, &f), SNAPSHOT_NONE);
	const volatile bool stop = true;
	want = (struct snapshot_want){.pids = &pids[1], .n_pids = 1, .stop = &stop};
	assert_int_equal(snapshot_take(&w, &want, &d, &f), SNAPSHOT_NONE);
}

static uint64_t fake_ns;

/* Ten milliseconds pass with each look at the clock, none outside: no wait is waited for. */
static uint64_t fake_mono_ns(void)
{
	return fake_ns += 10 * NS_PER_MS;
}

static void a_recording_has_a_lane_for_the_process(void **state)
{
	(void)state;
	const struct members_want members = {.root = child};
	struct profile_want want = {.members = &members, .duration_ns = NS_PER_S, .rate_hz = 50};
	cleanup(stackset_freep) struct stackset *s = NULL;
	struct fault f = {.text = ""};
	size_t n;
	w.mono_ns = fake_mono_ns;
	fake_ns = 0;
	assert_int_equal(profile_record(&w, &want, &s, &f), 0);
	const struct stack_lane *lanes = stackset_lanes(s, &n);
	assert_int_equal(n, 1);
	assert_int_equal(lanes[0].pid, child);
	assert_true(stackset_meta_of(s)->samples > 0);
	assert_false(stackset_meta_of(s)->interrupted);
	assert_true(stackset_meta_of(s)->rate_hz == 50);
	const struct members_want none = {.root = NO_PROCESS};
	want.members = &none;
	struct stackset *empty = NULL;
	assert_int_equal(profile_record(&w, &want, &empty, &f), PROFILE_NONE);
}

static void a_recorded_process_is_gone_after_its_end(void **state)
{
	(void)state;
	struct task_row task = {.pid = child};
	struct member m = {.task = &task, .who = {.rank = 3, .role = ROLE_MAIN}};
	const struct procview_want want = {.natives = NULL};
	cleanup(stackset_freep) struct stackset *s = stackset_new();
	struct profproc_tally tally = {.samples = 0};
	struct profproc *p = NULL;
	struct fault f = {.text = ""};
	TEXT_COPY(m.command, "train");
	assert_int_equal(profproc_open(&w, &m, &want, true, &p, &f), 0);
	assert_int_equal(p->lane.rank, 3);
	assert_string_equal(p->lane.process, "train");
	assert_int_equal(profproc_sample(p, s, NS_PER_MS, &tally), 0);
	assert_int_equal(p->n_threads, 1);
	assert_false(p->gone);
	assert_int_equal(tally.samples, 0); /* neither Python nor native frames are wanted of it */
	m.who.rank = 4;
	profproc_name(p, &m);
	assert_int_equal(p->lane.rank, 4);
	child_end(child);
	p->list_ns = 0;
	assert_int_equal(profproc_sample(p, s, NS_PER_MS, &tally), 0);
	assert_true(p->gone);
	profproc_close(p);
	child = child_start();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CHILD(a_snapshot_has_the_processes_that_run),
		WITH_CHILD(a_recording_has_a_lane_for_the_process),
		WITH_CHILD(a_recorded_process_is_gone_after_its_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
