#include "testing.h"

#include "base/buf.h"
#include "judge/memory/protect.h"

static const struct finding *finding_of(const struct findings *all, const char *id)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->row[i].id, id) == 0)
			return &all->row[i];
	return NULL;
}

static struct probe machine;

static struct protect_facts safe(void)
{
	machine = (struct probe){
		.has_caps = true, .cap_effective = UINT64_MAX, .has_meminfo = true, .oomd = OOMDCONF_DEFAULT};
	machine.meminfo.bytes[MEMINFO_SWAP_TOTAL] = GIB;
	return (struct protect_facts){
		.level = PROTECT_NORMAL,
		.n_processes = 4,
		.own_bytes = 8 * GIB,
		.has_adj = true,
		.adj_lowest = -900,
		.adj_highest = -900,
		.group = "/system.slice/train.service",
		.group_root_owned = true,
		.machine = &machine,
	};
}

static struct findings threats_of(const struct protect_facts *p)
{
	struct findings all = {.n = 0};
	protect_threats(p, &all);
	return all;
}

static void oom_daemon_add(enum oom_daemon_kind k)
{
	machine.oom_daemons.row[machine.oom_daemons.n].kind = k;
	machine.oom_daemons.row[machine.oom_daemons.n++].pid = 588;
}

static void a_well_protected_job_has_only_notes(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	struct findings all = threats_of(&p);
	assert_int_equal(findings_worst(&all), SEVERITY_NOTE);
	assert_non_null(finding_of(&all, "kernel-oom"));
	assert_non_null(finding_of(&all, "people"));
}

static void a_refused_score_names_the_missing_privilege(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	machine.cap_effective = 0;
	p.n_adj_refused = 4;
	p.adj_highest = 0;
	struct findings all = threats_of(&p);
	const struct finding *f = finding_of(&all, "kernel-oom");
	assert_int_equal(f->severity, SEVERITY_WARNING);
	assert_non_null(strstr(f->evidence[0], "CAP_SYS_RESOURCE"));
	assert_non_null(strstr(f->evidence[1], "nothing was done"));
	assert_non_null(strstr(f->advice[0], "start the job with `vigil run`"));
	p.guarded = true; /* it is, already */
	all = threats_of(&p);
	f = finding_of(&all, "kernel-oom");
	assert_null(strstr(f->advice[0], "start the job"));
	p.n_raised = 2;
	all = threats_of(&p);
	f = finding_of(&all, "kernel-oom");
	assert_non_null(strstr(f->evidence[1], "2 helper processes"));
}

static void hiding_a_large_job_completely_is_warned_of(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	p.adj_lowest = p.adj_highest = -1000;
	struct findings all = threats_of(&p);
	assert_non_null(finding_of(&all, "deadlock"));
	assert_null(finding_of(&all, "kernel-oom"));
	p.own_bytes = 100 * MIB;
	all = threats_of(&p);
	assert_null(finding_of(&all, "deadlock"));
}

/* The seed of it all: -1000 was set, and "57.97% > 50.00%" was read as memory use. */
static void a_score_does_not_stop_systemd_oomd_and_its_percentage_is_pressure(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	p.adj_lowest = p.adj_highest = -1000;
	p.group_root_owned = false;
	oom_daemon_add(OOM_DAEMON_SYSTEMD_OOMD);
	TEXT_COPY(p.group, "/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope");
	TEXT_COPY(p.pressure_unit, "user@1000.service");
	p.pressure_limit_ratio = 0.5;
	struct findings all = threats_of(&p);
	const struct finding *f = finding_of(&all, "systemd-oomd-pressure");
	assert_int_equal(f->severity, SEVERITY_WARNING);
	assert_non_null(strstr(f->evidence[0], "50 %"));
	assert_non_null(strstr(f->evidence[0], "not the share of memory used"));
	assert_int_equal(finding_of(&all, "systemd-oomd-swap")->severity, SEVERITY_WARNING);
	assert_non_null(finding_of(&all, "adj-is-not-for-oomd"));
}

static void the_wish_to_be_spared_counts_only_from_the_right_owner(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	oom_daemon_add(OOM_DAEMON_SYSTEMD_OOMD);
	TEXT_COPY(p.pressure_unit, "user@1000.service");
	p.avoid = true;
	p.group_root_owned = false;
	p.pressure_same_owner = true;
	struct findings all = threats_of(&p);
	assert_int_equal(finding_of(&all, "systemd-oomd-pressure")->severity, SEVERITY_NOTE);
	assert_int_equal(finding_of(&all, "systemd-oomd-swap")->severity, SEVERITY_WARNING);
	p.pressure_same_owner = false;
	all = threats_of(&p);
	assert_int_equal(finding_of(&all, "systemd-oomd-pressure")->severity, SEVERITY_WARNING);
	p.group_root_owned = true;
	all = threats_of(&p);
	assert_int_equal(finding_of(&all, "systemd-oomd-pressure")->severity, SEVERITY_NOTE);
	assert_int_equal(finding_of(&all, "systemd-oomd-swap")->severity, SEVERITY_NOTE);
	p.avoid = false;
	p.omit = true;
	all = threats_of(&p);
	assert_null(finding_of(&all, "systemd-oomd-pressure"));
	assert_null(finding_of(&all, "systemd-oomd-swap"));
}

