#include "testing.h"

#include <stdio.h>

#include "model/incident/incident.h"
#include "model/memory/unit.h"

static struct task_row rows[4096];
static struct tasks tasks = {.rows = rows, .cap = ARRAY_SIZE(rows), .iter_link_fd = -1};
static struct unit_memory memory;
static struct unit_table table;
static struct unit_job jobs[2];

static enum role wanted_role[4096];
static int32_t wanted_rank[4096];
static enum role_proof wanted_proof;

static int fresh(void **state)
{
	(void)state;
	tasks.n = 0;
	wanted_proof = ROLE_PROVEN;
	memset(&memory, 0, sizeof(memory));
	memset(jobs, 0, sizeof(jobs));
	for (size_t i = 0; i < ARRAY_SIZE(wanted_role); i++) {
		wanted_role[i] = ROLE_MAIN;
		wanted_rank[i] = NO_RANK;
	}
	return 0;
}

static void proc_add(pid_t pid, pid_t ppid, uint64_t own_mib)
{
	struct task_row *r = &rows[tasks.n++];
	*r = (struct task_row){.pid = pid, .ppid = ppid, .start_ticks = (uint64_t)pid, .rss_anon_bytes = own_mib * MIB};
	snprintf(r->comm, sizeof(r->comm), "p%d", (int)pid);
}

static bool role_table(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret)
{
	(void)ctx;
	(void)parent;
	ret->role = wanted_role[row->pid];
	ret->rank = wanted_rank[row->pid];
	ret->proof = wanted_proof;
	return true;
}

static void build(uint64_t now_ns)
{
	unit_build(&memory, &tasks, jobs, 2, NULL, now_ns, role_table, NULL, 1000, &table);
}

static const struct unit *unit_of(pid_t pid)
{
	for (size_t i = 0; i < table.n_members; i++)
		if (rows[table.member[i].row].pid == pid)
			return &table.unit[table.member[i].unit];
	return NULL;
}

static void loader_workers_fall_with_their_rank(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {100}, .ranks = {3}, .n_roots = 1};
	proc_add(1, 0, 5);
	proc_add(100, 1, 1000);
	proc_add(101, 100, 300);
	proc_add(102, 100, 300);
	proc_add(103, 102, 10);
	wanted_role[101] = wanted_role[102] = ROLE_LOADER;
	build(NS_PER_S);
	assert_int_equal(table.n, 1);
	assert_int_equal(table.unit[0].processes, 4);
	assert_true(table.unit[0].own_bytes == 1610 * MIB);
	assert_int_equal(table.unit[0].rank, 3);
	assert_null(unit_of(1));
}

static void children_of_a_shell_stand_alone_and_the_shell_is_a_launcher(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, 2);
	proc_add(11, 10, 500);
	proc_add(12, 10, 600);
	wanted_role[10] = ROLE_SHELL;
	build(NS_PER_S);
	assert_int_equal(table.n, 3);
	assert_true(unit_of(10)->launcher);
	assert_false(unit_of(11)->launcher);
	assert_ptr_not_equal(unit_of(11), unit_of(12));
	assert_int_equal(unit_of(11)->group_size, 2);
}

static void ranks_under_a_launcher_are_units_with_their_rank(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, 50);
	wanted_role[10] = ROLE_LAUNCHER;
	for (pid_t p = 11; p < 19; p++) {
		proc_add(p, 10, 100);
		wanted_rank[p] = p - 11;
	}
	build(NS_PER_S);
	assert_int_equal(table.n, 9);
	assert_int_equal(unit_of(18)->rank, 7);
}

static void the_guard_of_another_vigil_is_no_victim_but_who_borrows_its_name_is(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {100}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(1, 0, 5);
	proc_add(100, 1, 3);
	proc_add(101, 100, 8);
	proc_add(102, 100, 900);
	snprintf(rows[2].comm, sizeof(rows[2].comm), "vigil-guard");
	snprintf(rows[3].comm, sizeof(rows[3].comm), "vigil-guard");
	wanted_role[100] = ROLE_LAUNCHER;
	build(NS_PER_S);
	assert_true(unit_of(101)->protected_);
	assert_false(unit_of(102)->protected_);
}

