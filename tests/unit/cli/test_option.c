#include "testing.h"

#include <stdio.h>

#include "base/base.h"
#include "cli/options/nearest.h"
#include "cli/options/option.h"

enum policy { NEWEST, LARGEST };
static const char *const policies[] = {"newest", "largest", NULL};

struct opts {
	bool quiet, freeze;
	const char *name;
	uint32_t nproc;
	uint64_t limit, backoff, hang, old;
	double threshold;
	int policy;
	struct option_list notify;
};

static const struct option table[] = {
	{.name = "quiet",
	 .letter = 'q',
	 .type = OPTION_FLAG,
	 .help = "say nothing",
	 .offset = offsetof(struct opts, quiet)},
	{.name = "[no-]freeze", .type = OPTION_FLAG, .help = "freeze first", .offset = offsetof(struct opts, freeze)},
	{.name = "name", .type = OPTION_TEXT, .arg = "N", .help = "name it", .offset = offsetof(struct opts, name)},
	{.name = "nproc",
	 .letter = 'n',
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "ranks",
	 .offset = offsetof(struct opts, nproc)},
	{.name = "memory-limit",
	 .type = OPTION_SIZE,
	 .arg = "SIZE",
	 .help = "limit",
	 .offset = offsetof(struct opts, limit)},
	{.name = "memory-threshold",
	 .type = OPTION_RATIO,
	 .arg = "RATIO",
	 .help = "threshold",
	 .offset = offsetof(struct opts, threshold),
	 .env = "RAY_memory_usage_threshold"},
	{.name = "backoff",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "wait",
	 .offset = offsetof(struct opts, backoff)},
	{.name = "hang-after",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "hang",
	 .offset = offsetof(struct opts, hang),
	 .env = "MA_HANG_DETECT_TIME:m"},
	{.name = "policy",
	 .type = OPTION_CHOICE,
	 .help = "whom",
	 .offset = offsetof(struct opts, policy),
	 .choices = policies},
	{.name = "old-after",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "old",
	 .offset = offsetof(struct opts, old),
	 .env = "MA_OLD_TIME:m",
	 .env_if = LARGEST,
	 .env_if_offset = offsetof(struct opts, policy)},
	{.name = "notify",
	 .type = OPTION_LIST,
	 .arg = "NAME",
	 .help = "whom to tell",
	 .offset = offsetof(struct opts, notify)},
	{.name = "secret", .type = OPTION_FLAG, .offset = offsetof(struct opts, quiet)},
	{.name = NULL},
};

static const struct opts defaults = {.freeze = true, .nproc = 1, .threshold = 0.95, .policy = LARGEST};

static const struct command run_command = {
	.name = "run",
	.usage = "vigil run [OPTIONS] [--] COMMAND [ARG…]",
	.summary = "start a job",
	.about = ".starts with a dot\n\n'and with a quote -- minus \\ slash",
	.examples = "vigil run -- true",
	.options = table,
	.options_size = sizeof(struct opts),
	.defaults = &defaults,
	.stop_at_first_word = true,
	.usage_status = 125,
};

static const struct command logs_command = {
	.name = "logs",
	.usage = "vigil logs",
	.summary = "logs",
	.options = table,
	.options_size = sizeof(struct opts),
	.usage_status = 2,
};

static struct opts got;
static struct fault fault;
static int rest;
static char *arguments[16];
static int n_arguments;

static int parse(const struct command *c, const char *line)
{
	static char text[512];
	(void)snprintf(text, sizeof(text), "%s", line);
	n_arguments = 0;
	for (char *p = text, *word; (word = strsep(&p, " "));)
		if (*word)
			arguments[n_arguments++] = word;
	got = defaults;
	fault.text[0] = '\0';
	rest = -1;
	return option_parse(c, n_arguments, arguments, &got, &rest, &fault);
}

static void expect_fault(const char *line, const char *text)
{
	assert_true(parse(&run_command, line) < 0);
	if (strcmp(fault.text, text) != 0)
		print_message("'%s' gave: %s\n", line, fault.text);
	assert_string_equal(fault.text, text);
}

