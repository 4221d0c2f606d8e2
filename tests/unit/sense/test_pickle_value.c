#include "testing.h"

#include "sense/format/pickle_parts.h"

#define TEXT_VALUE(s) {.kind = PICKLE_TEXT, .len = sizeof(s) - 1, .text = (s)}
#define INT_VALUE(n) {.kind = PICKLE_INT, .integer = (n)}

static struct pickle_value container(enum pickle_kind kind, struct pickle_node *node)
{
	return (struct pickle_value){.kind = kind, .node = node};
}

static void sequences_are_read_by_index(void **state)
{
	(void)state;
	struct pickle_value items[] = {INT_VALUE(7), TEXT_VALUE("two")};
	struct pickle_node node = {.items = items, .n = 2};
	static const enum pickle_kind kinds[] = {PICKLE_LIST, PICKLE_TUPLE, PICKLE_SET};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct pickle_value v = container(kinds[i], &node);
		assert_int_equal(pickle_len(&v), 2);
		assert_ptr_equal(pickle_at(&v, 1), &items[1]);
		assert_null(pickle_at(&v, 2));
		assert_null(pickle_key_at(&v, 0));
		assert_null(pickle_get(&v, "two"));
	}
}

static void dicts_are_read_by_pair_and_the_last_equal_key_counts(void **state)
{
	(void)state;
	struct pickle_value items[] = {TEXT_VALUE("a"), INT_VALUE(1), INT_VALUE(5),
				       INT_VALUE(2),	TEXT_VALUE("a"), INT_VALUE(3)};
	struct pickle_node node = {.items = items, .n = 6};
	struct pickle_value dict = container(PICKLE_DICT, &node);
	assert_int_equal(pickle_len(&dict), 3);
	assert_ptr_equal(pickle_key_at(&dict, 1), &items[2]);
	assert_ptr_equal(pickle_at(&dict, 1), &items[3]);
	assert_null(pickle_key_at(&dict, 3));
	assert_ptr_equal(pickle_get(&dict, "a"), &items[5]);
	assert_null(pickle_get(&dict, "ab"));
	assert_null(pickle_get(&dict, ""));
}

static void absent_and_plain_values_hold_nothing(void **state)
{
	(void)state;
	struct pickle_value text = TEXT_VALUE("abc");
	assert_int_equal(pickle_len(NULL), 0);
	assert_int_equal(pickle_len(&text), 0);
	assert_null(pickle_at(NULL, 0));
	assert_null(pickle_at(&text, 0));
	assert_null(pickle_key_at(NULL, 0));
	assert_null(pickle_get(NULL, "a"));
	assert_int_equal(pickle_class(NULL).len, 0);
	assert_int_equal(pickle_class(&text).len, 0);
}

static void an_opaque_value_has_the_name_of_its_class(void **state)
{
	(void)state;
	struct pickle_value items[OPAQUE_SLOTS] = {[OPAQUE_NAME] = TEXT_VALUE("datetime.date")};
	struct pickle_node node = {.items = items, .n = OPAQUE_SLOTS};
	struct pickle_value v = container(PICKLE_OPAQUE, &node);
	assert_true(span_eq(pickle_class(&v), "datetime.date"));
	assert_int_equal(pickle_len(&v), 0);
}

static void only_integers_and_bools_are_numbers(void **state)
{
	(void)state;
	struct pickle_value number = INT_VALUE(INT64_MIN), yes = {.kind = PICKLE_BOOL, .truth = true};
	struct pickle_value real = {.kind = PICKLE_FLOAT, .real = 1.5}, text = TEXT_VALUE("12");
	int64_t n = 99;
	assert_false(pickle_i64(NULL, &n));
	assert_false(pickle_i64(&real, &n));
	assert_false(pickle_i64(&text, &n));
	assert_int_equal(n, 99);
	assert_true(pickle_i64(&yes, &n));
	assert_int_equal(n, 1);
	assert_true(pickle_i64(&number, &n));
	assert_true(n == INT64_MIN);
}

static void only_texts_are_texts(void **state)
{
	(void)state;
	struct pickle_value text = TEXT_VALUE("abc"), bytes = {.kind = PICKLE_BYTES, .len = 3, .text = "abc"};
	struct span s = SPAN("as before");
	assert_false(pickle_text(NULL, &s));
	assert_false(pickle_text(&bytes, &s));
	assert_true(span_eq(s, "as before"));
	assert_true(pickle_text(&text, &s));
	assert_true(span_eq(s, "abc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_are_read_by_index),
		cmocka_unit_test(dicts_are_read_by_pair_and_the_last_equal_key_counts),
		cmocka_unit_test(absent_and_plain_values_hold_nothing),
		cmocka_unit_test(an_opaque_value_has_the_name_of_its_class),
		cmocka_unit_test(only_integers_and_bools_are_numbers),
		cmocka_unit_test(only_texts_are_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
