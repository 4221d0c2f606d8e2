#include "testing.h"

#include "base/buf.h"
#include "judge/host/doctor.h"

static const struct finding *finding_of(const struct findings *all, const char *id)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->row[i].id, id) == 0)
			return &all->row[i];
	return NULL;
}

/* A machine on which nothing is wrong and nothing is missing. */
static struct probe good(void)
{
	struct probe p = {
		.has_caps = true,
		.cap_effective = UINT64_MAX,
		.psi = PROBE_YES,
		.psi_trigger = PROBE_YES,
		.psi_window_us = 500000,
		.lower_adj = PROBE_YES,
		.pidfd = PROBE_YES,
		.mrelease = PROBE_YES,
		.openat2 = PROBE_YES,
		.bpf = PROBE_YES,
		.btf = PROBE_YES,
		.kmsg = PROBE_YES,
		.memlock_bytes = UINT64_MAX,
		.files_limit = 65536,
		.memory_version = CGROUP_V2,
		.has_place = true,
		.cgroup_write = PROBE_YES,
		.cgroup_memory = PROBE_YES,
		.has_meminfo = true,
		.has_shm = true,
		.shm_total_bytes = 8 * GIB,
		.shm_free_bytes = 8 * GIB,
		.core_limit_bytes = UINT64_MAX,
		.oomd = OOMDCONF_DEFAULT,
	};
	p.meminfo.valid = UINT32_MAX;
	p.meminfo.bytes[MEMINFO_TOTAL] = 16 * GIB;
	p.meminfo.bytes[MEMINFO_SWAP_TOTAL] = 4 * GIB;
	return p;
}

static struct findings examine(const struct probe *p)
{
	struct findings all = {.n = 0};
	doctor_machine(p, &all);
	return all;
}

static void a_good_machine_has_no_findings(void **state)
{
	(void)state;
	struct probe p = good();
	struct findings all = examine(&p);
	if (all.n)
		fail_msg("found %s: %s", all.row[0].id, all.row[0].text);
}