static void values_are_taken_in_every_way_of_writing(void **state)
{
	(void)state;
	assert_int_equal(parse(&run_command, "--name a --nproc=4 -q --memory-limit 2G --policy newest python -q"), 0);
	assert_string_equal(got.name, "a");
	assert_int_equal(got.nproc, 4);
	assert_true(got.quiet);
	assert_true(got.limit == 2 * GIB);
	assert_int_equal(got.policy, NEWEST);
	assert_string_equal(arguments[rest], "python");
	assert_int_equal(parse(&run_command, "-qn8 x"), 0);
	assert_int_equal(got.nproc, 8);
	assert_int_equal(parse(&run_command, "-n 9 x"), 0);
	assert_int_equal(got.nproc, 9);
	assert_int_equal(parse(&run_command, "--memory-threshold 90% --backoff 250ms"), 0);
	assert_true(got.threshold > 0.899 && got.threshold < 0.901);
	assert_true(got.backoff == 250 * NS_PER_MS);
	assert_int_equal(rest, n_arguments);
}

static void what_is_not_given_stays_as_it_was(void **state)
{
	(void)state;
	assert_int_equal(parse(&run_command, "python"), 0);
	assert_true(got.freeze);
	assert_int_equal(got.nproc, 1);
	assert_int_equal(got.policy, LARGEST);
	assert_null(got.name);
}

static void a_flag_that_is_on_can_be_switched_off(void **state)
{
	(void)state;
	assert_int_equal(parse(&run_command, "--no-freeze x"), 0);
	assert_false(got.freeze);
	assert_int_equal(parse(&run_command, "--no-freeze --freeze x"), 0);
	assert_true(got.freeze);
	assert_int_equal(parse(&run_command, "--freeze=no x"), 0);
	assert_false(got.freeze);
	expect_fault("--no-freeze=yes", "vigil run: --no-freeze takes no value");
	expect_fault("--no-quiet", "vigil run: unknown option '--no-quiet'; 'vigil run --help' lists the options");
	expect_fault("--quiet=maybe",
		     "--quiet: 'maybe' is neither yes nor no; write yes, no, true, false, on, off, 1 or 0");
}

static void the_users_command_is_left_alone(void **state)
{
	(void)state;
	assert_int_equal(parse(&run_command, "--quiet -- --name x"), 0);
	assert_int_equal(rest, 2);
	assert_string_equal(arguments[rest], "--name");
	assert_null(got.name);
	assert_int_equal(parse(&run_command, "python --nproc 4"), 0);
	assert_int_equal(rest, 0);
	assert_int_equal(got.nproc, 1);
	assert_int_equal(parse(&run_command, ""), 0);
	assert_int_equal(rest, 0);
	assert_int_equal(parse(&run_command, "- x"), 0); /* a lone dash is a word */
	assert_int_equal(rest, 0);
}

static void words_may_stand_among_the_options_of_other_commands(void **state)
{
	(void)state;
	assert_int_equal(parse(&logs_command, "job1 --nproc 3 more --quiet -- --odd"), 0);
	assert_int_equal(got.nproc, 3);
	assert_int_equal(n_arguments - rest, 3);
	assert_string_equal(arguments[rest], "job1");
	assert_string_equal(arguments[rest + 1], "more");
	assert_string_equal(arguments[rest + 2], "--odd");
}

static void mistakes_are_told_in_one_sentence(void **state)
{
	(void)state;
	expect_fault("--memroy-limit 5", "vigil run: unknown option '--memroy-limit'; did you mean '--memory-limit'?");
	expect_fault("--memory 5", "vigil run: unknown option '--memory'; did you mean '--memory-limit'?");
	expect_fault("--xyz", "vigil run: unknown option '--xyz'; 'vigil run --help' lists the options");
	expect_fault("-z", "vigil run: unknown option '-z'; 'vigil run --help' lists the options");
	expect_fault("--name", "vigil run: --name needs a value (N)");
	expect_fault("--name -- x", "vigil run: --name needs a value (N); a value that begins with -- is written "
				    "--option=--value");
	expect_fault("--nproc four", "--nproc: 'four' is not a number; a whole number such as 4 was expected");
	expect_fault("--nproc -1", "--nproc: '-1' is not a number; a whole number such as 4 was expected");
	expect_fault("--nproc 99999999999", "--nproc: '99999999999' is too large; at most 4294967295 is possible");
	expect_fault("--memory-limit 5Q", "--memory-limit: '5Q' is not a size: unknown unit 'Q'; use K, M, G, T or P");
	expect_fault("--memory-threshold 1.5",
		     "--memory-threshold: '1.5' is more than 1; a ratio lies between 0 and 1 (or 0% and 100%)");
	expect_fault("--backoff soon", "--backoff: 'soon' is not a time; write for example 30s, 5m or 2h");
	expect_fault("--policy newst", "--policy: 'newst' is not known; did you mean newest? (one of newest, largest)");
	expect_fault("--policy zzz", "--policy: 'zzz' is not one of newest, largest");
}

