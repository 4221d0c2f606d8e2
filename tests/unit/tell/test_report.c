#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "tell/incident/report.h"

/*
 * Golden files: tests/fixtures/reports/NAME.json with what it must look like
 * as NAME.txt and NAME.kill. VIGIL_GOLDEN=write makes them anew: look at the
 * difference before you keep it.
 */
static const char *const golden[] = {"memory_kill", "kernel_oom", "crash", "nothing_known", "hostile"};

static struct js *load(const char *name)
{
	char path[512];
	TEXT_FORMAT(path, "%s/reports/%s.json", FIXTURES, name);
	cleanup(freep) char *text = NULL;
	size_t len;
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &text, &len), 0);
	struct js *j = NULL;
	assert_int_equal(js_parse(text, len, &j, NULL), 0);
	return j;
}

static void load_incident(const char *name, struct incident *ret)
{
	cleanup(js_freep) struct js *j = load(name);
	assert_int_equal(report_from_json(j, ret), 0);
}

static void compare(const char *name, const char *suffix, const char *got, size_t len)
{
	char path[512];
	TEXT_FORMAT(path, "%s/reports/%s.%s", FIXTURES, name, suffix);
	const char *mode = getenv("VIGIL_GOLDEN");
	if (mode && strcmp(mode, "write") == 0)
		assert_int_equal(file_replace(path, got, len, 0644), 0);
	cleanup(freep) char *want = NULL;
	size_t want_len;
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 20, &want, &want_len), 0);
	assert_string_equal(got, want);
}

static void the_text_report_looks_as_it_should(void **state)
{
	(void)state;
	for (size_t n = 0; n < ARRAY_SIZE(golden); n++) {
		struct incident i;
		load_incident(golden[n], &i);
		cleanup(freep) char *text = NULL;
		size_t len;
		FILE *to = open_memstream(&text, &len);
		report_text(&i, REPORT_PLAIN, to);
		fclose(to);
		compare(golden[n], "txt", text, len);
		assert_null(strchr(text, '\033'));
	}
}

static void the_kill_message_looks_as_it_should(void **state)
{
	(void)state;
	for (size_t n = 0; n < ARRAY_SIZE(golden); n++) {
		struct incident i;
		load_incident(golden[n], &i);
		cleanup(freep) char *text = NULL;
		size_t len;
		FILE *to = open_memstream(&text, &len);
		report_kill_message(&i, true, to);
		fclose(to);
		compare(golden[n], "kill", text, len);
		assert_null(strchr(text, '\033'));
	}
}

/* The message of such a death, without the lines after the first. */
static void first_line(const char *summary, const char *cause, char *dst, size_t cap)
{
	static struct incident i; /* large */
	memset(&i, 0, sizeof(i));
	i.kind = INCIDENT_ERROR_EXIT;
	TEXT_COPY(i.summary, summary);
	TEXT_COPY(i.cause.text, cause);
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	report_kill_message(&i, true, to);
	fclose(to);
	text[strcspn(text, "\n")] = '\0';
	(void)text_format(dst, cap, "%s", text);
}

static void a_death_is_told_in_sentences_and_once(void **state)
{
	(void)state;
	char line[512];
	first_line("python3 (pid 7) ended with a Python exception: KeyError: 'x'",
		   "The last line of its traceback is: KeyError: 'x'", line, sizeof(line));
	assert_string_equal(line, "vigil: python3 (pid 7) ended with a Python exception: KeyError: 'x'");
	first_line("python3 (pid 7) ended with a Python exception: KeyError: 'x'", "It began with: OSError.", line,
		   sizeof(line));
	assert_string_equal(line, "vigil: python3 (pid 7) ended with a Python exception: KeyError: 'x'. It began with: "
				  "OSError.");
	first_line("it ended.", "it ended. Of itself.", line, sizeof(line));
	assert_string_equal(line, "vigil: it ended. Of itself.");
	first_line("it ended.", "Of itself.", line, sizeof(line));
	assert_string_equal(line, "vigil: it ended. Of itself.");
}

static void what_people_search_for_is_in_the_kill_message(void **state)
{
	(void)state;
	static const char *const phrases[] = {
		"Task was killed due to the node running low on memory.\n",
		"Memory on the node (IP: 10.0.62.231, ID: trainer-3) where the task (task ID: digits-7f3a/rank-1, "
		"name=python3, pid=11362, memory used=1.25GB) was running was 27.71GB / 28.80GB (0.962273), which "
		"exceeds "
		"the memory usage threshold of 0.95.",
		"vigil killed this worker (ID: digits-7f3a/rank-1/attempt-0) because it was the most recently started",
		"use `vigil why digits-7f3a-1`",
		"`vigil logs digits-7f3a --rank 1`",
		"Top 10 memory users:\nPID\tMEM(GB)\tCOMMAND\n10728\t8.47\tpython3 train.py\n",
		"--memory-threshold",
		"VIGIL_MEMORY_THRESHOLD",
	};
	struct incident i;
	load_incident("memory_kill", &i);
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	report_kill_message(&i, true, to);
	fclose(to);
	for (size_t n = 0; n < ARRAY_SIZE(phrases); n++) {
		if (!strstr(text, phrases[n]))
			print_message("missing: %s\n", phrases[n]);
		assert_non_null(strstr(text, phrases[n]));
	}
}

