/* Whether a job is well, from what is known of it. */
#include "testing.h"

#include "base/buf.h"
#include "judge/health/health.h"

#define NOW INT64_C(1000000000)

static struct job job;
static struct health_facts facts;
static struct health h;

static int begin(void **state)
{
	(void)state;
	job = (struct job){.state = JOB_RUNNING, .attempt = 1, .started_unix_ms = NOW - 3600000};
	facts = (struct health_facts){.job = &job, .now_unix_ms = NOW, .ran = "1 h"};
	return 0;
}

static enum health_level level(void)
{
	health_judge(&facts, &h);
	assert_true(h.sentence[0] != '\0');
	return h.level;
}

static void trouble(enum incident_kind kind, uint32_t attempt)
{
	facts.trouble.kind = kind;
	facts.trouble.attempt = attempt;
	facts.trouble.time_unix_ms = NOW - 60000;
	facts.trouble.n_culprits = 1;
	facts.trouble.culprit[0] = 2;
	TEXT_COPY(facts.trouble.id, "a.1");
	TEXT_COPY(facts.trouble.summary, "rank 2 holds the others up");
	TEXT_COPY(facts.trouble.why, "It reads from an empty pipe.");
}

static void a_job_whose_steps_go_on_is_well(void **state)
{
	(void)state;
	TEXT_COPY(facts.steps, "step 812 of 5000, 1.9/s");
	facts.steps_unix_ms = NOW - 500;
	assert_int_equal(level(), HEALTH_WELL);
	assert_string_equal(h.sentence, "step 812 of 5000, 1.9/s");
}

static void a_rate_is_told_with_what_is_usual_once_that_is_known(void **state)
{
	(void)state;
	static const struct {
		double per_s, usual_per_s;
		const char *steps, *says;
	} of[] = {
		{1.9, 0, "step 8, 1.9/s, 36 m 00 s left", "step 8, 1.9/s, 36 m 00 s left"},
		{1.9, 2, "step 8, 1.9/s, 36 m 00 s left", "step 8, 1.9/s, as usual, 36 m 00 s left"},
		{1.2, 2.4, "step 8, 1.2/s", "step 8, 1.2/s, slower than usual (2.4/s)"},
		{240, 24, "step 8, 240/s", "step 8, 240/s, faster than usual (24/s)"},
		/* one step in the minute instead of two */
		{1 / 60.0, 2 / 60.0, "step 8, 0.017/s", "step 8, 0.017/s, as usual"},
		{1.9, 2, "step 8", "step 8"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		facts.has_rate = true;
		facts.per_s = of[i].per_s;
		facts.usual_per_s = of[i].usual_per_s;
		facts.steps_unix_ms = NOW - 500;
		TEXT_COPY(facts.steps, of[i].steps);
		assert_int_equal(level(), HEALTH_WELL);
		assert_string_equal(h.sentence, of[i].says);
	}
}

static void one_without_a_step_for_long_is_quiet_unless_steps_are_slow(void **state)
{
	(void)state;
	TEXT_COPY(facts.steps, "step 812");
	facts.steps_unix_ms = NOW - 2 * HEALTH_QUIET_MS;
	facts.has_rate = true;
	facts.per_s = 2;
	assert_int_equal(level(), HEALTH_QUIET);
	facts.per_s = 0.01; /* a hundred seconds a step */
	assert_int_equal(level(), HEALTH_WELL);
	facts.steps[0] = '\0';
	assert_int_equal(level(), HEALTH_QUIET);
}

static void an_unresolved_hang_of_this_attempt_is_told_with_its_culprit(void **state)
{
	(void)state;
	trouble(INCIDENT_HANG, 1);
	assert_int_equal(level(), HEALTH_HUNG);
	assert_string_equal(h.sentence, "rank 2 holds the others up");
	assert_int_equal(h.n_culprits, 1);
	assert_int_equal(h.culprit[0], 2);
	assert_string_equal(h.incident, "a.1");
	assert_string_equal(h.why, "It reads from an empty pipe.");
	facts.trouble.resolved = true;
	assert_int_equal(level(), HEALTH_QUIET);
	facts.trouble.resolved = false;
	facts.trouble.attempt = 0;
	assert_int_equal(level(), HEALTH_QUIET);
}

/* The sentence is short: what it leaves out comes with the report's own words, whoever brings the report. */
static void the_cause_of_a_report_is_told(void **state)
{
	static struct incident in; /* large */
	(void)state;
	in = (struct incident){.kind = INCIDENT_HANG, .attempt = 1, .time_unix_ms = NOW - 60000};
	TEXT_COPY(in.summary, "rank 2 holds the others up");
	TEXT_COPY(in.cause.text, "It waits for a lock that nobody holds.");
	health_trouble(&facts, &in);
	assert_int_equal(level(), HEALTH_HUNG);
	assert_string_equal(h.why, "It waits for a lock that nobody holds.");
	facts.trouble.resolved = true;
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.why, "");
}