static void without_swap_the_swap_rule_is_no_threat(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	oom_daemon_add(OOM_DAEMON_SYSTEMD_OOMD);
	machine.meminfo.bytes[MEMINFO_SWAP_TOTAL] = 0;
	struct findings all = threats_of(&p);
	assert_null(finding_of(&all, "systemd-oomd-swap"));
}

static void limits_above_the_job_are_told_with_numbers(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	p.n_limits = 2;
	p.limit[0] = (struct ledger_level){
		.scope = LEDGER_CONTAINER, .total_bytes = 10 * GIB, .used_bytes = 2 * GIB, .available_bytes = 8 * GIB};
	p.limit[1] = (struct ledger_level){.scope = LEDGER_CONTAINER, .total_bytes = 10 * GIB, .used_bytes = 10 * GIB};
	TEXT_COPY(p.limit_name[0], "a/b");
	TEXT_COPY(p.limit_name[1], "a");
	struct findings all = threats_of(&p);
	size_t n = 0;
	for (size_t i = 0; i < all.n; i++) {
		if (strcmp(all.row[i].id, "cgroup-limit") != 0)
			continue;
		assert_int_equal(all.row[i].severity, n == 0 ? SEVERITY_WARNING : SEVERITY_PROBLEM);
		assert_non_null(strstr(all.row[i].text, "10.0 GiB"));
		n++;
	}
	assert_int_equal(n, 2);
}

static void other_guards_are_weighed_by_what_they_go_by(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	oom_daemon_add(OOM_DAEMON_EARLYOOM);
	oom_daemon_add(OOM_DAEMON_META_OOMD);
	struct findings all = threats_of(&p);
	assert_int_equal(finding_of(&all, "rival-earlyoom")->severity, SEVERITY_NOTE);
	assert_int_equal(finding_of(&all, "rival-oomd")->severity, SEVERITY_WARNING);
	p.adj_lowest = p.adj_highest = 0;
	all = threats_of(&p);
	assert_int_equal(finding_of(&all, "rival-earlyoom")->severity, SEVERITY_WARNING);
	p.adj_lowest = p.adj_highest = -1000;
	all = threats_of(&p);
	assert_null(finding_of(&all, "rival-earlyoom"));
}

static void memory_that_no_ancestor_grants_is_told(void **state)
{
	(void)state;
	struct protect_facts p = safe();
	p.has_low = true;
	p.low_bytes = 4 * GIB;
	p.effective_low_bytes = 0;
	TEXT_COPY(p.low_stopped_at, "system.slice");
	struct findings all = threats_of(&p);
	const struct finding *f = finding_of(&all, "memory-low-not-granted");
	assert_non_null(strstr(f->evidence[0], "system.slice"));
	p.effective_low_bytes = 4 * GIB;
	all = threats_of(&p);
	assert_null(finding_of(&all, "memory-low-not-granted"));
}

static void only_the_highest_level_hides_a_job_from_the_kernel(void **state)
{
	(void)state;
	for (int l = 0; l < PROTECT_LEVEL_MAX; l++) {
		struct protect_wish w = protect_wish_of((enum protect_level)l);
		assert_int_equal(w.oom_score_adj == -1000, l == PROTECT_MAX);
		assert_true(w.oom_score_adj < 0 && w.oom_score_adj >= -1000);
		assert_true(w.avoid != w.omit);
	}
	assert_int_equal(protect_wish_of(PROTECT_NORMAL).oom_score_adj, -900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_well_protected_job_has_only_notes),
		cmocka_unit_test(a_refused_score_names_the_missing_privilege),
		cmocka_unit_test(hiding_a_large_job_completely_is_warned_of),
		cmocka_unit_test(a_score_does_not_stop_systemd_oomd_and_its_percentage_is_pressure),
		cmocka_unit_test(the_wish_to_be_spared_counts_only_from_the_right_owner),
		cmocka_unit_test(without_swap_the_swap_rule_is_no_threat),
		cmocka_unit_test(limits_above_the_job_are_told_with_numbers),
		cmocka_unit_test(other_guards_are_weighed_by_what_they_go_by),
		cmocka_unit_test(memory_that_no_ancestor_grants_is_told),
		cmocka_unit_test(only_the_highest_level_hides_a_job_from_the_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
