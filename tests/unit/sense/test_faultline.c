#include "testing.h"

#include "base/buf.h"
#include "sense/death/faultline.h"

static struct faultline f;

static void a_read_at_a_null_pointer_has_its_place_in_the_file(void **state)
{
	(void)state;
	/* Linux 6.18, recorded */
	assert_true(faultline_parse(SPAN(": segfault at 0 ip 0000563cd61ed135 sp 00007ffd07dd8b90 error 4 in "
					 "n[1135,563cd61ed000+1000] likely on CPU 0 (core 0, socket 0)"),
				    &f));
	assert_true(f.has_address && f.address == 0 && !f.write && !f.fetch && !f.present && !f.trap);
	assert_string_equal(f.file, "n");
	assert_true(f.has_offset && f.in_file && f.offset == 0x1135);
	assert_true(f.sp == 0x7ffd07dd8b90);
}

static void older_kernels_tell_the_place_in_the_mapping(void **state)
{
	(void)state;
	/* Linux 6.1, recorded */
	assert_true(faultline_parse(SPAN(": segfault at 10 ip 00007f2c6a82e219 sp 00007ffeceae15c8 error 7 in "
					 "libc.so.6[7f2c6a6fe000+156000] likely on CPU 1 (core 1, socket 0)"),
				    &f));
	assert_true(f.address == 0x10 && f.write && f.present);
	assert_string_equal(f.file, "libc.so.6");
	assert_true(f.has_offset && !f.in_file && f.offset == 0x130219);
}

static void a_jump_to_nowhere_has_no_file(void **state)
{
	(void)state;
	/* Linux 6.18, recorded */
	assert_true(faultline_parse(SPAN(": segfault at 0 ip 0000000000000000 sp 00007ffd71c89078 error 14 likely on "
					 "CPU 0 (core 0, socket 0)"),
				    &f));
	assert_true(f.fetch && f.has_address && f.file[0] == '\0' && !f.has_offset);
}

static void traps_have_no_address(void **state)
{
	(void)state;
	assert_true(faultline_parse(SPAN(" trap divide error ip:55d0cdb5161 sp:7fff8f9cffb0 error:0 in "
					 "so[55d0cdb5000+1000]"),
				    &f));
	assert_true(f.trap && !f.has_address && f.offset == 0x161);
	assert_string_equal(f.file, "so");
	assert_true(faultline_parse(SPAN(" general protection fault ip:55d0cdb5161 sp:7fff8f9cffb0 error:0 in "
					 "a[b][55d0cdb5000+1000]"),
				    &f));
	assert_true(!f.trap && !f.has_address);
	assert_string_equal(f.file, "a[b]");
}

static void what_is_no_such_line_is_refused(void **state)
{
	(void)state;
	static const char *const lines[] = {
		"",
		": segfault at ",
		": segfault at zz ip 1 sp 2 error 4",
		": segfault at 0 ip  sp 2",
		": segfault at 0 sp 2",
		" trap divide error",
		" trap divide error ip: sp:",
		" was here",
	};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		assert_false(faultline_parse(span_of(lines[i]), &f));
		assert_false(f.valid);
	}
	static const char *const without[] = {"x", "x[", "x[]", "x[1]", "x[1,]", "x[,1+2]", "x[9999+1]", "x[1,9999+1]"};
	for (size_t i = 0; i < ARRAY_SIZE(without); i++) {
		char text[120];
		TEXT_FORMAT(text, ": segfault at 0 ip 10 sp 20 error 4 in %s", without[i]);
		assert_true(faultline_parse(span_of(text), &f));
		assert_false(f.has_offset);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_read_at_a_null_pointer_has_its_place_in_the_file),
		cmocka_unit_test(older_kernels_tell_the_place_in_the_mapping),
		cmocka_unit_test(a_jump_to_nowhere_has_no_file),
		cmocka_unit_test(traps_have_no_address),
		cmocka_unit_test(what_is_no_such_line_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
