#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "model/notify/notice.h"

static struct incident incident;
static struct notice notice;

static int fresh(void **state)
{
	(void)state;
	memset(&incident, 0, sizeof(incident));
	memset(&notice, 0, sizeof(notice));
	TEXT_COPY(incident.id, "i-1");
	TEXT_COPY(incident.job, "train-ab");
	TEXT_COPY(incident.node, "node7");
	TEXT_COPY(incident.summary, "rank 3 was killed");
	incident.kind = INCIDENT_MEMORY_KILL;
	incident.time_unix_ms = 1700000000000;
	return 0;
}

static void a_notice_says_what_the_incident_says(void **state)
{
	(void)state;
	TEXT_COPY(incident.cause.id, "memory");
	incident.cause.confidence = CONFIDENCE_HIGH;
	TEXT_COPY(incident.cause.text, "The node was full.");
	incident_advice_add(&incident, "use less");
	incident_evidence_add(&incident, "not_read", "/x", 0, "no permission");
	incident_evidence_add(&incident, "kmsg", "/dev/kmsg", 0, "Out of memory");
	incident.victim.valid = true;
	incident.victim.rank = 3;
	notice_of_incident(&incident, &notice);
	assert_string_equal(notice.key, "train-ab/memory_kill");
	assert_string_equal(notice.title, "rank 3 was killed");
	assert_string_equal(notice.text, "The node was full.");
	assert_string_equal(notice.confidence, "high");
	assert_string_equal(notice.command, "vigil why i-1");
	assert_int_equal(notice.count, 1);
	assert_int_equal(notice.n_evidence, 1);
	assert_string_equal(notice.evidence[0], "Out of memory");
	assert_int_equal(notice.n_ranks, 1);
	assert_int_equal(notice.ranks[0], 3);
}

static void culprits_are_named_rather_than_the_victim(void **state)
{
	(void)state;
	incident.victim.valid = true;
	incident.victim.rank = 3;
	incident.n_culprits = 20;
	for (int32_t i = 0; i < 20; i++)
		incident.culprit_ranks[i] = 40 + i;
	notice_of_incident(&incident, &notice);
	assert_int_equal(notice.n_ranks, NOTICE_RANKS);
	assert_int_equal(notice.ranks[0], 40);
}

static void the_severity_depends_on_what_comes_next(void **state)
{
	(void)state;
	notice_of_incident(&incident, &notice);
	assert_int_equal(notice.severity, NOTICE_ERROR);
	incident.retry.valid = true;
	incident.retry.next = RETRY_RETRY;
	TEXT_COPY(incident.retry.reason, "1 of 3 retries is left.");
	notice_of_incident(&incident, &notice);
	assert_int_equal(notice.severity, NOTICE_WARNING);
	assert_string_equal(notice.text, "Next: 1 of 3 retries is left.");
	incident.retry.next = RETRY_GIVE_UP;
	notice_of_incident(&incident, &notice);
	assert_int_equal(notice.severity, NOTICE_CRITICAL);
	incident.retry.valid = false;
	incident.kind = INCIDENT_HANG;
	notice_of_incident(&incident, &notice);
	assert_int_equal(notice.severity, NOTICE_CRITICAL);
	incident.kind = INCIDENT_CLEAN_EXIT;
	notice_of_incident(&incident, &notice);
	assert_int_equal(notice.severity, NOTICE_INFO);
}

static void characters_that_hide_or_turn_text_are_replaced(void **state)
{
	(void)state;
	TEXT_COPY(incident.summary, "a\x1b[31mb\nc\xe2\x80\xae" "d\xff" "e");
	TEXT_COPY(incident.cause.text, "one\ntwo\a");
	notice_of_incident(&incident, &notice);
	assert_string_equal(notice.title, "a?[31mb c?d?e");
	assert_string_equal(notice.text, "one\ntwo?");
}

static void an_incident_without_a_summary_has_its_kind_as_title(void **state)
{
	(void)state;
	incident.summary[0] = '\0';
	notice_of_incident(&incident, &notice);
	assert_string_equal(notice.title, "memory_kill");
	assert_string_equal(notice.confidence, "");
}

static void a_resolved_notice_has_the_key_of_what_it_ends(void **state)
{
	(void)state;
	notice_resolve("train-ab", "node7", "memory_kill", 1700000000000, &notice);
	assert_true(notice.resolved);
	assert_string_equal(notice.key, "train-ab/memory_kill");
	assert_string_equal(notice.id, "train-ab.resolved.1700000000000");
	assert_string_equal(notice.command, "vigil show train-ab");
}

static void a_test_notice_is_marked_as_one(void **state)
{
	(void)state;
	notice_of_test("ops", "node7", 5, &notice);
	assert_true(notice.test);
	assert_string_equal(notice.id, "test-ops-5");
	assert_int_equal(strncmp(notice.title, "TEST:", 5), 0);
	assert_int_equal(notice.severity, NOTICE_INFO);
}