/* The report says how long it had stood when it was judged; whoever looks an hour later wants to know of now. */
static void a_hang_is_told_with_the_time_that_it_stands_now(void **state)
{
	(void)state;
	trouble(INCIDENT_HANG, 1);
	TEXT_COPY(facts.trouble.summary, "The job has been standing still for 4 m 10 s, held up by rank 2 (deadlock).");
	facts.trouble.stood_ms = 250000;
	facts.trouble.time_unix_ms = NOW - 5000;
	assert_int_equal(level(), HEALTH_HUNG);
	assert_string_equal(h.sentence,
			    "The job has been standing still for 4 m 10 s, held up by rank 2 (deadlock).");
	assert_int_equal(h.since_unix_ms, NOW - 255000);
	/* in tens of seconds, so that it need not be told each second */
	facts.trouble.time_unix_ms = NOW - 5 * 60000 - 4000;
	assert_int_equal(level(), HEALTH_HUNG);
	assert_string_equal(h.sentence,
			    "The job has been standing still for 9 m 10 s, held up by rank 2 (deadlock).");
	facts.trouble.time_unix_ms = NOW - 3 * 3600000;
	(void)level();
	assert_string_equal(h.sentence,
			    "The job has been standing still for 3 h 04 m, held up by rank 2 (deadlock).");
	facts.trouble.time_unix_ms = NOW + 9000; /* a clock that was set back */
	(void)level();
	assert_string_equal(h.sentence,
			    "The job has been standing still for 4 m 10 s, held up by rank 2 (deadlock).");
	TEXT_COPY(facts.trouble.summary, "Something else, for 4 m 10 s.");
	facts.trouble.time_unix_ms = NOW - 3600000;
	(void)level();
	assert_string_equal(h.sentence, "Something else, for 4 m 10 s.");
	facts.job = &job;
	job.state = JOB_FAILED; /* it has ended: it stands no longer */
	TEXT_COPY(facts.trouble.summary, "The job has been standing still for 4 m 10 s (deadlock).");
	(void)level();
	assert_string_equal(h.sentence, "The job has been standing still for 4 m 10 s (deadlock).");
}

/* Who ends a job that hangs does so some time after it was judged. */
static void a_job_that_was_ended_while_it_hung_stood_until_its_end(void **state)
{
	(void)state;
	trouble(INCIDENT_HANG, 1);
	TEXT_COPY(facts.trouble.summary, "The job has been standing still for 24.3 s, held up by rank 2 (deadlock).");
	facts.trouble.stood_ms = 24300;
	facts.trouble.time_unix_ms = NOW - 600000;
	job.state = JOB_FAILED;
	job.ended_unix_ms = NOW - 300000;
	assert_int_equal(level(), HEALTH_DIED);
	assert_string_equal(h.sentence,
			    "The job had been standing still for 5 m 24 s, held up by rank 2 (deadlock), "
			    "when it ended.");
	assert_int_equal(h.since_unix_ms, NOW - 300000);
	TEXT_COPY(facts.trouble.ended_by, "--on-hang kill");
	(void)level();
	assert_string_equal(h.sentence,
			    "The job had been standing still for 5 m 24 s, held up by rank 2 (deadlock), "
			    "when vigil ended it (--on-hang kill).");
	facts.trouble.attempt = 0; /* another attempt came after it */
	(void)level();
	assert_non_null(strstr(h.sentence, "24.3 s"));
}

static void a_job_that_its_user_stopped_is_told_so(void **state)
{
	(void)state;
	static struct incident in; /* large */
	in = (struct incident){.kind = INCIDENT_KILLED_BY, .attempt = 1};
	TEXT_COPY(in.summary, "The job ended because you asked it to stop: vigil passed on SIGINT.");
	TEXT_COPY(in.cause.id, "asked_to_stop");
	job.state = JOB_FAILED;
	health_trouble(&facts, &in);
	assert_int_equal(level(), HEALTH_DIED);
	assert_true(h.stopped);
	TEXT_COPY(in.cause.id, "signal_sent"); /* by anybody */
	health_trouble(&facts, &in);
	assert_int_equal(level(), HEALTH_DIED);
	assert_false(h.stopped);
	TEXT_COPY(in.cause.id, "terminal_interrupt");
	health_trouble(&facts, &in);
	assert_int_equal(level(), HEALTH_DIED);
	assert_true(h.stopped);
	job.state = JOB_DONE;
	assert_int_equal(level(), HEALTH_ENDED);
	assert_false(h.stopped);
}

