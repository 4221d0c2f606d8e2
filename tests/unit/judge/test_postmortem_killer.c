/* Details of the verdicts on other killers: senders of signals, daemons, PID 1, schedulers. */
#include "testing.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "judge/death/postmortem.h"

static struct death d;
static struct signal_sent sent[2];
static struct killer_line line[3];
static struct incident in;

/* pid 100 was ended by SIGKILL, which bash (pid 50) was seen to send. */
static int killed_by_bash(void **state)
{
	(void)state;
	d = (struct death){.pid = 100,
			   .rank = NO_RANK,
			   .name = "python3",
			   .cgroup = "/system.slice/train.service",
			   .has_status = true,
			   .wait_status = SIGKILL,
			   .start_unix_ms = 100000,
			   .end_unix_ms = 900000};
	memset(line, 0, sizeof(line));
	sent[0] = (struct signal_sent){.signal = SIGKILL,
				       .target = 100,
				       .sender = 50,
				       .sender_uid = 1000,
				       .sender_comm = "bash",
				       .time_unix_ms = 899999};
	d.signals = sent;
	d.n_signals = 1;
	d.killer_lines = line;
	return 0;
}

static void judge(void)
{
	postmortem(&d, &in);
}

static void add_line(struct killer_line l)
{
	line[d.n_killer_lines] = l;
	if (line[d.n_killer_lines].time_unix_ms == 0)
		line[d.n_killer_lines].time_unix_ms = 899900;
	TEXT_COPY(line[d.n_killer_lines].source, "journal");
	d.n_killer_lines++;
}

static void the_seen_sender_is_the_killer(void **state)
{
	(void)state;
	judge();
	assert_string_equal(in.cause.id, "signal_sent");
	assert_int_equal(in.killer, KILLER_SIGNAL);
	assert_int_equal(in.cause.confidence, CONFIDENCE_HIGH);
	assert_string_equal(in.killer_text, "bash, pid 50, uid 1000");
	assert_string_equal(in.summary, "python3 (pid 100) was ended by SIGKILL, sent by bash (pid 50, uid 1000).");
}

static void another_signal_another_target_or_another_minute_does_not_count(void **state)
{
	(void)state;
	sent[0].signal = SIGTERM;
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
	sent[0].signal = SIGKILL;
	sent[0].target = 101;
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
	sent[0].target = 100;
	sent[0].time_unix_ms = d.end_unix_ms - 60001;
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
	sent[0].time_unix_ms++;
	judge();
	assert_string_equal(in.cause.id, "signal_sent");
}

static void a_process_is_preferred_to_the_kernel_as_sender(void **state)
{
	(void)state;
	sent[1] = sent[0];
	sent[1].from_kernel = true;
	sent[1].sender = 0;
	d.n_signals = 2;
	judge();
	assert_string_equal(in.cause.id, "signal_sent");
	assert_non_null(strstr(in.summary, "bash"));
}

static void the_kernel_sends_for_the_terminal(void **state)
{
	(void)state;
	sent[0].from_kernel = true;
	sent[0].signal = SIGHUP;
	d.wait_status = SIGHUP;
	judge();
	assert_string_equal(in.cause.id, "terminal_hangup");
	assert_non_null(strstr(in.cause.advice[0], "tmux"));
	sent[0].signal = SIGINT;
	d.wait_status = SIGINT;
	judge();
	assert_string_equal(in.cause.id, "terminal_interrupt");
	assert_int_equal(in.cause.n_advice, 0);
	sent[0].signal = SIGTERM;
	d.wait_status = SIGTERM;
	judge();
	assert_string_equal(in.cause.id, "sigterm_unknown");
}

static void a_signal_of_its_own_is_told_as_such_but_abort_is_a_crash(void **state)
{
	(void)state;
	sent[0].sender = 100;
	judge();
	assert_string_equal(in.summary, "python3 (pid 100) ended itself: it sent itself SIGKILL.");
	sent[0].signal = SIGABRT;
	d.wait_status = SIGABRT;
	judge();
	assert_string_equal(in.cause.id, "sigabrt");
}