static void ray_workers_are_units_of_their_own(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, 50);
	proc_add(11, 10, 100);
	proc_add(12, 10, 100);
	wanted_role[10] = ROLE_RAY_SYSTEM;
	wanted_role[11] = wanted_role[12] = ROLE_RAY_WORKER;
	build(NS_PER_S);
	assert_int_equal(table.n, 3);
	assert_int_equal(unit_of(12)->role, ROLE_RAY_WORKER);
}

static void rays_daemons_go_last_and_its_agents_with_the_raylet(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10, 20}, .ranks = {NO_RANK, NO_RANK}, .n_roots = 2};
	proc_add(10, 1, 50); /* the raylet */
	proc_add(11, 10, 40); /* an agent of its own */
	proc_add(12, 10, 1000);
	proc_add(20, 1, 50); /* the gcs, which starts nobody */
	wanted_role[10] = wanted_role[11] = wanted_role[20] = ROLE_RAY_SYSTEM;
	wanted_role[12] = ROLE_RAY_WORKER;
	build(NS_PER_S);
	assert_int_equal(table.n, 3);
	assert_ptr_equal(unit_of(11), unit_of(10));
	assert_true(unit_of(10)->launcher);
	assert_true(unit_of(20)->launcher);
	assert_false(unit_of(12)->launcher);
}

static void a_process_seen_before_its_exec_is_judged_again_after_it(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, 50);
	proc_add(11, 10, 50);
	wanted_role[10] = wanted_role[11] = ROLE_RAY_SYSTEM;
	build(NS_PER_S);
	assert_ptr_equal(unit_of(11), unit_of(10));
	wanted_role[11] = ROLE_RAY_WORKER;
	build(2 * NS_PER_S);
	assert_ptr_equal(unit_of(11), unit_of(10)); /* same name: not read again */
	snprintf(rows[1].comm, sizeof(rows[1].comm), "ray::leak");
	build(3 * NS_PER_S);
	assert_ptr_not_equal(unit_of(11), unit_of(10));
	assert_int_equal(unit_of(11)->role, ROLE_RAY_WORKER);
}

static void a_rank_that_hides_its_environment_behind_a_title_keeps_its_number(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, 10);
	proc_add(11, 10, 100);
	wanted_role[10] = ROLE_LAUNCHER;
	wanted_rank[11] = 3;
	build(NS_PER_S);
	wanted_rank[11] = NO_RANK;
	snprintf(rows[1].comm, sizeof(rows[1].comm), "trainer 3");
	build(2 * NS_PER_S);
	assert_int_equal(unit_of(11)->rank, 3);
}

static void a_double_fork_is_found_at_its_reaper(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true,
				    .roots = {100},
				    .ranks = {NO_RANK},
				    .n_roots = 1,
				    .reaper = 50,
				    .not_ours = {51},
				    .n_not_ours = 1};
	proc_add(50, 1, 5);
	proc_add(51, 50, 3); /* the guard */
	proc_add(100, 50, 10); /* the job's main process */
	proc_add(130, 50, 99); /* its grandchild, orphaned */
	proc_add(131, 130, 1);
	build(NS_PER_S);
	assert_null(unit_of(50));
	assert_null(unit_of(51));
	assert_non_null(unit_of(130));
	assert_ptr_equal(unit_of(130), unit_of(131));
}

static void a_stranger_with_an_ended_ranks_pid_is_left_alone(void **state)
{
	(void)state;
	proc_add(10, 1, 100);
	proc_add(20, 1, 100);
	proc_add(21, 20, 100);
	jobs[0] = (struct unit_job){
		.active = true, .roots = {10, 20}, .root_start_ticks = {10, 19}, .ranks = {0, 1}, .n_roots = 2};
	build(NS_PER_S);
	assert_non_null(unit_of(10));
	assert_null(unit_of(20));
	assert_null(unit_of(21));
}