static void folded_notices_add_up_and_keep_the_first_cause(void **state)
{
	(void)state;
	struct notice first = {.count = 2, .severity = NOTICE_ERROR, .ranks = {1, 2}, .n_ranks = 2, .cause = "a"};
	const struct notice later = {
		.count = 3, .severity = NOTICE_WARNING, .ranks = {2, 5}, .n_ranks = 2, .cause = "b"};
	notice_fold(&first, &later);
	assert_int_equal(first.count, 5);
	assert_int_equal(first.severity, NOTICE_ERROR);
	assert_int_equal(first.n_ranks, 3);
	assert_int_equal(first.ranks[2], 5);
	assert_string_equal(first.cause, "a");
}

static void a_digest_lists_twenty_titles_and_counts_all(void **state)
{
	(void)state;
	struct notice one = {.count = 1, .severity = NOTICE_WARNING};
	notice_digest_begin("node7", 9, &notice);
	for (int i = 0; i < 25; i++) {
		TEXT_FORMAT(one.title, "title %d", i);
		one.count = i == 1 ? 4 : 1;
		one.resolved = i == 2;
		notice_digest_add(&notice, &one);
	}
	assert_int_equal(notice.count, 28);
	assert_string_equal(notice.title, "28 notices at once");
	assert_string_equal(notice.key, "node7/digest");
	assert_int_equal(notice.severity, NOTICE_WARNING);
	assert_non_null(strstr(notice.text, "- title 1 (4 times)\n- resolved: title 2\n"));
	assert_non_null(strstr(notice.text, "- title 19\n"));
	assert_null(strstr(notice.text, "title 20"));
}

static void a_link_has_its_names_filled_in_and_encoded(void **state)
{
	(void)state;
	notice_of_incident(&incident, &notice);
	TEXT_COPY(notice.job, "a b/ü");
	notice_link(&notice, "https://h/{job}?i={incident}&n={node}&k={kind}&x={other}");
	assert_string_equal(notice.link, "https://h/a%20b%2F%C3%BC?i=i-1&n=node7&k=memory_kill&x={other}");
}

static void a_link_that_does_not_fit_is_left_out(void **state)
{
	(void)state;
	char pattern[600];
	memset(pattern, 'x', sizeof(pattern) - 1);
	pattern[sizeof(pattern) - 1] = '\0';
	notice_link(&notice, pattern);
	assert_string_equal(notice.link, "");
}

static void names_and_severities_map_to_each_other(void **state)
{
	(void)state;
	enum notice_severity s = NOTICE_INFO;
	for (int i = NOTICE_INFO; i <= NOTICE_CRITICAL; i++) {
		assert_true(notice_severity_of(notice_severity_name((enum notice_severity)i), &s));
		assert_int_equal(s, i);
	}
	assert_false(notice_severity_of("fatal", &s));
}

static void a_broken_loss_is_a_warning_with_its_place(void **state)
{
	(void)state;
	notice_of_loss("train-ab", "node7", 2, "rank 1: the loss became NaN at step 31", 1700000000000, &notice);
	assert_string_equal(notice.kind, "loss_broken");
	assert_string_equal(notice.key, "train-ab/loss_broken");
	assert_string_equal(notice.title, "rank 1: the loss became NaN at step 31");
	assert_string_equal(notice.command, "vigil logs train-ab --tail 50");
	assert_int_equal(notice.severity, NOTICE_WARNING);
	assert_int_equal(notice.attempt, 2);
	assert_false(notice.resolved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_notice_says_what_the_incident_says, fresh),
		cmocka_unit_test_setup(culprits_are_named_rather_than_the_victim, fresh),
		cmocka_unit_test_setup(the_severity_depends_on_what_comes_next, fresh),
		cmocka_unit_test_setup(characters_that_hide_or_turn_text_are_replaced, fresh),
		cmocka_unit_test_setup(an_incident_without_a_summary_has_its_kind_as_title, fresh),
		cmocka_unit_test_setup(a_resolved_notice_has_the_key_of_what_it_ends, fresh),
		cmocka_unit_test_setup(a_test_notice_is_marked_as_one, fresh),
		cmocka_unit_test_setup(folded_notices_add_up_and_keep_the_first_cause, fresh),
		cmocka_unit_test_setup(a_digest_lists_twenty_titles_and_counts_all, fresh),
		cmocka_unit_test_setup(a_link_has_its_names_filled_in_and_encoded, fresh),
		cmocka_unit_test_setup(a_link_that_does_not_fit_is_left_out, fresh),
		cmocka_unit_test_setup(names_and_severities_map_to_each_other, fresh),
		cmocka_unit_test_setup(a_broken_loss_is_a_warning_with_its_place, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