static void without_a_status_an_end_after_a_signal_is_likely_of_that(void **state)
{
	(void)state;
	d.has_status = false;
	sent[0].signal = SIGTERM;
	judge();
	assert_int_equal(in.killer, KILLER_UNKNOWN);
	d.after_signal = SIGTERM;
	judge();
	assert_string_equal(in.cause.id, "ended_after_signal");
	assert_int_equal(in.cause.confidence, CONFIDENCE_MEDIUM);
	assert_int_equal(in.killer, KILLER_SIGNAL);
	assert_string_equal(in.summary, "python3 (pid 100) ended after SIGTERM, sent by bash (pid 50, uid 1000).");
	d.after_signal = sent[0].signal = SIGSEGV;
	judge();
	assert_int_equal(in.killer, KILLER_SIGNAL);
	sent[0].from_kernel = true;
	judge();
	assert_int_equal(in.kind, INCIDENT_CRASH);
	assert_int_equal(in.killer, KILLER_NONE);
	assert_non_null(strstr(in.summary, "ended after SIGSEGV, which the kernel raised"));
	d.after_signal = sent[0].signal = SIGABRT;
	sent[0].from_kernel = false;
	sent[0].sender = 100;
	judge();
	assert_string_equal(in.summary, "python3 (pid 100) ended after SIGABRT, which it sent itself.");
}

static void systemd_as_sender_gets_advice_on_lingering(void **state)
{
	(void)state;
	TEXT_COPY(sent[0].sender_comm, "systemd");
	judge();
	assert_non_null(strstr(in.cause.advice[0], "loginctl enable-linger"));
}

static void earlyoom_s_line_with_the_pid_is_proof(void **state)
{
	(void)state;
	d.n_signals = 0;
	add_line((struct killer_line){.killer = KILLER_EARLYOOM, .action = "low_memory", .value_ratio = 0.081});
	add_line((struct killer_line){
		.killer = KILLER_EARLYOOM, .action = "kill", .pid = 100, .signal = SIGKILL, .victim_bytes = GIB});
	judge();
	assert_int_equal(in.kind, INCIDENT_OTHER_OOM_DAEMON);
	assert_string_equal(in.cause.id, "earlyoom_kill");
	assert_non_null(strstr(in.cause.text, "Available memory was down to 8.1 %."));
	assert_non_null(strstr(in.cause.text, "The process held 1.00 GiB."));
	/* of another process it says nothing about this one */
	line[1].pid = 4;
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
}

static void pid_1_gives_the_most_exact_of_its_reasons(void **state)
{
	(void)state;
	d.n_signals = 0;
	add_line((struct killer_line){
		.killer = KILLER_SIGNAL, .action = "kill", .pid = 100, .signal = SIGKILL, .group = "train.service"});
	judge();
	assert_string_equal(in.cause.id, "systemd_stop");
	TEXT_COPY(line[0].name, "client request");
	judge();
	assert_string_equal(in.cause.id, "systemctl_kill");
	add_line((struct killer_line){.killer = KILLER_SIGNAL, .action = "stop_timeout", .group = "train.service"});
	judge();
	assert_string_equal(in.cause.id, "systemd_stop_timeout");
	add_line((struct killer_line){.killer = KILLER_SIGNAL, .action = "runtime_limit", .group = "train.service"});
	judge();
	assert_string_equal(in.cause.id, "systemd_runtime_limit");
	TEXT_COPY(line[2].action, "unit");
	judge();
	assert_string_equal(in.cause.id, "systemd_oom_policy");
}