static void jobs_are_kept_apart(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	jobs[1] = (struct unit_job){.active = true, .roots = {20}, .ranks = {NO_RANK}, .n_roots = 1, .retriable = true};
	proc_add(10, 1, 1);
	proc_add(20, 1, 2);
	proc_add(21, 20, 3);
	build(NS_PER_S);
	assert_int_equal(unit_of(21)->job, 1);
	assert_true(unit_of(21)->retriable);
	assert_false(unit_of(10)->retriable);
}

/* Whether a process called a daemon of Ray, with so much memory, is spared while others are left. */
static bool daemon_is_spared(enum role_proof proof, uint64_t own_mib)
{
	fresh(NULL);
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, own_mib);
	wanted_role[10] = ROLE_RAY_SYSTEM;
	wanted_proof = proof;
	unit_build(&memory, &tasks, jobs, 2, NULL, NS_PER_S, role_table, NULL, 1000, &table);
	return unit_of(10)->launcher;
}

static void a_name_spares_who_proves_it_or_is_small(void **state)
{
	(void)state;
	assert_true(daemon_is_spared(ROLE_PROVEN, 3000));
	assert_true(daemon_is_spared(ROLE_LIKELY, 300) && !daemon_is_spared(ROLE_LIKELY, 600));
	assert_true(daemon_is_spared(ROLE_UNPROVEN, 20) && !daemon_is_spared(ROLE_UNPROVEN, 123));
}

/* ---- forks ---- */

static bool wanted_fork[4096];

static bool role_forks(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret)
{
	ret->forked = wanted_fork[row->pid];
	return role_table(ctx, row, parent, ret);
}

static void build_forks(uint64_t now_ns)
{
	unit_build(&memory, &tasks, jobs, 2, NULL, now_ns, role_forks, NULL, 1000, &table);
}

/* A parent of 1 GiB, 10, and eight forks of it, 11 to 18, as they come. */
static void parent_and_forks(void)
{
	memset(wanted_fork, 0, sizeof(wanted_fork));
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {0}, .n_roots = 1};
	proc_add(10, 1, 1024);
	build_forks(NS_PER_S);
	for (pid_t p = 11; p < 19; p++) {
		proc_add(p, 10, 1020);
		wanted_role[p] = ROLE_WORKER;
		wanted_fork[p] = true;
	}
	build_forks(2 * NS_PER_S);
}

static uint64_t own_of(pid_t pid)
{
	return unit_own(&memory, tasks_find(&tasks, pid));
}

static struct growth_said grown_of(pid_t pid)
{
	return unit_grown(&memory, tasks_find(&tasks, pid));
}

static void eight_forks_that_write_nothing_hold_what_their_parent_holds(void **state)
{
	(void)state;
	parent_and_forks();
	assert_int_equal(table.n, 1);
	assert_true(table.unit[0].own_bytes == 1024 * MIB);
	assert_true(own_of(12) == 0);
	assert_true(grown_of(12).grown_bytes == 0);
}

static bool role_late(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret)
{
	return row->pid < 11 && role_forks(ctx, row, parent, ret);
}

static bool role_by_name(void *ctx, const struct task_row *row, const struct role_info *parent, struct role_info *ret)
{
	(void)ctx;
	(void)parent;
	ret->role = row->pid < 12 ? ROLE_RAY_SYSTEM : ROLE_OTHER;
	return false;
}

static void what_the_name_alone_says_holds_until_more_is_known(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, 10);
	proc_add(11, 10, 50);
	unit_build(&memory, &tasks, jobs, 2, NULL, NS_PER_S, role_by_name, NULL, 1000, &table);
	assert_int_equal(table.n_unnamed, 2);
	assert_int_equal(table.n, 1); /* the agent is of its raylet */
	assert_true(table.unit[0].launcher && table.unit[0].role == ROLE_RAY_SYSTEM);
	wanted_role[10] = ROLE_MAIN;
	build(2 * NS_PER_S);
	assert_true(unit_of(10)->role == ROLE_MAIN && !unit_of(10)->launcher);
}