static void the_report_survives_json_and_back(void **state)
{
	(void)state;
	for (size_t n = 0; n < ARRAY_SIZE(golden); n++) {
		struct incident i, again;
		cleanup(js_freep) struct js *first = load(golden[n]);
		assert_int_equal(report_from_json(first, &i), 0);
		cleanup(js_freep) struct js *second = report_json(&i);
		cleanup(freep) char *text = js_text(second, 0);
		assert_int_equal(report_from_json(second, &again), 0);
		assert_memory_equal(&i, &again, sizeof(i));
		if (strcmp(golden[n], "hostile") == 0)
			continue; /* out-of-range numbers come back changed */
		cleanup(freep) char *want = js_text(first, 0);
		assert_string_equal(text, want);
	}
}

static void what_is_not_known_is_absent(void **state)
{
	(void)state;
	struct incident i = {.kind = INCIDENT_CRASH, .victim = {.rank = NO_RANK}};
	cleanup(js_freep) struct js *j = report_json(&i);
	cleanup(freep) char *text = js_text(j, 0);
	assert_string_equal(text, "{\"schema\": \"vigil.incident/1\", \"attempt\": 0, \"kind\": \"crash\", "
				  "\"killer\": \"unknown\"}");
}

static void a_report_of_another_kind_is_refused(void **state)
{
	(void)state;
	struct incident i;
	cleanup(js_freep) struct js *j = NULL;
	assert_int_equal(js_parse("{\"schema\": \"vigil.job/1\"}", 25, &j, NULL), 0);
	assert_int_equal(report_from_json(j, &i), -EBADMSG);
	assert_int_equal(report_from_json(NULL, &i), -EBADMSG);
}

static void more_than_fits_is_cut(void **state)
{
	(void)state;
	char text[20000];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	buf_add(&b, "{\"schema\": \"vigil.incident/1\", \"evidence\": [{}");
	for (int n = 0; n < 200; n++)
		buf_add(&b, ",{\"kind\": \"log\", \"text\": 7}");
	buf_add(&b, "], \"top\": [1,2,3,4,5,6,7,8,9,10,11,12], \"culprit_ranks\": {}}");
	assert_false(b.cut);
	cleanup(js_freep) struct js *j = NULL;
	assert_int_equal(js_parse(text, b.len, &j, NULL), 0);
	struct incident i;
	assert_int_equal(report_from_json(j, &i), 0);
	assert_int_equal(i.n_evidence, INCIDENT_EVIDENCE);
	assert_int_equal(i.n_top, INCIDENT_TOP);
	assert_int_equal(i.n_culprits, 0);
}

static void colours_come_only_when_asked_for(void **state)
{
	(void)state;
	struct incident i;
	load_incident("memory_kill", &i);
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	report_text(&i, REPORT_COLOUR, to);
	fclose(to);
	assert_non_null(strstr(text, "\033[31m"));
}

static void the_summary_counts_both_kinds_of_death(void **state)
{
	(void)state;
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	report_summary("digits", "trainer-3", 3, 1, "the last 10 minutes", to);
	fclose(to);
	assert_non_null(strstr(text,
			       "3 workers killed due to memory pressure (OOM), 1 worker died for other reasons at "
			       "node (ID: trainer-3) over the last 10 minutes."));
	assert_non_null(strstr(text, "`vigil why digits`"));
	assert_null(strstr(text, "Consider")); /* that was said with each kill, and fits its limit */
	free(text);
	text = NULL;
	to = open_memstream(&text, &len);
	report_summary("digits", "", 0, 0, "in all", to);
	fclose(to);
	assert_non_null(strstr(text, "0 workers died for other reasons in all."));
	assert_null(strstr(text, "Consider"));
}

/* The node may be nearly empty where a limit that somebody gave the job was reached. */
static void advice_is_on_the_memory_that_was_short(void **state)
{
	(void)state;
	static struct incident i; /* large */
	static const struct {
		enum memory_scope scope;
		const char *says, *never;
	} told[] = {{MEMORY_SCOPE_JOB, "a higher --memory-limit", "giving the node"},
		    {MEMORY_SCOPE_CONTAINER, "giving the node (or its container) more memory", "--memory-limit"},
		    {MEMORY_SCOPE_NODE, "giving the node (or its container) more memory", "--memory-limit"}};
	for (size_t k = 0; k < ARRAY_SIZE(told); k++) {
		cleanup(freep) char *text = NULL;
		size_t len;
		i = (struct incident){
			.kind = INCIDENT_MEMORY_KILL, .killer = KILLER_VIGIL, .victim = {.rank = NO_RANK}};
		i.memory.valid = true;
		i.memory.scope = told[k].scope;
		FILE *to = open_memstream(&text, &len);
		report_kill_message(&i, true, to);
		fclose(to);
		assert_non_null(strstr(text, told[k].says));
		assert_null(strstr(text, told[k].never));
	}
}