static void a_suspicion_goes_with_the_next_step(void **state)
{
	(void)state;
	TEXT_COPY(facts.suspicion, "nothing has moved for 30 s");
	TEXT_COPY(facts.steps, "step 5");
	facts.suspicion_unix_ms = NOW - 30000;
	facts.steps_unix_ms = NOW - 60000;
	assert_int_equal(level(), HEALTH_SUSPECTED);
	facts.steps_unix_ms = NOW - 1000;
	assert_int_equal(level(), HEALTH_WELL);
	facts.steps_unix_ms = 0;
	facts.suspicion_unix_ms = NOW - 2 * HEALTH_SUSPICION_MS;
	assert_int_not_equal(level(), HEALTH_SUSPECTED);
}

static void heard(const char *kind, const char *text, int64_t time_unix_ms)
{
	struct job_event e = {.time_unix_ms = time_unix_ms};
	TEXT_COPY(e.kind, kind);
	TEXT_COPY(e.text, text);
	health_event(&facts, &e);
}

/* What was looked at closely and is harmless is no suspicion, whatever came first. */
static void a_job_that_is_idle_by_design_is_not_suspected(void **state)
{
	(void)state;
	heard("suspected", "no line for 13 s", NOW - 40000);
	assert_int_equal(level(), HEALTH_SUSPECTED);
	heard("standstill", "idle by design: a sleep", NOW - 20000);
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.sentence,
			    "has run for 1 h; seen to stand still, which is expected (idle by design: a sleep)");
	assert_int_equal(h.since_unix_ms, NOW - 20000);
	TEXT_COPY(facts.steps, "step 5");
	facts.steps_unix_ms = NOW - 60000;
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.sentence, "step 5; seen to stand still, which is expected (idle by design: a sleep)");
	facts.steps_unix_ms = NOW - 1000; /* it goes on */
	assert_int_equal(level(), HEALTH_WELL);
	facts.steps_unix_ms = NOW - 60000;
	heard("suspected", "no step for 40 s", NOW - 5000);
	assert_int_equal(level(), HEALTH_SUSPECTED);
	assert_string_equal(h.sentence, "no step for 40 s");
	heard("standstill", "it evaluates: main at train.py:9", NOW - 4000);
	heard("attempt_start", "", NOW - 3000); /* that was of the attempt before */
	facts.steps[0] = '\0';
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.sentence, "attempt 1 has run for 3.0 s and has printed no step so far");
	heard("standstill", "idle by design: a sleep", NOW - 2 * HEALTH_SUSPICION_MS); /* long ago: not known of now */
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.sentence, "attempt 1 has run for 3.0 s and has printed no step so far");
	facts.attempt_unix_ms = 0;
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.sentence, "has run for 1 h and prints no steps that vigil knows");
}

static void a_warning_of_memory_comes_before_a_suspicion(void **state)
{
	(void)state;
	TEXT_COPY(facts.suspicion, "nothing has moved");
	TEXT_COPY(facts.warning, "memory runs out in 2 m");
	facts.suspicion_unix_ms = facts.warning_unix_ms = NOW - 1000;
	assert_int_equal(level(), HEALTH_MEMORY);
	facts.warning_unix_ms = NOW - 2 * HEALTH_WARNING_MS;
	assert_int_equal(level(), HEALTH_SUSPECTED);
}

static void a_slow_rank_is_news_for_a_time(void **state)
{
	(void)state;
	trouble(INCIDENT_STRAGGLER, 1);
	assert_int_equal(level(), HEALTH_SLOW);
	facts.trouble.time_unix_ms = NOW - 2 * HEALTH_SLOW_MS;
	assert_int_not_equal(level(), HEALTH_SLOW);
	assert_false(h.nobody_waits);
	facts.trouble.lasts = health_lasts("slow_rank"); /* its end is told */
	assert_int_equal(level(), HEALTH_SLOW);
	assert_true(h.nobody_waits);
	facts.trouble.resolved = true;
	assert_int_not_equal(level(), HEALTH_SLOW);
}

static void the_end_of_a_job_is_told_by_its_last_report(void **state)
{
	(void)state;
	job.state = JOB_FAILED;
	job.has_exit = true;
	job.exit_status = 3;
	job.ended_unix_ms = NOW - 5;
	assert_int_equal(level(), HEALTH_DIED);
	assert_string_equal(h.sentence, "ended with exit status 3, after 1 h");
	trouble(INCIDENT_MEMORY_KILL, 1);
	assert_int_equal(level(), HEALTH_DIED);
	assert_string_equal(h.sentence, "rank 2 holds the others up");
	assert_int_equal(h.since_unix_ms, NOW - 5);
	job.state = JOB_LOST;
	assert_int_equal(level(), HEALTH_LOST);
	job.state = JOB_DONE;
	facts.trouble.attempt = 0; /* of an attempt before the one that went well */
	assert_int_equal(level(), HEALTH_ENDED);
	assert_string_equal(h.sentence, "ended as it should, after 1 h");
}

