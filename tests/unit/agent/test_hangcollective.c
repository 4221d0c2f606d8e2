#include "testing.h"

#include <string.h>

#include "agent/hang/hangcollective.h"

static void each_kind_has_its_word(void **state)
{
	(void)state;
	static const struct {
		enum collective_kind from;
		enum hang_collective_kind to;
	} rows[] = {
		{COLLECTIVE_NONE, HANG_COLLECTIVE_NONE},	 {COLLECTIVE_MISSING, HANG_COLLECTIVE_MISSING},
		{COLLECTIVE_MISMATCH, HANG_COLLECTIVE_MISMATCH}, {COLLECTIVE_EQUAL, HANG_COLLECTIVE_EQUAL},
		{COLLECTIVE_P2P, HANG_COLLECTIVE_P2P},		 {COLLECTIVE_CYCLE, HANG_COLLECTIVE_CYCLE},
		{COLLECTIVE_DEAD, HANG_COLLECTIVE_DEAD},	 {COLLECTIVE_INIT, HANG_COLLECTIVE_INIT},
		{COLLECTIVE_UNEVEN, HANG_COLLECTIVE_UNEVEN},	 {COLLECTIVE_DEVICE, HANG_COLLECTIVE_DEVICE},
	};
	assert_int_equal(ARRAY_SIZE(rows), COLLECTIVE_KINDS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct collective_verdict v = {.valid = true, .kind = rows[i].from};
		struct hang_collective c;
		hangcollective_map(&v, &c);
		assert_true(c.valid);
		assert_int_equal(c.kind, rows[i].to);
	}
}

static void what_was_found_is_carried_over(void **state)
{
	(void)state;
	struct collective_verdict v = {.valid = true,
				       .kind = COLLECTIVE_MISSING,
				       .confidence = CONFIDENCE_HIGH,
				       .culprits = {3, 5},
				       .n_culprits = 2,
				       .text = "ranks 3, 5 did not join. ",
				       .evidence = {{.source = "flight recorder", .text = "x"}},
				       .n_evidence = 1};
	struct hang_collective c;
	hangcollective_map(&v, &c);
	assert_int_equal(c.confidence, CONFIDENCE_HIGH);
	assert_int_equal(c.n_culprits, 2);
	assert_int_equal(c.culprits[1], 5);
	assert_string_equal(c.text, "ranks 3, 5 did not join");
	assert_string_equal(c.source, "flight recorder");
	memset(v.text, 'x', sizeof(v.text) - 1);
	hangcollective_map(&v, &c);
	assert_int_equal(strlen(c.text), sizeof(c.text) - 1);
	v.valid = false;
	hangcollective_map(&v, &c);
	assert_false(c.valid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_word),
		cmocka_unit_test(what_was_found_is_carried_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
