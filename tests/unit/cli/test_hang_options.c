#include "testing.h"

#include "base/buf.h"
#include "cli/options/hang_options.h"

struct opts {
	uint32_t other; /* the rows must find their fields behind it */
	struct hang_options hang;
};

static const struct option rows[] = {
	HANG_OPTIONS(struct opts, on_hang_choices, ON_HANG_HELP, NULL),
	{.name = NULL},
};
static const struct option adopted_rows[] = {
	HANG_OPTIONS(struct opts, on_adopted_hang_choices, ON_ADOPTED_HANG_HELP, ON_ADOPTED_HANG_WHY),
	{.name = NULL},
};
static const struct opts defaults = {.hang = HANG_DEFAULTS};
static const struct command run = {.name = "run", .options = rows, .options_size = sizeof(struct opts)};
static const struct command watch = {.name = "watch", .options = adopted_rows, .options_size = sizeof(struct opts)};

static struct opts got;
static struct hang_settings settings;
static struct fault fault;

static int begin(void **state)
{
	(void)state;
	unsetenv("MA_HANG_DETECT_TIME");
	unsetenv("VIGIL_HANG_AFTER");
	return 0;
}

static int parse(const struct command *c, const char *line)
{
	static char text[300];
	char *argv[16];
	int argc = 0, rest = 0;
	TEXT_COPY(text, line);
	for (char *p = text, *word; (word = strsep(&p, " "));)
		if (*word)
			argv[argc++] = word;
	got = defaults;
	fault = (struct fault){.text = ""};
	return option_parse(c, argc, argv, &got, &rest, &fault);
}

static void hangs_are_detected_by_evidence_if_nothing_is_said(void **state)
{
	(void)state;
	assert_int_equal(parse(&run, ""), 0);
	assert_true(hang_settings_of(&got.hang, &settings));
	assert_int_equal(settings.rule, HANG_RULE_EVIDENCE);
	assert_false(settings.has_after);
	assert_int_equal(settings.after_ns, 0);
	assert_int_equal(got.hang.on_hang, ON_HANG_REPORT);
	assert_int_equal(got.hang.progress.n, 0);
}

static void a_time_replaces_the_evidence_and_0_switches_off(void **state)
{
	(void)state;
	assert_int_equal(parse(&run, "--hang-after 5m"), 0);
	assert_true(hang_settings_of(&got.hang, &settings));
	assert_true(settings.has_after);
	assert_int_equal(settings.after_ns, 300 * NS_PER_S);
	assert_int_equal(parse(&run, "--hang-after 0"), 0);
	assert_false(hang_settings_of(&got.hang, &settings));
}

static void the_variable_of_modelarts_counts_for_its_own_rule_only(void **state)
{
	(void)state;
	setenv("MA_HANG_DETECT_TIME", "7", 1);
	assert_int_equal(parse(&run, ""), 0);
	assert_true(hang_settings_of(&got.hang, &settings));
	assert_false(settings.has_after);
	assert_int_equal(parse(&run, "--hang-rule io-gpu"), 0);
	assert_true(hang_settings_of(&got.hang, &settings));
	assert_int_equal(settings.rule, HANG_RULE_IO_GPU);
	assert_int_equal(settings.after_ns, 7 * 60 * NS_PER_S);
	assert_int_equal(parse(&run, "--hang-rule io-gpu --hang-after 90s"), 0);
	assert_int_equal(got.hang.after, 90 * NS_PER_S);
}

static void a_job_is_ended_for_a_proof_unless_less_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(parse(&run, "--on-hang kill"), 0);
	assert_true(hang_settings_of(&got.hang, &settings));
	assert_int_equal(settings.end_by, HANG_END_BY_PROOF);
	assert_int_equal(parse(&run, "--on-hang kill --on-hang-needs medium"), 0);
	assert_true(hang_settings_of(&got.hang, &settings));
	assert_int_equal(settings.end_by, HANG_END_BY_MEDIUM);
	assert_true(parse(&watch, "--on-hang-needs low") < 0);
}

static void an_adopted_job_cannot_be_restarted(void **state)
{
	(void)state;
	assert_int_equal(parse(&run, "--on-hang restart"), 0);
	assert_int_equal(got.hang.on_hang, ON_HANG_RESTART);
	assert_int_equal(parse(&watch, "--on-hang kill"), 0);
	assert_int_equal(got.hang.on_hang, ON_HANG_KILL);
	assert_true(parse(&watch, "--on-hang restart") < 0);
	assert_string_equal(fault.text,
			    "--on-hang: 'restart' is not one of report, kill; vigil did not start this job and "
			    "cannot start it again");
}

static void a_pattern_of_progress_may_have_commas(void **state)
{
	(void)state;
	assert_int_equal(parse(&run, "--progress-pattern step(?<step>\\d{1,6}) --progress-pattern it(?<step>\\d+)"), 0);
	assert_int_equal(got.hang.progress.n, 2);
	assert_string_equal(got.hang.progress.item[0], "step(?<step>\\d{1,6})");
	assert_string_equal(got.hang.progress.item[1], "it(?<step>\\d+)");
}

static void a_pattern_that_cannot_be_used_is_refused_with_its_place(void **state)
{
	(void)state;
	assert_int_equal(hang_progress_check("step (?<step>\\d+)", &fault), 0);
	fault.text[0] = '\0';
	assert_true(hang_progress_check("step (?<step>\\d+", &fault) < 0);
	assert_non_null(strstr(fault.text, "'step (?<step>\\d+', character "));
	assert_true(parse(&run, "--progress-pattern (") < 0);
	assert_non_null(strstr(fault.text, "--progress-pattern: '(', character "));
}

#define HANG_TEST(t) cmocka_unit_test_setup_teardown(t, begin, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HANG_TEST(hangs_are_detected_by_evidence_if_nothing_is_said),
		HANG_TEST(a_time_replaces_the_evidence_and_0_switches_off),
		HANG_TEST(the_variable_of_modelarts_counts_for_its_own_rule_only),
		HANG_TEST(a_job_is_ended_for_a_proof_unless_less_is_asked_for),
		HANG_TEST(an_adopted_job_cannot_be_restarted),
		HANG_TEST(a_pattern_of_progress_may_have_commas),
		HANG_TEST(a_pattern_that_cannot_be_used_is_refused_with_its_place),
	};
	return cmocka_run_group_tests_name("cli/hang_options", tests, NULL, NULL);
}