static void who_asked_for_the_end_is_not_someone_else(void **state)
{
	(void)state;
	static struct incident i;
	static const struct {
		const char *cause, *headline, *killer;
	} told[] = {{"asked_to_stop", "stopped on request"},
		    {"asked_from_page", "stopped on request"},
		    {"timeout_expired", "ended at its time limit", "timeout, pid 7"},
		    {"own_timer", "ended by a timer of its own", "the kernel, for a timer that the process had set"},
		    {"signal_sent", "ended itself by a signal", "the process itself, pid 7"},
		    {"signal_sent", "killed by someone else", "bash, pid 7, uid 0"},
		    {"terminal_interrupt", "stopped on request"},
		    {"killed_by_user", "killed by someone else"}};
	for (size_t k = 0; k < ARRAY_SIZE(told); k++) {
		cleanup(freep) char *text = NULL;
		size_t len;
		i = (struct incident){.kind = INCIDENT_KILLED_BY, .killer = KILLER_SIGNAL, .victim = {.rank = NO_RANK}};
		TEXT_COPY(i.cause.id, told[k].cause);
		TEXT_COPY(i.killer_text, told[k].killer ? told[k].killer : "");
		FILE *to = open_memstream(&text, &len);
		report_text(&i, REPORT_PLAIN, to);
		fclose(to);
		assert_true(strncmp(text, told[k].headline, strlen(told[k].headline)) == 0);
	}
}

static void how_a_hung_job_ended_is_the_line_below_the_headline(void **state)
{
	(void)state;
	static struct incident i, back;
	i = (struct incident){.kind = INCIDENT_HANG, .victim = {.rank = NO_RANK}};
	TEXT_COPY(i.summary, "The job hangs.");
	TEXT_COPY(i.cause.text, "A lock.");
	TEXT_COPY(i.ended.text, "It was asked to stop.");
	TEXT_COPY(i.ended.incident, "digits.2");
	i.ended.time_unix_ms = 1700000000000;
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	report_text(&i, REPORT_PLAIN, to);
	fclose(to);
	assert_non_null(strstr(text, "The job hangs.\n  ended at 22:13:20 It was asked to stop.\n"));
	assert_true(strstr(text, "vigil why digits.2") < strstr(text, "Why"));
	cleanup(js_freep) struct js *j = report_json(&i);
	assert_int_equal(report_from_json(j, &back), 0);
	assert_string_equal(back.ended.text, i.ended.text);
	assert_string_equal(back.ended.incident, "digits.2");
	assert_int_equal(back.ended.time_unix_ms, 1700000000000);
}

static void of_a_hang_other_threads_are_shown_that_are_waited_for(void **state)
{
	(void)state;
	static const char json[] =
		"{'hang': {}, 'stacks': ["
		"{'pid': 7, 'tid': 7, 'thread': 'py',"
		" 'waits_for': {'to': [{'to': {'pid': 7, 'tid': 9}, 'quality': 'proof'}]}},"
		"{'pid': 7, 'tid': 8, 'thread': 'idle'},"
		"{'pid': 7, 'tid': 9, 'thread': 'loader', 'frames': [{'name': 'load', 'file': 'a.py', 'line': 3}]}]}";
	char quoted[sizeof(json)];
	for (size_t i = 0; i < sizeof(json); i++)
		quoted[i] = (char)(json[i] == '\'' ? '"' : json[i]);
	cleanup(js_freep) struct js *j = NULL;
	assert_int_equal(js_parse(quoted, sizeof(json) - 1, &j, NULL), 0);
	cleanup(freep) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	report_stacks_text(j, REPORT_PLAIN, to);
	fclose(to);
	assert_non_null(strstr(text, "pid 7, thread 9 \"loader\"\n      load (a.py:3)\n"));
	assert_null(strstr(text, "idle"));
	assert_null(strstr(text, "\"py\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_report_looks_as_it_should),
		cmocka_unit_test(of_a_hang_other_threads_are_shown_that_are_waited_for),
		cmocka_unit_test(the_kill_message_looks_as_it_should),
		cmocka_unit_test(a_death_is_told_in_sentences_and_once),
		cmocka_unit_test(what_people_search_for_is_in_the_kill_message),
		cmocka_unit_test(the_report_survives_json_and_back),
		cmocka_unit_test(what_is_not_known_is_absent),
		cmocka_unit_test(a_report_of_another_kind_is_refused),
		cmocka_unit_test(more_than_fits_is_cut),
		cmocka_unit_test(colours_come_only_when_asked_for),
		cmocka_unit_test(the_summary_counts_both_kinds_of_death),
		cmocka_unit_test(who_asked_for_the_end_is_not_someone_else),
		cmocka_unit_test(advice_is_on_the_memory_that_was_short),
		cmocka_unit_test(how_a_hung_job_ended_is_the_line_below_the_headline),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests_name("tell/incident/report", tests, NULL, NULL);
}
