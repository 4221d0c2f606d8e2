#include "testing.h"

#include "base/buf.h"
#include "cli/options/guard_options.h"

struct opts {
	uint32_t other;
	struct guard_options guard;
	struct hang_options hang;
};

static const struct option rows[] = {
	GUARD_OPTIONS(struct opts),
	{.name = NULL},
};
static const struct opts defaults = {.guard = GUARD_DEFAULTS, .hang = HANG_DEFAULTS};
static const struct command run = {.name = "run", .options = rows, .options_size = sizeof(struct opts)};

static struct opts got;
static struct hang_settings settings;

static int begin(void **state)
{
	(void)state;
	unsetenv("RAY_memory_usage_threshold");
	unsetenv("RAY_min_memory_free_bytes");
	return 0;
}

static struct watch_spec spec_of(const char *line)
{
	static char text[300];
	char *argv[24];
	int argc = 0, rest = 0;
	struct fault f = {.text = ""};
	TEXT_COPY(text, line);
	for (char *p = text, *word; (word = strsep(&p, " "));)
		if (*word)
			argv[argc++] = word;
	got = defaults;
	assert_int_equal(option_parse(&run, argc, argv, &got, &rest, &f), 0);
	return watch_spec_of(&got.guard, &got.hang, "a.rules,b.rules", &settings);
}

static void without_options_the_guard_is_on(void **state)
{
	(void)state;
	struct watch_spec s = spec_of("");
	assert_null(s.name);
	assert_string_equal(s.rules, "a.rules,b.rules");
	assert_true(s.guard.threshold_ratio > 0.949 && s.guard.threshold_ratio < 0.951);
	assert_false(s.guard.has_min_free);
	assert_true(s.guard.limit_bytes == CGROUP_NO_LIMIT);
	assert_int_equal(s.guard.grace_ns, 2 * NS_PER_S);
	assert_int_equal(s.guard.policy, POLICY_GROUP);
	assert_true(s.guard.freeze);
	assert_false(s.protect || s.quiet || s.json);
	assert_ptr_equal(s.hang, &settings);
	assert_null(s.channels); /* the caller's, as the state directory is */
	assert_null(s.state_dir);
}

static void each_option_reaches_its_place(void **state)
{
	(void)state;
	struct watch_spec s = spec_of("--name digits --memory-threshold 80% --min-free 2G --memory-limit 64G --grace 0 "
				      "--policy largest --no-freeze --protect -q --json --notify a,b --state /s");
	assert_string_equal(s.name, "digits");
	assert_true(s.guard.threshold_ratio > 0.799 && s.guard.threshold_ratio < 0.801);
	assert_true(s.guard.has_min_free);
	assert_int_equal(s.guard.min_free_bytes, 2 * GIB);
	assert_int_equal(s.guard.limit_bytes, 64 * GIB);
	assert_int_equal(s.guard.grace_ns, 0);
	assert_int_equal(s.guard.policy, POLICY_LARGEST);
	assert_false(s.guard.freeze);
	assert_true(s.protect && s.quiet && s.json);
	assert_int_equal(got.guard.notify.n, 2);
	assert_string_equal(got.guard.state, "/s");
}

static void the_names_of_policies_are_in_the_order_of_the_policies(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		enum victim_policy policy;
	} cases[] = {{"--policy group", POLICY_GROUP},
		     {"--policy newest", POLICY_NEWEST},
		     {"--policy largest", POLICY_LARGEST},
		     {"--policy fastest", POLICY_FASTEST}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(spec_of(cases[i].line).guard.policy, cases[i].policy);
}

static void variables_of_ray_count_after_flags(void **state)
{
	(void)state;
	setenv("RAY_memory_usage_threshold", "0.5", 1);
	setenv("RAY_min_memory_free_bytes", "1073741824", 1);
	struct watch_spec s = spec_of("");
	assert_true(s.guard.threshold_ratio > 0.499 && s.guard.threshold_ratio < 0.501);
	assert_int_equal(s.guard.min_free_bytes, GIB);
	assert_true(s.guard.has_min_free);
	s = spec_of("--memory-threshold 0 --min-free 0");
	assert_true(s.guard.threshold_ratio < 0.001);
	assert_false(s.guard.has_min_free);
}

static void hangs_can_be_switched_off_and_progress_is_borrowed(void **state)
{
	(void)state;
	static const char pattern[] = "step (?<step>\\d+)";
	struct hang_options hang = HANG_DEFAULTS;
	hang.on_hang = ON_HANG_KILL;
	hang.progress = (struct option_list){.item = {pattern}, .n = 1};
	struct watch_spec s = watch_spec_of(&defaults.guard, &hang, NULL, &settings);
	assert_int_equal(s.on_hang, ON_HANG_KILL);
	assert_int_equal(s.n_progress, 1);
	assert_ptr_equal(s.progress[0], pattern);
	assert_null(s.rules);
	hang.after = 0;
	assert_null(watch_spec_of(&defaults.guard, &hang, NULL, &settings).hang);
}

#define GUARD_TEST(t) cmocka_unit_test_setup_teardown(t, begin, begin)

/* What the guard's table does not hold is refused, not left out without a word. */
static void more_or_longer_patterns_than_fit_are_refused(void **state)
{
	(void)state;
	char text[40 * 16] = "", longest[200];
	char *argv[] = {(char *)"--prefer", text};
	int rest = 0;
	struct fault f = {.text = ""};
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	for (int i = 0; i < 33; i++)
		buf_printf(&b, "p%d,", i);
	got = defaults;
	assert_true(option_parse(&run, 2, argv, &got, &rest, &f) < 0);
	assert_string_equal(f.text, "--prefer: more than 32 values; 32 is the most");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	char *other[] = {(char *)"--avoid", longest};
	got = defaults;
	assert_true(option_parse(&run, 2, other, &got, &rest, &f) < 0);
	assert_non_null(strstr(f.text, "is 199 bytes long; a pattern of --prefer or --avoid has at most 95"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		GUARD_TEST(without_options_the_guard_is_on),
		GUARD_TEST(each_option_reaches_its_place),
		GUARD_TEST(the_names_of_policies_are_in_the_order_of_the_policies),
		GUARD_TEST(variables_of_ray_count_after_flags),
		GUARD_TEST(more_or_longer_patterns_than_fit_are_refused),
		GUARD_TEST(hangs_can_be_switched_off_and_progress_is_borrowed),
	};
	return cmocka_run_group_tests_name("cli/guard_options", tests, NULL, NULL);
}
