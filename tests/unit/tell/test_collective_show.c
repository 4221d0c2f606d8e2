#include "memfile.h"

#include "base/buf.h"
#include "tell/collective/collective_show.h"

static struct memfile out;
static struct collective_set *set;
static struct collective_verdict verdict;
static struct collective_show show;
static const char notes[1][320] = {"rank 5: its ring could not be read"};

static int prepare(void **state)
{
	(void)state;
	set = collective_new();
	memset(&verdict, 0, sizeof(verdict));
	show = (struct collective_show){.set = set, .verdict = &verdict, .subject = "job a-1"};
	return set ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	memfile_done(&out);
	set = collective_free(set);
	return 0;
}

static const char *shown(void)
{
	collective_text_show(&show, memfile_open(&out));
	return memfile_text(&out);
}

static void fill_verdict(void)
{
	verdict.valid = true;
	verdict.kind = COLLECTIVE_MISSING;
	verdict.confidence = CONFIDENCE_HIGH;
	verdict.culprits[0] = 3;
	verdict.culprits[1] = 5;
	verdict.n_culprits = verdict.n_culprits_all = 2;
	verdict.has_seq = true;
	verdict.seq = 0;
	TEXT_COPY(verdict.text, "Ranks 3 and 5 did not join.");
	TEXT_COPY(verdict.advice[0], "Look at rank 3.");
	verdict.n_advice = 1;
	TEXT_COPY(verdict.evidence[0].source, "flight recorder");
	TEXT_COPY(verdict.evidence[0].text, "6 of 8 wait");
	verdict.n_evidence = 1;
}

static void nothing_known_is_one_sentence(void **state)
{
	(void)state;
	assert_string_equal(shown(), "Nothing is known of its collectives.\n");
	show.notes = notes;
	show.n_notes = 1;
	assert_string_equal(shown(),
			    "Nothing is known of its collectives.\n\nNot read\n  rank 5: its ring could not be read\n");
}

static void a_verdict_has_culprits_evidence_and_advice(void **state)
{
	(void)state;
	fill_verdict();
	const char *text = shown();
	assert_has(text, " (confidence high)\n  Ranks 3 and 5 did not join.\n  culprits: rank 3, 5\n");
	assert_has(text, "\nEvidence\n  flight recorder: 6 of 8 wait\n\nWhat to do\n  - Look at rank 3.\n");
	verdict.n_culprits_all = 70;
	assert_has(shown(), "rank 3, 5 and more\n");
	verdict.n_culprits = verdict.n_culprits_all = 0;
	assert_has_no(shown(), "culprits");
}

static void the_json_has_lists_even_when_empty(void **state)
{
	(void)state;
	cleanup(js_freep) struct js *empty = collective_json(&show);
	assert_string_equal(js_get_text(empty, "schema", ""), "vigil.collectives/1");
	assert_null(js_get(empty, "kind"));
	assert_non_null(js_get(empty, "waits"));
	assert_int_equal(js_len(js_get(empty, "not_read")), 0);
	fill_verdict();
	cleanup(js_freep) struct js *j = collective_json(&show);
	assert_string_equal(js_get_text(js_at(js_get(j, "evidence"), 0), "source", ""), "flight recorder");
	assert_int_equal(js_len(js_get(j, "culprit_ranks")), 2);
	assert_int_equal(js_get_i64(j, "number", -1), 0); /* 0 is a number, too */
	assert_string_equal(js_get_text(j, "confidence", ""), "high");
}

static void a_rank_that_gave_nothing_says_why(void **state)
{
	(void)state;
	assert_int_equal(collective_add_absent(set, 5, "it did not answer"), 0);
	assert_int_equal(collective_seal(set), 0);
	cleanup(js_freep) struct js *j = collective_json(&show);
	const struct js *rank = js_at(js_get(j, "ranks"), 0);
	assert_int_equal(js_get_i64(rank, "rank", -1), 5);
	assert_string_equal(js_get_text(rank, "why", ""), "it did not answer");
	assert_null(js_get(rank, "dead"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_known_is_one_sentence, prepare, finish),
		cmocka_unit_test_setup_teardown(a_verdict_has_culprits_evidence_and_advice, prepare, finish),
		cmocka_unit_test_setup_teardown(the_json_has_lists_even_when_empty, prepare, finish),
		cmocka_unit_test_setup_teardown(a_rank_that_gave_nothing_says_why, prepare, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
