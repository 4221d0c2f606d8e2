#include "testing.h"

#include "model/stacks/stackmerge.h"

/*
 * Native, innermost first: 'L' evaluation loop, 't' trampoline, other letters a
 * function. Python: 'E' entry, 'p' not. Expected: native letters in lower case
 * as they are, loops shown 'L', Python frames 'P'; a '~' at the end: approximate.
 */
static void expect(const char *native, const char *python, bool one_each, const char *expected)
{
	struct merge_native n[16];
	struct merge_python p[16];
	struct merge_item out[32];
	char got[40] = "";
	size_t n_n = strlen(native), n_p = strlen(python), next = 0;
	for (size_t i = 0; i < n_n; i++)
		n[i] = (struct merge_native){.eval_loop = native[i] == 'L', .trampoline = native[i] == 't'};
	for (size_t i = 0; i < n_p; i++)
		p[i] = (struct merge_python){.entry = python[i] == 'E'};
	struct merge_result m = stackmerge(n, n_n, p, n_p, one_each, out);
	assert_true(m.n <= n_n + n_p);
	for (size_t i = 0; i < m.n; i++) {
		got[i] = out[i].python ? 'P' : native[out[i].index];
		if (out[i].python)
			assert_int_equal(out[i].index, next++);
	}
	got[m.n] = m.approximate ? '~' : '\0';
	assert_string_equal(got, expected);
	/* nothing is thrown away */
	assert_int_equal(next, n_p);
}

static void frames_stand_where_their_loop_ran(void **state)
{
	(void)state;
	expect("cLbLa", "EE", false, "cPbPa");
	expect("cLbLa", "ppEpE", false, "cPPPbPPa");
	expect("cLLLa", "EEE", true, "cPPPa");
	expect("LtLta", "EE", false, "PPa");
	expect("abc", "", false, "abc");
	expect("", "", false, "");
}

static void up_to_3_10_every_loop_has_one_frame(void **state)
{
	(void)state;
	expect("cLbLa", "pp", true, "cPbPa");
	expect("LL", "pp", true, "PP");
}

static void a_mismatch_loses_nothing_and_says_so(void **state)
{
	(void)state;
	expect("cLbLa", "EEE", false, "cPbPPa~"); /* left over: at the outermost loop */
	expect("cLbLa", "E", false, "cPbLa~"); /* a loop without a frame */
	expect("cLbLa", "", false, "cLbLa"); /* no Python known: nothing was guessed */
	expect("cba", "EE", false, "cbaPP~"); /* no loop seen */
	expect("cLa", "pp", false, "cPPa~"); /* the entry is missing: cut */
	expect("cLbLa", "ppp", true, "cPbPPa~");
	expect("", "E", false, "P~");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_stand_where_their_loop_ran),
		cmocka_unit_test(up_to_3_10_every_loop_has_one_frame),
		cmocka_unit_test(a_mismatch_loses_nothing_and_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
