#include "testing.h"

#include <stdio.h>

#include "sense/host/oomdconf.h"

static struct oomdconf parsed(const char *text)
{
	struct oomdconf c = OOMDCONF_DEFAULT;
	oomdconf_parse(span_of(text), &c);
	return c;
}

static void settings_of_the_oom_section_are_read(void **state)
{
	(void)state;
	struct oomdconf c = parsed("# note\n[OOM]\nSwapUsedLimit = 80%\nDefaultMemoryPressureLimit=555\xe2\x80\xb0\n"
				   "DefaultMemoryPressureDurationSec=1min 30s\n");
	assert_true(c.from_file);
	assert_true(c.swap_used_limit_ratio == 0.8);
	assert_true(c.pressure_limit_ratio == 0.555);
	assert_true(c.pressure_duration_s == 90);
}

static void other_sections_and_comments_set_nothing(void **state)
{
	(void)state;
	assert_false(parsed("[Other]\nSwapUsedLimit=80%\n").from_file);
	assert_false(parsed("SwapUsedLimit=80%\n").from_file);
	assert_false(parsed("[OOM]\n;SwapUsedLimit=80%\nUnknown=1\nno equals sign\n").from_file);
}

static void invalid_values_leave_the_default(void **state)
{
	(void)state;
	static const char *const values[] = {"80", "101%", "-1%", "%", "80.123%", "80.%", "1001\xe2\x80\xb0", "x%"};
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char text[80];
		(void)snprintf(text, sizeof(text), "[OOM]\nSwapUsedLimit=%s\n", values[i]);
		struct oomdconf c = parsed(text);
		assert_false(c.from_file);
		assert_true(c.swap_used_limit_ratio == 0.9);
	}
	assert_true(parsed("[OOM]\nDefaultMemoryPressureDurationSec=2 days\n").pressure_duration_s == 30);
	assert_true(parsed("[OOM]\nDefaultMemoryPressureDurationSec=\n").pressure_duration_s == 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_of_the_oom_section_are_read),
		cmocka_unit_test(other_sections_and_comments_set_nothing),
		cmocka_unit_test(invalid_values_leave_the_default),
	};
	return cmocka_run_group_tests_name("sense/host/oomdconf", tests, NULL, NULL);
}