static void a_process_whose_role_is_not_known_yet_counts_no_page_twice(void **state)
{
	(void)state;
	memset(wanted_fork, 0, sizeof(wanted_fork));
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {0}, .n_roots = 1};
	proc_add(10, 1, 1024);
	unit_build(&memory, &tasks, jobs, 2, NULL, NS_PER_S, role_late, NULL, 1000, &table);
	proc_add(11, 10, 1020);
	proc_add(12, 10, 300);
	wanted_fork[11] = true;
	unit_build(&memory, &tasks, jobs, 2, NULL, 2 * NS_PER_S, role_late, NULL, 1000, &table);
	assert_int_equal(table.n_unnamed, 2);
	assert_true(own_of(11) == 0 && own_of(12) == 0);
	rows[2].rss_anon_bytes = 310 * MIB;
	build_forks(3 * NS_PER_S); /* now it is: 11 is a fork, 12 another program */
	assert_int_equal(table.n_unnamed, 0);
	assert_true(own_of(11) == 0 && own_of(12) == 310 * MIB);
	assert_true(grown_of(11).grown_bytes == 0 && grown_of(12).grown_bytes == (int64_t)(310 * MIB));
}

static uint64_t read_ns; /* when the sharing was read */

static struct unit_share share_of(pid_t pid, uint64_t anon_mib, uint64_t pss_mib, uint64_t private_mib)
{
	return (struct unit_share){pid,		  (uint64_t)pid,    {10, 10}, read_ns, anon_mib * MIB,
				   pss_mib * MIB, private_mib * MIB, private_mib * MIB};
}

static size_t shares_read(struct unit_share s[static UNIT_SHARES], uint64_t private_of_12)
{
	size_t n = unit_sharers(&memory, &tasks, &table, MIB, s);
	for (size_t i = 0; i < n; i++)
		s[i] = share_of(s[i].pid, s[i].pid == 10 ? 1024 : 1020, s[i].pid == 12 ? 113 + private_of_12 : 113,
				s[i].pid == 12 ? private_of_12 : 0);
	return n;
}

static void what_was_read_of_their_sharing_is_believed_until_one_of_them_ends(void **state)
{
	(void)state;
	struct unit_share s[UNIT_SHARES];
	parent_and_forks();
	size_t n = shares_read(s, 0);
	assert_int_equal(n, 9);
	unit_shares(&memory, s, n);
	build_forks(3 * NS_PER_S);
	assert_true(own_of(12) == 113 * MIB);
	assert_true(table.unit[0].own_bytes == 9 * 113 * MIB);
	/* growth since then is its own */
	rows[2].rss_anon_bytes += 100 * MIB;
	build_forks(4 * NS_PER_S);
	assert_true(own_of(12) == 213 * MIB);
	tasks.n--; /* 18 ends: its part went to the others */
	build_forks(5 * NS_PER_S);
	assert_true(table.unit[0].own_bytes == 1124 * MIB);
}

static void pages_that_a_fork_has_written_to_are_growth_though_it_is_no_larger(void **state)
{
	(void)state;
	struct unit_share s[UNIT_SHARES];
	parent_and_forks();
	for (uint64_t t = 3; t < 63; t++) {
		read_ns = t * NS_PER_S;
		unit_shares(&memory, s, shares_read(s, t * 10));
		build_forks(t * NS_PER_S);
	}
	struct growth_said said = grown_of(12);
	assert_in_range(said.bytes_per_s, 9 * MIB, 11 * MIB);
	assert_in_range(said.over_ns, 25 * NS_PER_S, 45 * NS_PER_S);
	assert_true(grown_of(13).grown_bytes == 0);
}

static void a_parent_whose_forks_have_copied_its_pages_has_not_grown(void **state)
{
	(void)state;
	struct unit_share s[UNIT_SHARES];
	parent_and_forks();
	unit_shares(&memory, s, shares_read(s, 0));
	build_forks(3 * NS_PER_S);
	read_ns = 10 * NS_PER_S;
	size_t n = unit_sharers(&memory, &tasks, &table, MIB, s);
	assert_true(s[0].pid == 10 && s[0].anon_bytes == 1024 * MIB && s[0].pss_bytes == 113 * MIB);
	for (size_t i = 0; i < n; i++) {
		uint64_t anon_mib = s[i].pid == 10 ? 1024 : 1020;
		s[i] = share_of(s[i].pid, anon_mib, anon_mib, anon_mib);
		if (s[i].pid == 10)
			s[i].faulted_bytes = MIB; /* it wrote to none of them */
	}
	unit_shares(&memory, s, n);
	build_forks(10 * NS_PER_S);
	assert_true(grown_of(10).grown_bytes <= (int64_t)MIB);
	assert_true(grown_of(12).grown_bytes == (int64_t)(1020 * MIB));
}

