#include "testing.h"

#include <stdio.h>

#include "base/json.h"
#include "sense/rank.h"
#include "tell/metrics/metrics.h"

#define NOW INT64_C(1795231059123)

static struct metrics_facts facts;
static struct metrics_job jobs[2];
static struct metrics_rank ranks[2];
static struct metrics_count counts[3];
static char text[256 * 1024];

/* A job of two ranks and three counters. Arrays are static, so that nothing has to be freed. */
static int make(void **state)
{
	(void)state;
	memset(jobs, 0, sizeof(jobs));
	memset(ranks, 0, sizeof(ranks));
	memset(counts, 0, sizeof(counts));
	facts = (struct metrics_facts){.node = "node-1",
				       .now_unix_ms = NOW,
				       .has_store = true,
				       .has_node = true,
				       .node_used_bytes = 3 * GIB,
				       .node_total_bytes = 4 * GIB,
				       .job = jobs,
				       .n_jobs = 1,
				       .count = counts};
	jobs[0].job = (struct job){.id = "train-ab12",
				   .name = "train",
				   .user = "ann",
				   .node = "node-1",
				   .state = JOB_RUNNING,
				   .nproc = 2,
				   .started_unix_ms = NOW - 60000};
	jobs[0].sampled_unix_ms = NOW - 1000;
	jobs[0].rank = ranks;
	jobs[0].n_ranks = 2;
	ranks[0] = (struct metrics_rank){
		.rank = 0, .has_use = true, .own_bytes = GIB, .rss_bytes = GIB + MIB, .cpu_ns = 1500 * NS_PER_MS};
	ranks[1] = (struct metrics_rank){.rank = NO_RANK, .has_use = true, .own_bytes = MIB, .rss_bytes = MIB};
	return 0;
}

static const char *written(enum metrics_form form)
{
	struct buf b = BUF_ON(text);
	assert_int_equal(metrics_write(&facts, form, &b), 0);
	return text;
}

static void assert_line(const char *line)
{
	char with_end[600];
	TEXT_FORMAT(with_end, "\n%s\n", line);
	if (!strstr(text, with_end))
		fail_msg("there is no line '%s' in:\n%s", line, text);
}

