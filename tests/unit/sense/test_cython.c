#include "testing.h"

#include "sense/native/cython.h"

static void names_are_those_of_the_pyx(void **state)
{
	(void)state;
	static const struct {
		const char *symbol, *module, *want;
	} cases[] = {
		{"__pyx_pw_7cy_part_1cy_inner", "cy_part.cpython-311-x86_64-linux-gnu.so", "cy_inner"},
		{"__pyx_pf_7cy_part_cy_inner", "cy_part.so", "cy_inner"},
		{"__pyx_pf_7cy_part_2outer.isra.0", "cy_part.so", "outer"},
		{"__pyx_f_7cy_part_deep", "cy_part.so", "deep"},
		{"__pyx_pw_7cy_part_5Plain_1go", "cy_part.so", "Plain.go"},
		{"__pyx_pw_7cy_part_4Fast_3run_it", "cy_part.so", "Fast.run_it"},
		{"__pyx_pw_3pkg_3sub_4part_11step", "part.abi3.so", "step"},
		{"__pyx_fuse_1__pyx_pw_4part_5dot_it", "part.so", "dot_it"},
		/* a number that could be a length: wrappers count in odd numbers, what they call in even ones */
		{"__pyx_pw_4part_3foo_bar", "part.so", "foo_bar"},
		{"__pyx_pf_4part_3foo_bar", "part.so", "foo.bar"},
		{"__pyx_gb_4part_2walk", "part.so", "walk"},
		/* a module that was renamed keeps all of the name */
		{"__pyx_f_4part_deep", "other.so", "part.deep"},
		{"__pyx_pw_4part_", "part.so", NULL},
		{"__pyx_pw_", "part.so", NULL},
		{"__Pyx_PyObject_FastCallDict", "part.so", NULL},
		{"__pyx_pw_99part_1f", "part.so", NULL},
		{"memcpy", "part.so", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char got[CYTHON_NAME_MAX] = "";
		bool is = cython_name(cases[i].symbol, cases[i].module, got);
		if (is != (cases[i].want != NULL) || (is && strcmp(got, cases[i].want) != 0))
			fail_msg("%s: %s", cases[i].symbol, is ? got : "none");
	}
}

static void lines_are_those_of_the_comments(void **state)
{
	(void)state;
	static const char c[] = "/* --- Runtime support code (head) --- */\n"
				"/* \"a \\\" string\" */\n"
				"  /* \"pkg/part.pyx\":7\n" /* line 3 */
				" * def f():\n"
				" */\n"
				"  a();\n"
				"/* \"pkg/part.pyx\":12\n"
				"  b();\n"
				"  /* \"numpy/__init__.pxd\":88\n"
				"  c();\n"
				"/* \"pkg/part.pyx\":0\n"
				"/* \"pkg/part.pyx\":x\n"
				"/* \"unended\n"
				"/* --- Runtime support code --- */\n"
				"/* \"pkg/part.pyx\":99\n";
	static const struct {
		uint32_t c_line;
		const char *file;
		uint32_t line;
	} cases[] = {{2, NULL, 0},
		     {3, "/src/pkg/part.pyx", 7},
		     {6, "/src/pkg/part.pyx", 7},
		     {8, "/src/pkg/part.pyx", 12},
		     {10, "numpy/__init__.pxd", 88},
		     {13, "numpy/__init__.pxd", 88},
		     {14, NULL, 0},
		     {99, NULL, 0}};
	struct cython_source s;
	assert_int_equal(cython_parse(span_of(c), &s), 0);
	assert_int_equal(s.n, 4);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char file[100] = "";
		uint32_t line = 0;
		bool is = cython_line(&s, "/src/pkg/part.c", cases[i].c_line, file, sizeof(file), &line);
		assert_int_equal(is, cases[i].file != NULL);
		assert_string_equal(file, is ? cases[i].file : "");
		assert_int_equal(line, cases[i].line);
	}
	cython_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_pyx),
		cmocka_unit_test(lines_are_those_of_the_comments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
