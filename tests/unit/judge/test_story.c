#include "testing.h"

#include "judge/death/story.h"

static void add(struct story *s, const char *id, enum incident_kind kind, uint32_t attempt, bool over)
{
	struct story_part p = {.kind = kind, .attempt = attempt, .hang_over = over};
	(void)snprintf(p.id, sizeof(p.id), "%s", id);
	story_add(s, &p);
}

static void a_job_without_a_hang_is_told_by_its_newest_incident(void **state)
{
	(void)state;
	struct story s = {.newest = {.id = ""}};
	assert_false(story_hang_leads(&s));
	add(&s, "j.1", INCIDENT_MEMORY_KILL, 0, false);
	add(&s, "j.2", INCIDENT_KILLED_BY, 1, false);
	assert_false(story_hang_leads(&s));
	assert_false(story_hang_before(&s));
	assert_string_equal(s.newest.id, "j.2");
}

static void a_signal_after_a_hang_does_not_take_the_headline(void **state)
{
	(void)state;
	struct story s = {.newest = {.id = ""}};
	add(&s, "j.1", INCIDENT_HANG, 2, false);
	assert_true(story_hang_leads(&s));
	add(&s, "j.2", INCIDENT_KILLED_BY, 2, false);
	assert_true(story_hang_leads(&s));
	assert_false(story_hang_before(&s));
	assert_string_equal(s.hang.id, "j.1");
	assert_string_equal(s.newest.id, "j.2");
}

static void a_hang_that_was_resolved_is_no_headline(void **state)
{
	(void)state;
	struct story s = {.newest = {.id = ""}};
	add(&s, "j.1", INCIDENT_HANG, 0, true);
	add(&s, "j.2", INCIDENT_KILLED_BY, 0, false);
	assert_false(story_hang_leads(&s));
	assert_false(story_hang_before(&s));
}

static void a_job_that_moved_after_a_later_hang_had_moved_after_the_first_one(void **state)
{
	(void)state;
	struct story s = {.newest = {.id = ""}};
	add(&s, "j.1", INCIDENT_HANG, 0, false);
	add(&s, "j.2", INCIDENT_HANG, 0, true);
	add(&s, "j.3", INCIDENT_KILLED_BY, 0, false);
	assert_false(story_hang_leads(&s));
	assert_false(story_hang_before(&s));
}

static void a_hang_of_an_earlier_attempt_did_not_hold_the_last_one(void **state)
{
	(void)state;
	struct story s = {.newest = {.id = ""}};
	add(&s, "j.1", INCIDENT_HANG, 0, false);
	add(&s, "j.2", INCIDENT_KILLED_BY, 1, false);
	assert_false(story_hang_leads(&s));
	assert_false(story_hang_before(&s));
}

static void an_error_after_a_hang_leads_and_names_the_hang(void **state)
{
	(void)state;
	const enum incident_kind kinds[] = {INCIDENT_ERROR_EXIT, INCIDENT_MEMORY_KILL, INCIDENT_CRASH};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct story s = {.newest = {.id = ""}};
		add(&s, "j.1", INCIDENT_HANG, 0, false);
		add(&s, "j.2", kinds[i], 0, false);
		assert_false(story_hang_leads(&s));
		assert_true(story_hang_before(&s));
		assert_string_equal(s.hang.id, "j.1");
	}
}

static void the_last_of_several_hangs_leads(void **state)
{
	(void)state;
	struct story s = {.newest = {.id = ""}};
	add(&s, "j.1", INCIDENT_HANG, 0, false);
	add(&s, "j.2", INCIDENT_HANG, 0, false);
	assert_true(story_hang_leads(&s));
	assert_string_equal(s.hang.id, "j.2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_without_a_hang_is_told_by_its_newest_incident),
		cmocka_unit_test(a_signal_after_a_hang_does_not_take_the_headline),
		cmocka_unit_test(a_hang_that_was_resolved_is_no_headline),
		cmocka_unit_test(a_job_that_moved_after_a_later_hang_had_moved_after_the_first_one),
		cmocka_unit_test(a_hang_of_an_earlier_attempt_did_not_hold_the_last_one),
		cmocka_unit_test(an_error_after_a_hang_leads_and_names_the_hang),
		cmocka_unit_test(the_last_of_several_hangs_leads),
	};
	return cmocka_run_group_tests_name("judge/death/story", tests, NULL, NULL);
}