static void the_ends_of_other_forks_are_no_growth(void **state)
{
	(void)state;
	struct unit_share s[UNIT_SHARES];
	parent_and_forks();
	unit_shares(&memory, s, shares_read(s, 0));
	build_forks(3 * NS_PER_S);
	tasks.n = 2; /* the parent and one fork are left: they share half and half */
	build_forks(4 * NS_PER_S);
	assert_int_equal(unit_sharers(&memory, &tasks, &table, MIB, s), 2);
	s[0] = share_of(10, 1024, 514, 4);
	s[1] = share_of(11, 1020, 510, 0);
	unit_shares(&memory, s, 2);
	tasks.n = 1; /* and now nothing is shared */
	build_forks(5 * NS_PER_S);
	s[0] = share_of(10, 1024, 1024, 1024);
	unit_shares(&memory, s, 1);
	build_forks(6 * NS_PER_S);
	assert_true(grown_of(10).grown_bytes == 0);
	assert_true(table.unit[0].own_bytes == 1024 * MIB);
}

static void a_fork_that_outlives_its_parent_holds_the_pages(void **state)
{
	(void)state;
	parent_and_forks();
	rows[0] = rows[1];
	tasks.n = 1;
	jobs[0].roots[0] = 11;
	build_forks(3 * NS_PER_S);
	assert_true(table.unit[0].own_bytes == 1020 * MIB);
}

static void a_fork_that_is_seen_late_is_known_by_what_is_private(void **state)
{
	(void)state;
	struct unit_share s[UNIT_SHARES];
	parent_and_forks();
	/* 900 of the 1020 MiB are its own: it came with 120 */
	read_ns = 3 * NS_PER_S;
	size_t n = shares_read(s, 900);
	unit_shares(&memory, s, n);
	build_forks(4 * NS_PER_S);
	assert_true(grown_of(12).grown_bytes == (int64_t)(900 * MIB));
}

static void too_many_sharers_are_not_read_at_all(void **state)
{
	(void)state;
	struct unit_share s[UNIT_SHARES];
	parent_and_forks();
	for (pid_t p = 100; p < 100 + UNIT_SHARES; p++) {
		proc_add(p, 10, 1020);
		wanted_fork[p] = true;
	}
	build_forks(3 * NS_PER_S);
	assert_int_equal(unit_sharers(&memory, &tasks, &table, MIB, s), 0);
	assert_true(table.unit[0].own_bytes == 1024 * MIB);
}

static void growth_is_measured_between_sweeps(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 1, 100);
	build(NS_PER_S);
	rows[0].rss_anon_bytes = 150 * MIB;
	build(NS_PER_S + NS_PER_S / 2);
	assert_true(table.unit[0].growth_bytes_per_s == (int64_t)(100 * MIB));
	assert_true(table.unit[0].burst_bytes_per_s == (int64_t)(100 * MIB));
	rows[0].start_ticks = 777; /* the pid was reused */
	build(2 * NS_PER_S);
	assert_int_equal(table.n, 1);
	assert_true(table.unit[0].start_ticks == 777);
}

/* Between two attempts nobody sweeps: a process has not grown before it was started. */
static void a_process_has_grown_within_its_own_life(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	memory.tick_ns = NS_PER_S / 100;
	memory.boot_ahead_ns = 100 * NS_PER_S; /* the machine was suspended once */
	build(NS_PER_S);
	proc_add(10, 1, 80);
	rows[0].start_ticks = (100 + 16) * 100;
	build(20 * NS_PER_S);
	assert_int_equal(unit_grown(&memory, &rows[0]).over_ns / NS_PER_MS, 4000);
	assert_true(table.unit[0].growth_bytes_per_s == (int64_t)(20 * MIB));
	proc_add(11, 1, 10); /* what a start takes is no rate of a moment */
	jobs[0].roots[1] = 11;
	jobs[0].ranks[1] = NO_RANK;
	jobs[0].n_roots = 2;
	rows[1].start_ticks = 12500 - 10;
	build(25 * NS_PER_S);
	assert_int_equal(unit_grown(&memory, &rows[1]).over_ns / NS_PER_MS, 1000);
}