static size_t times(const char *what)
{
	size_t n = 0;
	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

static void count_set(size_t i, enum metrics_what what, const char *a, const char *b, const char *c, uint64_t n)
{
	counts[i] = (struct metrics_count){.what = what, .n = n, .time_unix_ms = NOW};
	TEXT_COPY(counts[i].label[0], a);
	TEXT_COPY(counts[i].label[1], b);
	TEXT_COPY(counts[i].label[2], c);
	facts.n_counts = MAX(facts.n_counts, i + 1);
}

static void a_family_has_its_head_once_and_its_samples_behind_it(void **state)
{
	(void)state;
	written(METRICS_PROMETHEUS);
	assert_int_equal(times("# TYPE vigil_rank_memory_bytes gauge\n"), 1);
	assert_line("vigil_rank_memory_bytes{job_id=\"train-ab12\",rank=\"0\",memtype=\"own\"} 1073741824");
	assert_line("vigil_rank_memory_bytes{job_id=\"train-ab12\",rank=\"0\",memtype=\"shared\"} 1048576");
	assert_line("vigil_rank_memory_bytes{job_id=\"train-ab12\",rank=\"none\",memtype=\"own\"} 1048576");
	assert_line("vigil_rank_cpu_seconds_total{job_id=\"train-ab12\",rank=\"0\"} 1.5");
	assert_line("# TYPE vigil_rank_cpu_seconds_total counter");
	assert_line("vigil_node_memory_used_ratio 0.75");
	assert_null(strstr(text, "# EOF"));
	assert_int_equal(text[strlen(text) - 1], '\n');
}

static void what_is_not_known_gives_no_sample(void **state)
{
	(void)state;
	written(METRICS_PROMETHEUS);
	assert_null(strstr(text, "vigil_rank_read_bytes"));
	assert_null(strstr(text, "vigil_last_progress"));
	assert_null(strstr(text, "vigil_guard_threshold_ratio"));
	assert_null(strstr(text, "vigil_step_duration"));
	assert_null(strstr(text, "vigil_container"));
}

static void values_of_labels_are_escaped_and_stay_utf_8(void **state)
{
	(void)state;
	TEXT_COPY(jobs[0].job.id, "a\"b\\c\nd\xff\xe2\x80\xae\xc3\xa9");
	written(METRICS_PROMETHEUS);
	assert_line("vigil_job_ranks{job_id=\"a\\\"b\\\\c\\nd????\xc3\xa9\"} 2");
}

static void names_that_users_chose_are_cut_to_safe_letters(void **state)
{
	char dst[16];
	(void)state;
	TEXT_COPY(jobs[0].job.name, "my \"job\"\n\xc3\xa9");
	written(METRICS_PROMETHEUS);
	assert_non_null(strstr(text, "job_name=\"my__job____\""));
	assert_string_equal(metrics_name("", dst, sizeof(dst)), "unnamed");
	assert_string_equal(metrics_name("a/b{c}=d,e", dst, sizeof(dst)), "a_b_c__d_e");
	assert_string_equal(metrics_name("0123456789abcdefgh", dst, sizeof(dst)), "0123456789abcde");
}

static void a_histogram_is_cumulative_and_ends_with_its_count(void **state)
{
	(void)state;
	step_histogram_add(&jobs[0].steps, 20 * NS_PER_MS, 2); /* on the bound: in its bucket */
	step_histogram_add(&jobs[0].steps, 1500 * NS_PER_MS, 5);
	step_histogram_add(&jobs[0].steps, 7200 * NS_PER_S, 1);
	written(METRICS_PROMETHEUS);
#define H "vigil_step_duration_seconds"
	assert_line(H "_bucket{job_id=\"train-ab12\",le=\"0.01\"} 2");
	assert_line(H "_bucket{job_id=\"train-ab12\",le=\"0.25\"} 2");
	assert_line(H "_bucket{job_id=\"train-ab12\",le=\"0.5\"} 7");
	assert_line(H "_bucket{job_id=\"train-ab12\",le=\"1.0\"} 7");
	assert_line(H "_bucket{job_id=\"train-ab12\",le=\"1800.0\"} 7");
	assert_line(H "_bucket{job_id=\"train-ab12\",le=\"+Inf\"} 8");
	assert_line(H "_count{job_id=\"train-ab12\"} 8");
	assert_line(H "_sum{job_id=\"train-ab12\"} 7201.52");
	assert_int_equal(times(H "_bucket"), STEP_BUCKETS + 1);
}

static void exactly_one_state_of_a_set_is_on(void **state)
{
	(void)state;
	jobs[0].hang = METRICS_HUNG;
	written(METRICS_OPENMETRICS);
	assert_line("# TYPE vigil_hang_state stateset");
	assert_line("vigil_hang_state{job_id=\"train-ab12\",vigil_hang_state=\"hung\"} 1");
	assert_line("vigil_hang_state{job_id=\"train-ab12\",vigil_hang_state=\"well\"} 0");
	size_t on = 0;
	for (const char *p = text; (p = strstr(p, "\nvigil_hang_state{")); p++)
		on += strcspn(p + 1, "\n") == (size_t)(strstr(p, "} 1\n") - p) + 2;
	assert_int_equal(on, 1);
}

static void a_job_that_has_ended_has_no_hang_state(void **state)
{
	(void)state;
	jobs[0].job.state = JOB_DONE;
	written(METRICS_PROMETHEUS);
	assert_null(strstr(text, "vigil_hang_state{"));
	assert_line("vigil_job_state{job_id=\"train-ab12\",vigil_job_state=\"done\"} 1");
}

/* A sum over jobs is of memory that is in use. What it used in all stays, so that scrapers see the last of it. */
static void a_job_that_has_ended_holds_no_memory(void **state)
{
	(void)state;
	written(METRICS_PROMETHEUS);
	assert_non_null(strstr(text, "\nvigil_job_memory_bytes{job_id=\"train-ab12\"}"));
	jobs[0].job.state = JOB_DONE;
	written(METRICS_PROMETHEUS);
	assert_null(strstr(text, "\nvigil_job_memory_bytes{job_id=\"train-ab12\"}"));
	assert_null(strstr(text, "\nvigil_rank_memory_bytes{job_id=\"train-ab12\""));
	assert_null(strstr(text, "\nvigil_rank_processes{job_id=\"train-ab12\""));
	assert_non_null(strstr(text, "\nvigil_rank_cpu_seconds_total{job_id=\"train-ab12\""));
}

static void openmetrics_names_families_and_ends(void **state)
{
	(void)state;
	count_set(0, METRICS_RETRIES, "retried", "", "", 4);
	written(METRICS_OPENMETRICS);
	assert_line("# TYPE vigil_retries counter");
	assert_line("vigil_retries_total{result=\"retried\"} 4");
	assert_line("# UNIT vigil_rank_memory_bytes bytes");
	assert_line("# TYPE vigil_job info");
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
}

static void a_counter_has_the_incident_as_exemplar_in_openmetrics_only(void **state)
{
	(void)state;
	count_set(0, METRICS_KILLS, "vigil", "retriable", "train", 2);
	TEXT_COPY(counts[0].label[3], "job_outgrew_memory");
	TEXT_COPY(counts[0].incident, "train-ab12.1");
#define KILL "vigil_kills_total{killer=\"vigil\",policy=\"retriable\",name=\"train\",cause=\"job_outgrew_memory\"} 2"
	written(METRICS_OPENMETRICS);
	assert_line(KILL " # {incident_id=\"train-ab12.1\"} 1 1795231059.123");
	written(METRICS_PROMETHEUS);
	assert_line(KILL);
}

static void an_exemplar_stays_within_128_characters(void **state)
{
	(void)state;
	count_set(0, METRICS_KILLS, "vigil", "retriable", "train", 2);
	memset(counts[0].incident, 'i', sizeof(counts[0].incident) - 1);
	written(METRICS_OPENMETRICS);
	const char *at = strstr(text, " # {");
	assert_non_null(at);
	assert_true(strcspn(at, "\n") <= 4 + 128 + 30);
}

static void a_buffer_that_is_too_small_is_an_error_and_text_grows(void **state)
{
	(void)state;
	char small[100];
	struct buf b = BUF_ON(small);
	assert_int_equal(metrics_write(&facts, METRICS_PROMETHEUS, &b), -ENOBUFS);
	cleanup(freep) char *long_text = NULL;
	size_t len = 0;
	struct metrics_process *many = calloc(2000, sizeof(*many));
	assert_non_null(many);
	for (size_t i = 0; i < 2000; i++)
		many[i] = (struct metrics_process){
			.pid = (pid_t)i + 1, .rank = 0, .job = "j", .role = "main", .name = "p"};
	facts.process = many;
	facts.n_processes = 2000;
	assert_int_equal(metrics_text(&facts, METRICS_OPENMETRICS, &long_text, &len), 0);
	assert_true(len > 500000);
	assert_int_equal(strlen(long_text), len);
	assert_string_equal(long_text + len - 6, "# EOF\n");
	free(many);
}

static void otlp_has_integers_as_text_and_cumulative_sums(void **state)
{
	(void)state;
	count_set(0, METRICS_KILLS, "kernel", "none", "train", 3);
	step_histogram_add(&jobs[0].steps, 1500 * NS_PER_MS, 5);
	written(METRICS_OTLP_JSON);
	cleanup(js_freep) struct js *all = NULL;
	struct fault f;
	assert_int_equal(js_parse(text, strlen(text), &all, &f), 0);
	const struct js *scope = js_at(js_get(js_at(js_get(all, "resourceMetrics"), 0), "scopeMetrics"), 0);
	const struct js *metrics = js_get(scope, "metrics");
	bool sum = false, histogram = false;
	for (size_t i = 0; i < js_len(metrics); i++) {
		const struct js *m = js_at(metrics, i);
		const char *name = js_get_text(m, "name", "");
		if (strcmp(name, "vigil_kills") == 0) {
			const struct js *data = js_get(m, "sum"), *point = js_at(js_get(data, "dataPoints"), 0);
			assert_int_equal(js_get_i64(data, "aggregationTemporality", 0), 2);
			assert_true(js_get_bool(data, "isMonotonic", false));
			assert_string_equal(js_get_text(point, "asInt", ""), "3");
			assert_string_equal(js_get_text(point, "timeUnixNano", ""), "1795231059123000000");
			sum = true;
		}
		if (strcmp(name, "vigil_step_duration_seconds") == 0) {
			const struct js *point = js_at(js_get(js_get(m, "histogram"), "dataPoints"), 0);
			assert_int_equal(js_len(js_get(point, "bucketCounts")), STEP_BUCKETS + 1);
			assert_int_equal(js_len(js_get(point, "explicitBounds")), STEP_BUCKETS);
			assert_string_equal(js_get_text(point, "count", ""), "5");
			histogram = true;
		}
	}
	assert_true(sum && histogram);
}

static void events_become_log_records_with_a_severity(void **state)
{
	(void)state;
	const struct job_event events[] = {
		{.seq = 7, .time_unix_ms = NOW, .job = "j", .kind = "memory_kill", .text = "rank 3", .incident = "j.1"},
		{.seq = 8, .time_unix_ms = NOW, .job = "j", .kind = "hang_resolved", .text = "moves"},
		{.seq = 9, .time_unix_ms = NOW, .job = "j", .kind = "suspected", .text = "no step for 40 s"},
		{.seq = 10, .time_unix_ms = NOW, .job = "j", .kind = "standstill", .text = "idle by design"},
	};
	cleanup(freep) char *logs = metrics_logs(events, ARRAY_SIZE(events), "node-1", NOW + 1);
	cleanup(js_freep) struct js *all = NULL;
	struct fault f;
	assert_int_equal(js_parse(logs, strlen(logs), &all, &f), 0);
	const struct js *records =
		js_get(js_at(js_get(js_at(js_get(all, "resourceLogs"), 0), "scopeLogs"), 0), "logRecords");
	assert_int_equal(js_len(records), ARRAY_SIZE(events));
	assert_int_equal(js_get_i64(js_at(records, 0), "severityNumber", 0), 17);
	assert_string_equal(js_get_text(js_get(js_at(records, 0), "body"), "stringValue", ""), "rank 3");
	assert_int_equal(js_get_i64(js_at(records, 1), "severityNumber", 0), 9);
	assert_int_equal(js_get_i64(js_at(records, 2), "severityNumber", 0), 13);
	assert_int_equal(js_get_i64(js_at(records, 3), "severityNumber", 0), 9); /* it may stand still */
}

static void the_form_is_chosen_by_the_accept_header(void **state)
{
	(void)state;
	assert_int_equal(metrics_accept(NULL), METRICS_PROMETHEUS);
	assert_int_equal(metrics_accept("text/html, */*"), METRICS_PROMETHEUS);
	assert_int_equal(metrics_accept("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
			 METRICS_OPENMETRICS);
	assert_string_equal(metrics_content_type(METRICS_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_family_has_its_head_once_and_its_samples_behind_it, make),
		cmocka_unit_test_setup(what_is_not_known_gives_no_sample, make),
		cmocka_unit_test_setup(values_of_labels_are_escaped_and_stay_utf_8, make),
		cmocka_unit_test_setup(names_that_users_chose_are_cut_to_safe_letters, make),
		cmocka_unit_test_setup(a_histogram_is_cumulative_and_ends_with_its_count, make),
		cmocka_unit_test_setup(exactly_one_state_of_a_set_is_on, make),
		cmocka_unit_test_setup(a_job_that_has_ended_has_no_hang_state, make),
		cmocka_unit_test_setup(a_job_that_has_ended_holds_no_memory, make),
		cmocka_unit_test_setup(openmetrics_names_families_and_ends, make),
		cmocka_unit_test_setup(a_counter_has_the_incident_as_exemplar_in_openmetrics_only, make),
		cmocka_unit_test_setup(an_exemplar_stays_within_128_characters, make),
		cmocka_unit_test_setup(a_buffer_that_is_too_small_is_an_error_and_text_grows, make),
		cmocka_unit_test_setup(otlp_has_integers_as_text_and_cumulative_sums, make),
		cmocka_unit_test_setup(events_become_log_records_with_a_severity, make),
		cmocka_unit_test(the_form_is_chosen_by_the_accept_header),
	};
	return cmocka_run_group_tests_name("tell/metrics", tests, NULL, NULL);
}