static void oomd_s_rules_are_told_apart(void **state)
{
	(void)state;
	d.n_signals = 0;
	add_line((struct killer_line){.killer = KILLER_SYSTEMD_OOMD,
				      .action = "kill",
				      .group = "/system.slice/train.service",
				      .monitored = "/system.slice",
				      .pressure = true,
				      .value_ratio = 0.71,
				      .limit_ratio = 0.6,
				      .duration_ms = 20000});
	judge();
	assert_int_equal(in.kind, INCIDENT_SYSTEMD_OOMD);
	assert_string_equal(in.cause.id, "systemd_oomd_pressure");
	assert_non_null(strstr(in.summary, "memory pressure of /system.slice was 71.00 % > 60.00 % for 20 s."));
	line[0].pressure = false;
	line[0].memory_total_bytes = 8 * GIB;
	judge();
	assert_string_equal(in.cause.id, "systemd_oomd_swap");
	TEXT_COPY(line[0].group, "/user.slice");
	judge();
	assert_string_equal(in.cause.id, "sigkill_unknown");
}

static void slurm_s_notice_in_the_log_is_told_beside_the_seen_sender(void **state)
{
	(void)state;
	sent[0].signal = d.wait_status = SIGTERM;
	add_line((struct killer_line){
		.killer = KILLER_SLURM,
		.action = "time_limit",
		.line = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT x DUE TO TIME LIMIT ***"});
	judge();
	assert_null(strstr(in.cause.text, "TIME LIMIT")); /* the journal may speak of another job */
	TEXT_COPY(line[0].source, "log stderr");
	judge();
	assert_string_equal(in.cause.id, "signal_sent");
	assert_int_equal(in.killer, KILLER_SIGNAL);
	assert_non_null(strstr(in.cause.text, "DUE TO TIME LIMIT"));
	/* Slurm ends nothing by SIGUSR1 */
	sent[0].signal = d.wait_status = SIGUSR1;
	judge();
	assert_null(strstr(in.cause.text, "TIME LIMIT"));
}

static void a_scheduler_s_reason_names_the_end(void **state)
{
	(void)state;
	static const struct {
		enum killer killer;
		const char *action, *id;
	} ends[] = {
		{KILLER_SLURM, "cancel", "slurm_cancelled"},  {KILLER_SLURM, "time_limit", "slurm_time_limit"},
		{KILLER_SLURM, "preempt", "slurm_preempted"}, {KILLER_KUBERNETES, "evict", "kubernetes_evicted"},
		{KILLER_SLURM, "step_oom", "slurm_oom"},
	};
	d.n_signals = 0;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		d.n_killer_lines = 0;
		add_line((struct killer_line){.killer = ends[i].killer});
		TEXT_COPY(line[0].action, ends[i].action);
		judge();
		assert_string_equal(in.cause.id, ends[i].id);
	}
	/* a crash is not the scheduler's doing */
	TEXT_COPY(line[0].action, "cancel");
	d.wait_status = SIGSEGV;
	judge();
	assert_string_equal(in.cause.id, "sigsegv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_seen_sender_is_the_killer, killed_by_bash),
		cmocka_unit_test_setup(another_signal_another_target_or_another_minute_does_not_count, killed_by_bash),
		cmocka_unit_test_setup(a_process_is_preferred_to_the_kernel_as_sender, killed_by_bash),
		cmocka_unit_test_setup(the_kernel_sends_for_the_terminal, killed_by_bash),
		cmocka_unit_test_setup(without_a_status_an_end_after_a_signal_is_likely_of_that, killed_by_bash),
		cmocka_unit_test_setup(a_signal_of_its_own_is_told_as_such_but_abort_is_a_crash, killed_by_bash),
		cmocka_unit_test_setup(systemd_as_sender_gets_advice_on_lingering, killed_by_bash),
		cmocka_unit_test_setup(earlyoom_s_line_with_the_pid_is_proof, killed_by_bash),
		cmocka_unit_test_setup(pid_1_gives_the_most_exact_of_its_reasons, killed_by_bash),
		cmocka_unit_test_setup(oomd_s_rules_are_told_apart, killed_by_bash),
		cmocka_unit_test_setup(slurm_s_notice_in_the_log_is_told_beside_the_seen_sender, killed_by_bash),
		cmocka_unit_test_setup(a_scheduler_s_reason_names_the_end, killed_by_bash),
	};
	return cmocka_run_group_tests_name("judge/death/postmortem_killer", tests, NULL, NULL);
}