static void lists_grow_by_repetition_and_by_commas(void **state)
{
	(void)state;
	assert_int_equal(parse(&run_command, "--notify a,b --notify c x"), 0);
	assert_int_equal(got.notify.n, 3);
	assert_string_equal(got.notify.item[1], "b");
	assert_string_equal(got.notify.item[2], "c");
	setenv("VIGIL_NOTIFY", "e", 1);
	assert_int_equal(parse(&run_command, "--notify f x"), 0); /* the flag replaces what the environment said */
	assert_int_equal(got.notify.n, 1);
	assert_string_equal(got.notify.item[0], "f");
	unsetenv("VIGIL_NOTIFY");
	expect_fault(
		"--notify 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33",
		"--notify: more than 32 values; 32 is the most");
}

static void the_environment_comes_after_the_flags(void **state)
{
	(void)state;
	setenv("VIGIL_NPROC", "5", 1);
	setenv("VIGIL_FREEZE", "off", 1);
	setenv("VIGIL_NAME", "", 1); /* empty is as good as not set */
	assert_int_equal(parse(&run_command, "x"), 0);
	assert_int_equal(got.nproc, 5);
	assert_false(got.freeze);
	assert_null(got.name);
	assert_int_equal(parse(&run_command, "--nproc 6 --freeze x"), 0);
	assert_int_equal(got.nproc, 6);
	assert_true(got.freeze);
	setenv("VIGIL_NPROC", "many", 1);
	expect_fault("x", "VIGIL_NPROC: 'many' is not a number; a whole number such as 4 was expected");
	unsetenv("VIGIL_NPROC");
	unsetenv("VIGIL_FREEZE");
	unsetenv("VIGIL_NAME");
}

static void foreign_variables_are_honoured_after_our_own(void **state)
{
	(void)state;
	setenv("RAY_memory_usage_threshold", "0.8", 1);
	setenv("MA_HANG_DETECT_TIME", "30", 1);
	assert_int_equal(parse(&run_command, "x"), 0);
	assert_true(got.threshold > 0.799 && got.threshold < 0.801);
	assert_true(got.hang == 30 * 60 * NS_PER_S);
	setenv("VIGIL_MEMORY_THRESHOLD", "0.7", 1);
	assert_int_equal(parse(&run_command, "x"), 0);
	assert_true(got.threshold > 0.699 && got.threshold < 0.701);
	setenv("MA_HANG_DETECT_TIME", "soon", 1);
	expect_fault("x", "MA_HANG_DETECT_TIME: 'soon' is not a time; write for example 30s, 5m or 2h");
	unsetenv("RAY_memory_usage_threshold");
	unsetenv("MA_HANG_DETECT_TIME");
	unsetenv("VIGIL_MEMORY_THRESHOLD");
}

static void a_foreign_variable_may_depend_on_a_choice(void **state)
{
	(void)state;
	char name[64];
	setenv("MA_OLD_TIME", "1.5", 1);
	assert_int_equal(parse(&run_command, "--policy newest x"), 0);
	assert_true(got.old == 0);
	assert_null(option_environment(option_find(&run_command, "old-after"), &got, name));
	assert_int_equal(parse(&run_command, "x"), 0);
	assert_true(got.old == 90 * NS_PER_S);
	assert_string_equal(option_environment(option_find(&run_command, "old-after"), &got, name), "1.5m");
	assert_int_equal(parse(&run_command, "--old-after 5s x"), 0);
	assert_true(got.old == 5 * NS_PER_S);
	setenv("MA_OLD_TIME", "0", 1);
	assert_int_equal(parse(&run_command, "--policy newest x"), 0);
	expect_fault("x", "MA_OLD_TIME: '0' is no time to wait; unset it, or switch it off with --old-after 0");
	setenv("VIGIL_OLD_AFTER", "0", 1);
	assert_int_equal(parse(&run_command, "x"), 0);
	assert_true(got.old == 0);
	unsetenv("VIGIL_OLD_AFTER");
	unsetenv("MA_OLD_TIME");
}

