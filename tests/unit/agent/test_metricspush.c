#include "testing.h"

#include "agent/metrics/metricspush.h"

static void only_addresses_of_this_machine_are_local(void **state)
{
	static const char *const local[] = {"http://localhost:4318", "http://LocalHost/x", "http://127.0.0.1:4318",
					    "http://127.8.9.1",	     "http://[::1]:4318",  "http://[::1]"};
	static const char *const other[] = {"http://localhost.example.com",
					    "http://127.0.0.1.example.com",
					    "http://127.0.0.1@example.com",
					    "http://127example.com",
					    "http://10.0.0.1:4318",
					    "http://[::1",
					    "http://[::2]:4318",
					    "http://[::1].example.com",
					    "http://",
					    "http://127."};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if (!metricspush_is_local(local[i]))
			fail_msg("%s is local", local[i]);
	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		if (metricspush_is_local(other[i]))
			fail_msg("%s is not local", other[i]);
}

static void what_is_no_address_or_not_private_is_refused_in_one_sentence(void **state)
{
	static const char *const bad[] = {"",
					  "example.com",
					  "ftp://127.0.0.1",
					  "http://",
					  "https://:4318",
					  "http://10.0.0.1:4318",
					  "https://ann@example.com",
					  "https://example.com?x=1",
					  "https://exa mple.com",
					  "http://localhost.example.com"};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct metrics_receiver r;
		struct fault f = {.text = ""};
		if (metricspush_open(&r, bad[i], false, "/nowhere", &f) != -EINVAL ||
		    strncmp(f.text, "--otlp: ", 8) != 0)
			fail_msg("%s: %s", bad[i], f.text);
	}
}

static void an_address_loses_its_last_slash_and_insecure_allows_others(void **state)
{
	struct metrics_receiver r;
	struct fault f = {.text = ""};
	(void)state;
	assert_int_equal(metricspush_open(&r, "http://10.0.0.1:4318/otlp//", true, "/nowhere", &f), 0);
	assert_string_equal(r.url, "http://10.0.0.1:4318/otlp");
	assert_int_equal(metricspush_open(&r, "https://example.com", false, "/nowhere", &f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_addresses_of_this_machine_are_local),
		cmocka_unit_test(what_is_no_address_or_not_private_is_refused_in_one_sentence),
		cmocka_unit_test(an_address_loses_its_last_slash_and_insecure_allows_others),
	};
	return cmocka_run_group_tests_name("agent/metrics/metricspush", tests, NULL, NULL);
}
