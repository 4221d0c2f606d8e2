#include "testing.h"

#include <string.h>

#include "sense/speed/pmuevent.h"

static void terms_are_taken_one_by_one(void **state)
{
	(void)state;
	struct span rest = SPAN("event=0x04,umask=0xCf, inv,cmask=12\n");
	struct pmuterm t;
	static const struct pmuterm want[] = {{"event", 4}, {"umask", 0xcf}, {"inv", 1}, {"cmask", 12}};
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(pmuterm_next(&rest, &t), 0);
		assert_string_equal(t.name, want[i].name);
		assert_int_equal(t.value, want[i].value);
	}
	assert_int_equal(pmuterm_next(&rest, &t), -ENOENT);
}

static void what_is_no_term_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"core=?",
					  "=1",
					  "event=",
					  "event=0x",
					  "event=0xg",
					  "../type=1",
					  "event=0x12345678901234567",
					  "a b=1",
					  ",",
					  "event=18446744073709551616",
					  "a_name_that_is_longer_than_any_of_them=1"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct span rest = span_of(bad[i]);
		struct pmuterm t = {.value = 7};
		assert_int_equal(pmuterm_next(&rest, &t), -EINVAL);
		assert_int_equal(t.value, 7);
	}
}

static void a_value_goes_to_the_bits_of_its_format(void **state)
{
	(void)state;
	struct pmuevent e = {{0}};
	assert_int_equal(pmuevent_put(&e, SPAN("config:0-7\n"), 0x04), 0);
	assert_int_equal(pmuevent_put(&e, SPAN("config:8-15"), 0xcf), 0);
	assert_int_equal(e.config[0], 0xcf04);
	e.config[0] = 0;
	assert_int_equal(pmuevent_put(&e, SPAN("config:0-7,32-35,59-60"), 0x3f07), 0);
	assert_int_equal(e.config[0], UINT64_C(0x18) << 56 | UINT64_C(0xf) << 32 | 7);
	assert_int_equal(pmuevent_put(&e, SPAN("config1:1,6-10,44"), 0x7f), 0);
	assert_int_equal(e.config[1], UINT64_C(1) << 44 | 0x7c2);
	assert_int_equal(pmuevent_put(&e, SPAN("config2"), 9), 0);
	assert_int_equal(e.config[2], 9);
	assert_int_equal(pmuevent_put(&e, SPAN("config2:0-63"), UINT64_MAX), 0);
	assert_true(e.config[2] == UINT64_MAX);
	assert_int_equal(pmuevent_put(&e, SPAN("config2:4-7"), 0), 0);
	assert_true(e.config[2] == ~UINT64_C(0xf0));
}

static void a_value_that_does_not_fit_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"config:0-3", "config:",  "config3:0-7", "config:64", "config:7-0",
					  "config:0-",	"config:x", "0-7",	   "",		"config:0-3,,"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct pmuevent e = {{5, 5, 5}};
		assert_int_equal(pmuevent_put(&e, span_of(bad[i]), 0x10), -EINVAL);
		assert_int_equal(e.config[0], 5);
	}
}

static void scales_are_read_in_any_locale(void **state)
{
	(void)state;
	double v = 0;
	assert_int_equal(pmuscale_parse(SPAN("6.103515625e-5\n"), &v), 0);
	assert_true(v * 1048576 > 63.999999 && v * 1048576 < 64.000001);
	assert_int_equal(pmuscale_parse(SPAN("1"), &v), 0);
	assert_true(v == 1);
	assert_int_equal(pmuscale_parse(SPAN("2.5E+2"), &v), 0);
	assert_true(v == 250);
	static const char *const bad[] = {"",	   "0",	   "0.0e5", "-1",  "e5",   ".",	     "1e",  "1e+",
					  "1e999", "1e61", "nan",   "inf", "0x10", "1,5e-5", "1 2", "1e--5"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(pmuscale_parse(span_of(bad[i]), &v), -EINVAL);
	assert_true(v == 250);
}

static void units_of_bytes_are_known(void **state)
{
	(void)state;
	double v = 0;
	assert_int_equal(pmuunit_parse(SPAN("MiB\n"), &v), 0);
	assert_true(v == 1048576);
	assert_int_equal(pmuunit_parse(SPAN("Joules"), &v), -EINVAL);
	assert_int_equal(pmuunit_parse(SPAN(""), &v), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_are_taken_one_by_one),
		cmocka_unit_test(what_is_no_term_is_refused),
		cmocka_unit_test(a_value_goes_to_the_bits_of_its_format),
		cmocka_unit_test(a_value_that_does_not_fit_is_refused),
		cmocka_unit_test(scales_are_read_in_any_locale),
		cmocka_unit_test(units_of_bytes_are_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