static void help_is_asked_for_by_flag_but_not_in_the_users_command(void **state)
{
	(void)state;
	assert_int_equal(parse(&run_command, "--quiet --help"), OPTION_HELP);
	assert_int_equal(parse(&run_command, "-h"), OPTION_HELP);
	assert_int_equal(parse(&run_command, "python --help"), 0);
}

static void values_are_shown_as_they_are_typed(void **state)
{
	(void)state;
	static const char *const lines[][2] = {
		{"--memory-limit 1536M", "1536M"},
		{"--memory-limit 7", "7"},
		{"--memory-limit 2T", "2T"},
	};
	const struct option *o = option_find(&run_command, "memory-limit");
	char text[64];
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_int_equal(parse(&run_command, lines[i][0]), 0);
		option_format(o, &got, text, sizeof(text));
		assert_string_equal(text, lines[i][1]);
	}
	assert_int_equal(parse(&run_command, "--backoff 90 --notify a,b"), 0);
	option_format(option_find(&run_command, "backoff"), &got, text, sizeof(text));
	assert_string_equal(text, "90s");
	option_format(option_find(&run_command, "notify"), &got, text, sizeof(text));
	assert_string_equal(text, "a,b");
	option_format(option_find(&run_command, "policy"), &got, text, sizeof(text));
	assert_string_equal(text, "largest");
	option_format(option_find(&run_command, "memory-threshold"), &got, text, sizeof(text));
	assert_string_equal(text, "0.95");
}

static void help_and_manual_come_from_the_table(void **state)
{
	(void)state;
	cleanup(freep) char *help = NULL, *man = NULL, *completion = NULL;
	const struct command *const all[] = {&run_command, NULL};
	size_t len;
	FILE *to = open_memstream(&help, &len);
	option_help(&run_command, to);
	fclose(to);
	assert_true(strstr(help, "Examples:") < strstr(help, "Options:"));
	assert_non_null(strstr(help, "  --memory-threshold RATIO    threshold (default: 0.95)\n"));
	assert_non_null(strstr(help, "  -n, --nproc N               ranks (default: 1)\n"));
	assert_non_null(strstr(help, "  --[no-]freeze               freeze first (default: yes)\n"));
	assert_null(strstr(help, "secret"));
	to = open_memstream(&man, &len);
	option_man(&run_command, to);
	fclose(to);
	assert_non_null(strstr(man, "\n\\&.starts with a dot\n.PP\n\\&'and with a quote \\-\\- minus \\e slash\n"));
	assert_non_null(strstr(man, "Environment: VIGIL_HANG_AFTER, MA_HANG_DETECT_TIME."));
	to = open_memstream(&completion, &len);
	option_completion(all, to);
	fclose(to);
	assert_non_null(strstr(completion, "--freeze --no-freeze"));
	assert_null(strstr(completion, "secret"));
}

static void the_nearest_word_is_the_one_meant(void **state)
{
	(void)state;
	assert_int_equal(nearest_distance("", "abc"), 3);
	assert_int_equal(nearest_distance("abc", "abc"), 0);
	assert_int_equal(nearest_distance("acb", "abc"), 1);
	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
	struct nearest n = {.typed = "jbos"};
	nearest_offer(&n, "logs");
	assert_null(n.best);
	nearest_offer(&n, "jobs");
	assert_string_equal(n.best, "jobs");
	char longest[200];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(nearest_distance(longest, "x"), 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_taken_in_every_way_of_writing),
		cmocka_unit_test(what_is_not_given_stays_as_it_was),
		cmocka_unit_test(a_flag_that_is_on_can_be_switched_off),
		cmocka_unit_test(the_users_command_is_left_alone),
		cmocka_unit_test(words_may_stand_among_the_options_of_other_commands),
		cmocka_unit_test(mistakes_are_told_in_one_sentence),
		cmocka_unit_test(lists_grow_by_repetition_and_by_commas),
		cmocka_unit_test(the_environment_comes_after_the_flags),
		cmocka_unit_test(foreign_variables_are_honoured_after_our_own),
		cmocka_unit_test(a_foreign_variable_may_depend_on_a_choice),
		cmocka_unit_test(help_is_asked_for_by_flag_but_not_in_the_users_command),
		cmocka_unit_test(values_are_shown_as_they_are_typed),
		cmocka_unit_test(help_and_manual_come_from_the_table),
		cmocka_unit_test(the_nearest_word_is_the_one_meant),
	};
	return cmocka_run_group_tests_name("cli/option", tests, NULL, NULL);
}