static void circles_and_strangers_in_the_parent_chain_end_the_walk(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {99}, .ranks = {NO_RANK}, .n_roots = 1};
	proc_add(10, 11, 1);
	proc_add(11, 10, 1);
	proc_add(12, 12, 1);
	proc_add(13, 4000, 1);
	build(NS_PER_S);
	assert_int_equal(table.n, 0);
}

static void three_thousand_processes_and_a_deep_chain_are_placed(void **state)
{
	(void)state;
	jobs[0] = (struct unit_job){.active = true, .roots = {10}, .ranks = {NO_RANK}, .n_roots = 1};
	for (pid_t p = 10; p < 3010; p++)
		proc_add(p, p - 1, 1);
	for (pid_t p = 11; p < 3010; p++)
		wanted_role[p] = ROLE_LOADER;
	build(NS_PER_S);
	assert_int_equal(table.n, 1);
	assert_int_equal(table.unit[0].processes, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(loader_workers_fall_with_their_rank, fresh),
		cmocka_unit_test_setup(children_of_a_shell_stand_alone_and_the_shell_is_a_launcher, fresh),
		cmocka_unit_test_setup(ranks_under_a_launcher_are_units_with_their_rank, fresh),
		cmocka_unit_test_setup(ray_workers_are_units_of_their_own, fresh),
		cmocka_unit_test_setup(the_guard_of_another_vigil_is_no_victim_but_who_borrows_its_name_is, fresh),
		cmocka_unit_test_setup(rays_daemons_go_last_and_its_agents_with_the_raylet, fresh),
		cmocka_unit_test_setup(a_process_seen_before_its_exec_is_judged_again_after_it, fresh),
		cmocka_unit_test_setup(a_rank_that_hides_its_environment_behind_a_title_keeps_its_number, fresh),
		cmocka_unit_test_setup(a_double_fork_is_found_at_its_reaper, fresh),
		cmocka_unit_test_setup(a_stranger_with_an_ended_ranks_pid_is_left_alone, fresh),
		cmocka_unit_test_setup(jobs_are_kept_apart, fresh),
		cmocka_unit_test_setup(a_name_spares_who_proves_it_or_is_small, fresh),
		cmocka_unit_test_setup(what_the_name_alone_says_holds_until_more_is_known, fresh),
		cmocka_unit_test_setup(a_process_whose_role_is_not_known_yet_counts_no_page_twice, fresh),
		cmocka_unit_test_setup(eight_forks_that_write_nothing_hold_what_their_parent_holds, fresh),
		cmocka_unit_test_setup(what_was_read_of_their_sharing_is_believed_until_one_of_them_ends, fresh),
		cmocka_unit_test_setup(pages_that_a_fork_has_written_to_are_growth_though_it_is_no_larger, fresh),
		cmocka_unit_test_setup(the_ends_of_other_forks_are_no_growth, fresh),
		cmocka_unit_test_setup(a_fork_that_outlives_its_parent_holds_the_pages, fresh),
		cmocka_unit_test_setup(a_fork_that_is_seen_late_is_known_by_what_is_private, fresh),
		cmocka_unit_test_setup(a_parent_whose_forks_have_copied_its_pages_has_not_grown, fresh),
		cmocka_unit_test_setup(too_many_sharers_are_not_read_at_all, fresh),
		cmocka_unit_test_setup(growth_is_measured_between_sweeps, fresh),
		cmocka_unit_test_setup(a_process_has_grown_within_its_own_life, fresh),
		cmocka_unit_test_setup(circles_and_strangers_in_the_parent_chain_end_the_walk, fresh),
		cmocka_unit_test_setup(three_thousand_processes_and_a_deep_chain_are_placed, fresh),
	};
	return cmocka_run_group_tests_name("model/memory/unit", tests, NULL, NULL);
}