/* What was slow is over with the job. */
static void a_job_that_was_slow_and_ended_well_is_not_said_to_be_slow(void **state)
{
	(void)state;
	trouble(INCIDENT_SLOWDOWN, 1);
	job.state = JOB_DONE;
	assert_int_equal(level(), HEALTH_ENDED);
	assert_string_equal(h.sentence, "ended as it should, after 1 h; it was slow on the way");
	assert_string_equal(h.incident, facts.trouble.id);
	assert_int_equal(h.n_advice, facts.trouble.n_advice);
	trouble(INCIDENT_STRAGGLER, 1);
	assert_int_equal(level(), HEALTH_ENDED);
	assert_string_equal(h.sentence, "ended as it should, after 1 h; it was slow on the way");
	job.state = JOB_FAILED;
	assert_int_equal(level(), HEALTH_DIED);
	assert_string_equal(h.sentence, "rank 2 holds the others up");
}

static void a_job_between_attempts_says_why(void **state)
{
	(void)state;
	job.state = JOB_WAITING;
	trouble(INCIDENT_CRASH, 1);
	assert_int_equal(level(), HEALTH_DIED);
	assert_string_equal(h.sentence, "waits for attempt 2: rank 2 holds the others up");
	assert_int_equal(h.next_unix_ms, 0);
	facts.trouble.retry_ms = 90000;
	heard("retry", "attempt 2 of 3 retries, in 90 s", NOW - 30000);
	assert_int_equal(level(), HEALTH_DIED);
	assert_int_equal(h.next_unix_ms, NOW + 60000);
	heard("memory_warning", "memory runs out in 2 m", NOW - 1000); /* of the attempt that has ended */
	heard("suspected", "nothing has moved", NOW - 1000);
	assert_int_equal(level(), HEALTH_DIED);
	trouble(INCIDENT_HANG, 1); /* whose job was ended for it */
	assert_int_equal(level(), HEALTH_DIED);
	assert_string_equal(h.sentence, "waits for attempt 2: rank 2 holds the others up");
}

/* An earlier attempt may have printed steps, and what the job has run for is not what this one has. */
static void a_young_attempt_is_told_with_its_own_time(void **state)
{
	(void)state;
	heard("attempt_start", "retry 1 of at most 3", NOW - 8000);
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.sentence, "attempt 1 has run for 8.0 s and has printed no step so far");
	assert_int_equal(h.since_unix_ms, NOW - 8000);
	heard("standstill", "idle by design: a sleep", NOW - 1000);
	assert_int_equal(level(), HEALTH_QUIET);
	assert_string_equal(h.sentence, "attempt 1 has run for 8.0 s; seen to stand still, which is expected (idle by "
					"design: a sleep)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_job_whose_steps_go_on_is_well, begin),
		cmocka_unit_test_setup(a_rate_is_told_with_what_is_usual_once_that_is_known, begin),
		cmocka_unit_test_setup(one_without_a_step_for_long_is_quiet_unless_steps_are_slow, begin),
		cmocka_unit_test_setup(an_unresolved_hang_of_this_attempt_is_told_with_its_culprit, begin),
		cmocka_unit_test_setup(the_cause_of_a_report_is_told, begin),
		cmocka_unit_test_setup(a_hang_is_told_with_the_time_that_it_stands_now, begin),
		cmocka_unit_test_setup(a_job_that_was_ended_while_it_hung_stood_until_its_end, begin),
		cmocka_unit_test_setup(a_job_that_its_user_stopped_is_told_so, begin),
		cmocka_unit_test_setup(a_suspicion_goes_with_the_next_step, begin),
		cmocka_unit_test_setup(a_job_that_is_idle_by_design_is_not_suspected, begin),
		cmocka_unit_test_setup(a_warning_of_memory_comes_before_a_suspicion, begin),
		cmocka_unit_test_setup(a_slow_rank_is_news_for_a_time, begin),
		cmocka_unit_test_setup(the_end_of_a_job_is_told_by_its_last_report, begin),
		cmocka_unit_test_setup(a_job_that_was_slow_and_ended_well_is_not_said_to_be_slow, begin),
		cmocka_unit_test_setup(a_job_between_attempts_says_why, begin),
		cmocka_unit_test_setup(a_young_attempt_is_told_with_its_own_time, begin),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
