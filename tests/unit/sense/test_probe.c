#include "testing.h"

#include <fcntl.h>

#include "base/clock.h"
#include "sense/host/probe.h"

static void settings_of_systemd_oomd_are_read_and_nonsense_is_left_out(void **state)
{
	(void)state;
	struct oomdconf c = OOMDCONF_DEFAULT;
	oomdconf_parse(SPAN("# comment\n[OOM]\nSwapUsedLimit=80%\nDefaultMemoryPressureLimit = 42.5%\n"
			    "DefaultMemoryPressureDurationSec=1min 20s\nNoSuchKey=1\n[Other]\nSwapUsedLimit=1%\n"),
		       &c);
	assert_true(c.swap_used_limit_ratio > 0.799 && c.swap_used_limit_ratio < 0.801);
	assert_true(c.pressure_limit_ratio > 0.4249 && c.pressure_limit_ratio < 0.4251);
	assert_true(c.pressure_duration_s > 79.9 && c.pressure_duration_s < 80.1);
	assert_true(c.from_file);
	struct oomdconf d = OOMDCONF_DEFAULT;
	oomdconf_parse(SPAN("[OOM]\nSwapUsedLimit=180%\nDefaultMemoryPressureLimit=0.5\nSwapUsedLimit=\n"
			    "DefaultMemoryPressureDurationSec=20 parsecs\nDefaultMemoryPressureDurationSec"),
		       &d);
	assert_true(d.swap_used_limit_ratio == 0.9 && d.pressure_limit_ratio == 0.6 && d.pressure_duration_s == 30);
	assert_false(d.from_file);
}

static void other_guards_are_known_by_name(void **state)
{
	(void)state;
	assert_int_equal(oom_daemons_kind(SPAN("earlyoom"), SPAN("")), OOM_DAEMON_EARLYOOM);
	assert_int_equal(oom_daemons_kind(SPAN("systemd-oomd"), SPAN("")), OOM_DAEMON_SYSTEMD_OOMD);
	assert_int_equal(oom_daemons_kind(SPAN("raylet"), SPAN("")), OOM_DAEMON_RAY);
	assert_int_equal(oom_daemons_kind(SPAN("python3"), SPAN("python3 /usr/sbin/nohang --monitor")),
			 OOM_DAEMON_NOHANG);
	assert_int_equal(oom_daemons_kind(SPAN("vim"), SPAN("vim /usr/sbin/nohang")), OOM_DAEMON_NONE);
	assert_int_equal(oom_daemons_kind(SPAN("bash"), SPAN("bash")), OOM_DAEMON_NONE);
	assert_int_equal(oom_daemons_kind(SPAN(""), SPAN("")), OOM_DAEMON_NONE);
}

static void containers_are_known_by_group_or_environment(void **state)
{
	(void)state;
	assert_string_equal(probe_container_of(SPAN("0::/kubepods/besteffort/pod1/x\n"), SPAN("")), "kubernetes");
	assert_string_equal(probe_container_of(SPAN("4:memory:/docker/0123\n"), SPAN("")), "docker");
	assert_string_equal(probe_container_of(SPAN("0::/\n"), SPAN("A=1\0container=podman\0B=2")), "podman");
	assert_string_equal(probe_container_of(SPAN("0::/\n"), SPAN("container=strange")), "container");
	assert_null(probe_container_of(SPAN("0::/user.slice\n"), SPAN("NOcontainer=docker\0container=")));
	assert_null(probe_container_of(SPAN(""), SPAN("")));
}

static void this_machine_can_be_probed_without_changing_it(void **state)
{
	(void)state;
	struct world w = {
		.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.sys_fd = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.cgroup_fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.shm_fd = -1, .kmsg_fd = -1, .page_bytes = 4096, .ticks_per_s = 100,
		.mono_ns = clock_mono_ns, .unix_ms = clock_unix_ms,
	};
	struct probe p, again;
	assert_int_equal(probe_read(&w, &p), 0);
	assert_int_equal(probe_read(&w, &again), 0);
	assert_true(p.has_caps && p.has_own_adj && p.has_meminfo && p.kernel[0]);
	assert_int_equal(p.own_adj, again.own_adj);
	assert_int_not_equal(p.lower_adj, PROBE_UNKNOWN);
	assert_int_equal(p.pidfd, PROBE_YES);
	assert_true(p.panic_on_oom.valid);
	/* A window shorter than 2 s is only ever given to who may lower oom_score_adj too. */
	if (p.psi_trigger == PROBE_YES && p.psi_window_us < 2000000)
		assert_true(probe_has_cap(&p, PROBE_CAP_SYS_RESOURCE));
	close(w.proc_fd);
	close(w.sys_fd);
	close(w.cgroup_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_of_systemd_oomd_are_read_and_nonsense_is_left_out),
		cmocka_unit_test(other_guards_are_known_by_name),
		cmocka_unit_test(containers_are_known_by_group_or_environment),
		cmocka_unit_test(this_machine_can_be_probed_without_changing_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
