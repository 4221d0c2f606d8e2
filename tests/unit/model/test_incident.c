#include "testing.h"

#include "base/buf.h"

#include "model/incident/incident.h"

static struct incident incident;

static int fresh(void **state)
{
	(void)state;
	memset(&incident, 0, sizeof(incident));
	return 0;
}

static void names_and_kinds_map_to_each_other(void **state)
{
	(void)state;
	for (int k = 0; k < INCIDENT_KIND_MAX; k++)
		assert_int_equal(incident_kind_of(incident_kind_name((enum incident_kind)k)), k);
	assert_int_equal(incident_kind_of("digest"), INCIDENT_NONE);
	assert_string_equal(incident_kind_name(INCIDENT_KIND_MAX), "none");
	assert_string_equal(incident_kind_name(INCIDENT_PEER_LOST), "peer_lost");
}

static void names_and_killers_map_to_each_other(void **state)
{
	(void)state;
	for (int k = 0; k < KILLER_MAX; k++)
		assert_int_equal(killer_of(killer_name((enum killer)k)), k);
	assert_int_equal(killer_of("oom"), KILLER_UNKNOWN);
	assert_string_equal(killer_name(KILLER_MAX), "unknown");
}

static void small_enumerations_have_the_names_of_the_json_form(void **state)
{
	(void)state;
	assert_string_equal(confidence_name(CONFIDENCE_LOW), "low");
	assert_string_equal(confidence_name(CONFIDENCE_MEDIUM), "medium");
	assert_string_equal(confidence_name(CONFIDENCE_HIGH), "high");
	assert_string_equal(retry_name(RETRY_GIVE_UP), "give_up");
	assert_string_equal(retry_name(RETRY_NONE), "none");
	assert_null(memory_scope_name(MEMORY_SCOPE_NONE));
	assert_string_equal(memory_scope_name(MEMORY_SCOPE_CONTAINER), "container");
	assert_string_equal(memory_scope_name((enum memory_scope)40), "job");
}

static void evidence_beyond_the_room_is_counted(void **state)
{
	(void)state;
	for (int i = 0; i < INCIDENT_EVIDENCE + 3; i++)
		incident_evidence_add(&incident, "kmsg", "/dev/kmsg", 1000 + i, "line %d", i);
	assert_int_equal(incident.n_evidence, INCIDENT_EVIDENCE);
	assert_int_equal(incident.n_evidence_dropped, 3);
	assert_string_equal(incident.evidence[0].text, "line 0");
	assert_string_equal(incident.evidence[0].kind, "kmsg");
	assert_string_equal(incident.evidence[0].source, "/dev/kmsg");
	assert_int_equal(incident.evidence[INCIDENT_EVIDENCE - 1].time_unix_ms, 1000 + INCIDENT_EVIDENCE - 1);
}

static void advice_beyond_the_room_is_left_out(void **state)
{
	(void)state;
	for (int i = 0; i < INCIDENT_ADVICE + 3; i++)
		incident_advice_add(&incident, "advice %d", i);
	assert_int_equal(incident.cause.n_advice, INCIDENT_ADVICE);
	assert_string_equal(incident.cause.advice[INCIDENT_ADVICE - 1], "advice 7");
}

static void text_that_is_too_long_is_cut_to_fit(void **state)
{
	(void)state;
	char text[1000];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	incident_evidence_add(&incident, "a kind of more than 23 letters", text, 0, "%s", text);
	incident_advice_add(&incident, "%s", text);
	assert_int_equal(strlen(incident.evidence[0].kind), 23);
	assert_int_equal(strlen(incident.evidence[0].source), 95);
	assert_int_equal(strlen(incident.evidence[0].text), 359);
	assert_int_equal(strlen(incident.cause.advice[0]), 319);
}

static void advice_names_its_job(void **state)
{
	(void)state;
	static const struct {
		const char *advice, *named, *nameless;
	} cases[] = {
		{"vigil show JOB lists the ends", "vigil show digits-1 lists the ends",
		 "vigil show last lists the ends"},
		{"`vigil stack JOB --native`, or vigil why JOB.",
		 "`vigil stack digits-1 --native`, or vigil why digits-1.",
		 "`vigil stack last --native`, or vigil why last."},
		{"vigil why JOBS, set JOB_ID, the JOB", "vigil why JOBS, set JOB_ID, the JOB",
		 "vigil why JOBS, set JOB_ID, the JOB"},
		{"vigil", "vigil", "vigil"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int named = 0; named < 2; named++) {
			incident.cause.n_advice = 0;
			TEXT_COPY(incident.job, named ? "digits-1" : "");
			incident_advice_add(&incident, "%s", cases[i].advice);
			incident_advice_name_job(&incident);
			assert_string_equal(incident.cause.advice[0], named ? cases[i].named : cases[i].nameless);
		}
	}
	/* a name that looks like the word, and one that makes the text too long, come to an end */
	TEXT_COPY(incident.job, "JOB");
	TEXT_COPY(incident.cause.advice[0], "vigil show JOB");
	incident_advice_name_job(&incident);
	assert_string_equal(incident.cause.advice[0], "vigil show JOB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_and_kinds_map_to_each_other, fresh),
		cmocka_unit_test_setup(names_and_killers_map_to_each_other, fresh),
		cmocka_unit_test_setup(small_enumerations_have_the_names_of_the_json_form, fresh),
		cmocka_unit_test_setup(evidence_beyond_the_room_is_counted, fresh),
		cmocka_unit_test_setup(advice_beyond_the_room_is_left_out, fresh),
		cmocka_unit_test_setup(text_that_is_too_long_is_cut_to_fit, fresh),
		cmocka_unit_test_setup(advice_names_its_job, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
