/* Many fixed texts searched for at once, by vigil's own automaton and by Hyperscan where that is installed. */
#include "testing.h"

#include "sense/rules/literalset.h"

struct hits {
	size_t n;
	uint32_t id[32];
	size_t end[32];
};

static void on_hit(void *data, uint32_t id, size_t end)
{
	struct hits *h = data;
	assert_true(h->n < ARRAY_SIZE(h->id));
	h->id[h->n] = id;
	h->end[h->n++] = end;
}

static struct hits found(const struct literal *l, size_t n, struct span text)
{
	struct hits h = {.n = 0};
	struct literalset *s = NULL;
	assert_int_equal(literalset_new(l, n, LITERAL_OWN, &s), 0);
	assert_int_equal(literalset_scan(s, text, on_hit, &h), 0);
	literalset_free(s);
	return h;
}

static bool has(const struct hits *h, uint32_t id, size_t end)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->id[i] == id && h->end[i] == end)
			return true;
	return false;
}

static void texts_that_overlap_are_all_found(void **state)
{
	(void)state;
	static const struct literal l[] = {{.text = "he"}, {.text = "she"}, {.text = "his"}, {.text = "hers"}};
	struct hits h = found(l, ARRAY_SIZE(l), SPAN("ushers"));
	assert_int_equal(h.n, 3);
	assert_true(has(&h, 1, 4) && has(&h, 0, 4) && has(&h, 3, 6));
	h = found(l, ARRAY_SIZE(l), SPAN("hhishe"));
	assert_int_equal(h.n, 3);
	assert_true(has(&h, 2, 4) && has(&h, 1, 6) && has(&h, 0, 6));
	for (size_t i = 1; i < h.n; i++)
		assert_true(h.end[i] >= h.end[i - 1]);
}

static void texts_that_are_equal_keep_their_ids(void **state)
{
	(void)state;
	static const struct literal l[] = {{.text = "abc"}, {.text = "abc"}};
	struct hits h = found(l, ARRAY_SIZE(l), SPAN("xabc"));
	assert_int_equal(h.n, 2);
	assert_true(has(&h, 0, 4) && has(&h, 1, 4));
}

static void case_never_hides_a_text(void **state)
{
	(void)state;
	static const struct literal l[] = {{.text = "error", .ignore_case = true}, {.text = "NET/IB"}};
	struct hits h = found(l, ARRAY_SIZE(l), SPAN("ERROR eRRoR error NET/IB"));
	assert_int_equal(h.n, 4);
	assert_true(has(&h, 0, 5) && has(&h, 0, 11) && has(&h, 0, 17) && has(&h, 1, 24));
}

static void a_long_text_is_found_by_its_first_16_bytes(void **state)
{
	(void)state;
	static const struct literal l[] = {{.text = "0123456789abcdefXYZ"}};
	struct hits h = found(l, 1, SPAN("0123456789abcdefXYZ"));
	assert_int_equal(h.n, 1);
	assert_int_equal(h.end[0], 16);
	assert_int_equal(found(l, 1, SPAN("0123456789abcde")).n, 0);
}

static void nothing_is_found_in_nothing(void **state)
{
	(void)state;
	static const struct literal l[] = {{.text = "abcd"}};
	static const char zeros[] = "ab\0cd\xff\x80";
	assert_int_equal(found(l, 0, SPAN("abcd")).n, 0);
	assert_int_equal(found(l, 1, SPAN("")).n, 0);
	assert_int_equal(found(l, 1, SPAN("abc")).n, 0);
	assert_int_equal(found(l, 1, (struct span){zeros, sizeof(zeros) - 1}).n, 0);
	struct literalset *s = NULL;
	assert_int_equal(literalset_new(l, 0, LITERAL_HYPERSCAN, &s), LITERAL_ABSENT);
	assert_null(s);
	assert_null(literalset_free(NULL));
}

static void the_library_finds_the_same_texts_where_it_is_installed(void **state)
{
	(void)state;
	static const struct literal l[] = {
		{.text = "error", .ignore_case = true}, {.text = "timeout"}, {.text = "out"}};
	struct span text = SPAN("Error: timeout, then ERROR; out");
	struct hits own = found(l, ARRAY_SIZE(l), text), library = {.n = 0};
	struct literalset *s = NULL;
	int r = literalset_new(l, ARRAY_SIZE(l), LITERAL_HYPERSCAN, &s);
	if (r == LITERAL_ABSENT)
		skip();
	assert_int_equal(r, 0);
	assert_int_equal(literalset_scan(s, text, on_hit, &library), 0);
	literalset_free(s);
	assert_int_equal(library.n, own.n);
	for (size_t i = 0; i < own.n; i++)
		assert_true(has(&library, own.id[i], own.end[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_that_overlap_are_all_found),
		cmocka_unit_test(texts_that_are_equal_keep_their_ids),
		cmocka_unit_test(case_never_hides_a_text),
		cmocka_unit_test(a_long_text_is_found_by_its_first_16_bytes),
		cmocka_unit_test(nothing_is_found_in_nothing),
		cmocka_unit_test(the_library_finds_the_same_texts_where_it_is_installed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
