#include "testing.h"

#include "base/buf.h"
#include "model/notify/channel.h"

static void names_and_kinds_of_channels_map_to_each_other(void **state)
{
	(void)state;
	for (int k = 0; k < CHANNEL_KIND_MAX; k++)
		assert_int_equal(channel_kind_of(channel_kind_name((enum channel_kind)k)), k);
	assert_int_equal(channel_kind_of("sms"), CHANNEL_KIND_MAX);
	assert_string_equal(channel_kind_name(CHANNEL_KIND_MAX), "unknown");
}

static void only_pagerduty_has_an_address_by_default(void **state)
{
	(void)state;
	for (int k = 0; k < CHANNEL_KIND_MAX; k++) {
		struct channel c;
		channel_init(&c, (enum channel_kind)k);
		assert_int_equal(c.kind, k);
		assert_true(c.by_default && c.resolved && c.tls_verify);
		assert_int_equal(c.url[0] != '\0', k == CHANNEL_PAGERDUTY);
	}
}

static void a_name_may_become_part_of_a_file_name(void **state)
{
	(void)state;
	assert_true(channel_name_is_fine("ops-room_2"));
	assert_true(channel_name_is_fine("abcdefghijklmnopqrstuvwxyz01234"));
	assert_false(channel_name_is_fine("abcdefghijklmnopqrstuvwxyz012345"));
	assert_false(channel_name_is_fine(""));
	assert_false(channel_name_is_fine("-x"));
	assert_false(channel_name_is_fine("a/b"));
	assert_false(channel_name_is_fine(".."));
	assert_false(channel_name_is_fine("a b"));
}

static void a_channel_is_found_by_its_whole_name(void **state)
{
	(void)state;
	static struct channels all = {.n = 2};
	TEXT_COPY(all.item[0].name, "ops");
	TEXT_COPY(all.item[1].name, "opsroom");
	assert_ptr_equal(channels_find(&all, "opsroom"), &all.item[1]);
	assert_null(channels_find(&all, "op"));
}

static void a_channel_takes_what_is_severe_enough(void **state)
{
	(void)state;
	struct channel c;
	struct notice n = {.kind = "hang", .severity = NOTICE_WARNING};
	channel_init(&c, CHANNEL_SLACK);
	c.least = NOTICE_ERROR;
	assert_false(channel_wants(&c, &n));
	n.severity = NOTICE_ERROR;
	assert_true(channel_wants(&c, &n));
}

static void a_channel_of_some_kinds_takes_only_these(void **state)
{
	(void)state;
	struct channel c;
	struct notice hang = {.kind = "hang", .severity = NOTICE_CRITICAL};
	struct notice crash = {.kind = "crash", .severity = NOTICE_CRITICAL};
	channel_init(&c, CHANNEL_SLACK);
	c.only_some = true;
	c.only[INCIDENT_HANG] = true;
	assert_true(channel_wants(&c, &hang));
	assert_false(channel_wants(&c, &crash));
	crash.resolved = true;
	assert_false(channel_wants(&c, &crash));
}

static void the_end_of_a_problem_passes_whatever_its_severity(void **state)
{
	(void)state;
	struct channel c;
	struct notice n = {.kind = "hang", .resolved = true, .severity = NOTICE_INFO};
	channel_init(&c, CHANNEL_SLACK);
	c.least = NOTICE_CRITICAL;
	assert_true(channel_wants(&c, &n));
	c.resolved = false;
	assert_false(channel_wants(&c, &n));
}

static void an_alert_is_repeated_before_it_expires(void **state)
{
	(void)state;
	struct channel c;
	channel_init(&c, CHANNEL_ALERTMANAGER);
	c.repeat_ms = 1000;
	c.hold_ms = 1000;
	assert_int_equal(channel_repeat_ms(&c), 500);
	c.hold_ms = 5000;
	assert_int_equal(channel_repeat_ms(&c), 1000);
	c.kind = CHANNEL_SLACK;
	c.hold_ms = 10;
	assert_int_equal(channel_repeat_ms(&c), 1000);
}

static void an_address_is_shown_without_its_secrets(void **state)
{
	(void)state;
	static const struct {
		const char *url, *shown;
	} rows[] = {
		{"https://hooks.slack.com/services/T0/B0/secret", "https://hooks.slack.com/…"},
		{"https://user:pass@host:8080/x?token=1", "https://host:8080/…"},
		{"https://a@b@host/x", "https://host/…"},
		{"https://host?token=1", "https://host/…"},
		{"https://host#secret", "https://host/…"},
		{"https://host/", "https://host/"},
		{"https://host", "https://host"},
		{"smtp.example.org:25", "smtp.example.org:25"},
		{"", ""},
	};
	char text[128];
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(channel_url_mask(rows[i].url, text, sizeof(text)), rows[i].shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_kinds_of_channels_map_to_each_other),
		cmocka_unit_test(only_pagerduty_has_an_address_by_default),
		cmocka_unit_test(a_name_may_become_part_of_a_file_name),
		cmocka_unit_test(a_channel_is_found_by_its_whole_name),
		cmocka_unit_test(a_channel_takes_what_is_severe_enough),
		cmocka_unit_test(a_channel_of_some_kinds_takes_only_these),
		cmocka_unit_test(the_end_of_a_problem_passes_whatever_its_severity),
		cmocka_unit_test(an_alert_is_repeated_before_it_expires),
		cmocka_unit_test(an_address_is_shown_without_its_secrets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