/* Each thing that may be wrong, alone, gives its own finding of the expected weight. */
#define WRONG(change, name, weight)                                                                                    \
	do {                                                                                                           \
		struct probe p = good();                                                                               \
		change;                                                                                                \
		struct findings all = examine(&p);                                                                     \
		const struct finding *f = finding_of(&all, (name));                                                    \
		if (!f)                                                                                                \
			fail_msg("%s not found after " #change, (name));                                               \
		assert_int_equal(f->severity, (weight));                                                               \
		assert_true(f->n_evidence > 0);                                                                        \
		assert_int_equal(all.n, 1);                                                                            \
	} while (0)

static void each_fault_is_found_alone(void **state)
{
	(void)state;
	WRONG(p.psi = PROBE_ABSENT, "psi-absent", SEVERITY_WARNING);
	WRONG(p.psi_window_us = 2000000, "psi-slow-windows", SEVERITY_NOTE);
	WRONG(p.psi_trigger = PROBE_DENIED, "psi-no-triggers", SEVERITY_NOTE);
	WRONG(p.lower_adj = PROBE_DENIED, "oom-score-adj-locked", SEVERITY_NOTE);
	WRONG(p.mrelease = PROBE_ABSENT, "no-mrelease", SEVERITY_NOTE);
	WRONG(p.pidfd = PROBE_DENIED, "no-pidfd", SEVERITY_NOTE);
	WRONG(p.openat2 = PROBE_ABSENT, "no-openat2", SEVERITY_NOTE);
	WRONG(p.bpf = PROBE_DENIED, "no-bpf", SEVERITY_NOTE);
	WRONG(p.btf = PROBE_ABSENT, "no-bpf", SEVERITY_NOTE);
	WRONG(p.own_pids = true, "no-wakers", SEVERITY_NOTE);
	WRONG(p.kmsg = PROBE_DENIED, "no-kmsg", SEVERITY_NOTE);
	WRONG(p.proc_hidden = true, "proc-hidden", SEVERITY_WARNING);
	WRONG(p.files_limit = 256, "nofile", SEVERITY_NOTE);
	WRONG(p.memory_version = CGROUP_NONE, "cgroup-no-memory", SEVERITY_WARNING);
	WRONG(p.cgroup_memory = PROBE_DENIED, "cgroup-not-writable", SEVERITY_NOTE);
	WRONG(p.memory_version = CGROUP_V1, "cgroup-v1", SEVERITY_NOTE);
	WRONG(p.meminfo.bytes[MEMINFO_SWAP_TOTAL] = 0, "no-swap", SEVERITY_NOTE);
	WRONG(p.meminfo.bytes[MEMINFO_HUGETLB] = 8 * GIB, "hugetlb-pool", SEVERITY_WARNING);
	WRONG((p.shm_total_bytes = p.shm_free_bytes = 64 * MIB), "shm-small", SEVERITY_WARNING);
	WRONG(p.shm_free_bytes = 1, "shm-full", SEVERITY_WARNING);
	WRONG(p.panic_on_oom = ((struct probe_number){true, 1}), "panic-on-oom", SEVERITY_WARNING);
	WRONG(p.oom_kill_allocating_task = ((struct probe_number){true, 1}), "oom-kill-allocating-task",
	      SEVERITY_WARNING);
	WRONG(p.overcommit_memory = ((struct probe_number){true, 2}), "overcommit-strict", SEVERITY_WARNING);
	WRONG(p.oom_dump_tasks = ((struct probe_number){true, 0}), "oom-dump-tasks-off", SEVERITY_NOTE);
	WRONG(p.core_limit_bytes = 0, "no-core", SEVERITY_NOTE);
	WRONG(text_copy(p.container, sizeof(p.container), "docker"), "container", SEVERITY_NOTE);
	WRONG((p.oom_daemons.n = 1, p.oom_daemons.row[0].kind = OOM_DAEMON_EARLYOOM), "rival-earlyoom",
	      SEVERITY_WARNING);
	WRONG((p.oom_daemons.n = 1, p.oom_daemons.row[0].kind = OOM_DAEMON_RAY), "rival-Ray", SEVERITY_NOTE);
	WRONG((p.oom_daemons.n = 1, p.oom_daemons.row[0].kind = OOM_DAEMON_SYSTEMD_OOMD), "rival-systemd-oomd",
	      SEVERITY_WARNING);
}

static void what_is_unknown_is_not_called_missing(void **state)
{
	(void)state;
	struct probe p = good();
	p.psi_trigger = p.lower_adj = p.pidfd = p.mrelease = p.bpf = p.kmsg = p.openat2 = PROBE_UNKNOWN;
	struct findings all = examine(&p);
	assert_int_equal(all.n, 0);
}

static void a_core_pattern_that_pipes_needs_no_core_limit(void **state)
{
	(void)state;
	struct probe p = good();
	p.core_limit_bytes = 0;
	p.core_pattern[0] = '|';
	struct findings all = examine(&p);
	assert_int_equal(all.n, 0);
}

static void the_worst_comes_first_and_what_does_not_fit_is_counted(void **state)
{
	(void)state;
	static struct findings all;
	finding_add(&all, "a", SEVERITY_NOTE, "a");
	finding_add(&all, "b", SEVERITY_PROBLEM, "b");
	finding_add(&all, "c", SEVERITY_NOTE, "c");
	findings_sort(&all);
	assert_string_equal(all.row[0].id, "b");
	assert_string_equal(all.row[1].id, "a");
	assert_string_equal(all.row[2].id, "c");
	assert_int_equal(findings_worst(&all), SEVERITY_PROBLEM);
	for (int i = 0; i < FINDINGS_MAX; i++)
		finding_add(&all, "d", SEVERITY_NOTE, "d");
	assert_int_equal(all.n, FINDINGS_MAX);
	assert_int_equal(all.dropped, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_machine_has_no_findings),
		cmocka_unit_test(each_fault_is_found_alone),
		cmocka_unit_test(what_is_unknown_is_not_called_missing),
		cmocka_unit_test(a_core_pattern_that_pipes_needs_no_core_limit),
		cmocka_unit_test(the_worst_comes_first_and_what_does_not_fit_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
