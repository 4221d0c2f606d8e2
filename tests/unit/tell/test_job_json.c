#include "testing.h"

#include <stdlib.h>

#include "model/incident/incident.h"
#include "tell/jobs/job_json.h"

static void check(struct js *j, const char *expected)
{
	char *text = js_text(j, 0);
	js_free(j);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void what_is_not_known_of_a_job_is_absent(void **state)
{
	(void)state;
	const struct job j = {.id = "a-1", .state = JOB_STARTING};
	check(job_json(&j),
	      "{\"schema\": \"vigil.job/1\", \"id\": \"a-1\", \"state\": \"starting\", \"uid\": 0, "
	      "\"adopted\": false, \"attempt\": 0, \"max_retries\": 0, \"memory_kills\": 0, \"other_deaths\": 0}");
}

static void an_ended_job_has_a_status_and_no_pid(void **state)
{
	(void)state;
	struct job j = {.id = "a-1", .name = "a", .state = JOB_FAILED, .pid = 12, .started_unix_ms = 5, .nproc = 8};
	struct js *running = job_json(&j);
	assert_int_equal(js_get_i64(running, "pid", -1), 12);
	assert_null(js_get(running, "exit_status"));
	js_free(running);
	j.ended_unix_ms = 9;
	j.has_exit = true;
	j.exit_status = 0;
	j.peak_bytes = 77;
	cleanup(js_freep) struct js *ended = job_json(&j);
	assert_null(js_get(ended, "pid"));
	assert_int_equal(js_get_i64(ended, "exit_status", -1), 0);
	assert_int_equal(js_get_i64(ended, "ended_unix_ms", -1), 9);
	assert_int_equal(js_get_i64(ended, "peak_bytes", -1), 77);
	assert_int_equal(js_get_i64(ended, "nproc", -1), 8);
	assert_null(js_get(ended, "limit_bytes"));
}

static void a_process_ends_by_a_code_or_a_signal(void **state)
{
	(void)state;
	struct job_process p = {.job = "a-1", .pid = 7, .rank = NO_RANK};
	check(process_json(&p), "{\"schema\": \"vigil.process/1\", \"job\": \"a-1\", \"attempt\": 0, \"pid\": 7}");
	p.has_status = true;
	p.wait_status = 3 << 8;
	p.rank = 0;
	p.rss_bytes = 4096;
	cleanup(js_freep) struct js *left = process_json(&p);
	assert_int_equal(js_get_i64(left, "exit_code", -1), 3);
	assert_int_equal(js_get_i64(left, "rank", -1), 0);
	assert_int_equal(js_get_i64(left, "own_bytes", -1), 0); /* memory is told as a whole */
	assert_null(js_get(left, "signal"));
	p.wait_status = 9;
	cleanup(js_freep) struct js *killed = process_json(&p);
	assert_int_equal(js_get_i64(killed, "signal", -1), 9);
	assert_null(js_get(killed, "exit_code"));
}

static void an_event_names_its_job_and_incident(void **state)
{
	(void)state;
	struct job_event e = {.seq = 4, .time_unix_ms = 1000, .job = "a-1", .attempt = 1, .kind = "kill"};
	check(event_json(&e), "{\"schema\": \"vigil.event/1\", \"seq\": 4, \"time_unix_ms\": 1000, \"job\": \"a-1\", "
			      "\"attempt\": 1, \"kind\": \"kill\"}");
	e = (struct job_event){.kind = "note", .text = "t", .incident = "a-1.1"};
	check(event_json(&e), "{\"schema\": \"vigil.event/1\", \"seq\": 0, \"time_unix_ms\": 0, \"attempt\": 0, "
			      "\"kind\": \"note\", \"text\": \"t\", \"incident\": \"a-1.1\"}");
}

static void a_harmless_standstill_is_no_warning(void **state)
{
	(void)state;
	assert_string_equal(event_severity(&(struct job_event){.kind = "suspected"}), "warning");
	assert_string_equal(event_severity(&(struct job_event){.kind = "standstill"}), "info");
	assert_string_equal(event_severity(&(struct job_event){.kind = "hang"}), "error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_known_of_a_job_is_absent),
		cmocka_unit_test(an_ended_job_has_a_status_and_no_pid),
		cmocka_unit_test(a_process_ends_by_a_code_or_a_signal),
		cmocka_unit_test(an_event_names_its_job_and_incident),
		cmocka_unit_test(a_harmless_standstill_is_no_warning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
