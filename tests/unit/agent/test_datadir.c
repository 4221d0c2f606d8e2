#include "testing.h"

#include <stdlib.h>

#include "agent/host/datadir.h"
#include "made_world.h"

static struct made_world made;

/* The world's program is <dir>/bin/vigil. */
static int begin(void **state)
{
	(void)state;
	char target[200], path[200];
	made_begin(&made);
	made_folder(&made, "proc/self");
	made_folder(&made, "bin");
	TEXT_FORMAT(target, "%s/bin/vigil", made.dir);
	TEXT_FORMAT(path, "%s/proc/self/exe", made.dir);
	return symlink(target, path) | unsetenv("VIGIL_DATA_DIR");
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return unsetenv("VIGIL_DATA_DIR");
}

static int find(char dst[static PATH_MAX], char looked[static PATH_MAX])
{
	return datadir_find(&made.w, "rules", "no-such-source", "kernel.rules", dst, looked);
}

static void files_are_found_beside_the_program_s_folder(void **state)
{
	(void)state;
	char dst[PATH_MAX], looked[PATH_MAX], want[200];
	assert_int_equal(find(dst, looked), -ENOENT);
	TEXT_FORMAT(want, "%s/bin/../share/vigil/rules", made.dir);
	assert_string_equal(looked, want);
	made_folder(&made, "share/vigil/rules");
	assert_int_equal(find(dst, looked), -ENOENT); /* without the file it is not the folder */
	made_write(&made, "share/vigil/rules/kernel.rules", "", 0);
	assert_int_equal(find(dst, looked), 0);
	TEXT_FORMAT(want, "%s/share/vigil/rules", made.dir);
	assert_string_equal(dst, want);
}

static void the_data_folder_of_the_environment_is_the_only_one(void **state)
{
	(void)state;
	char dst[PATH_MAX], looked[PATH_MAX], data[200], want[220];
	made_folder(&made, "share/vigil/rules");
	made_write(&made, "share/vigil/rules/kernel.rules", "", 0);
	TEXT_FORMAT(data, "%s/data", made.dir);
	assert_int_equal(setenv("VIGIL_DATA_DIR", data, 1), 0);
	assert_int_equal(find(dst, looked), -ENOENT);
	TEXT_FORMAT(want, "%s/rules", data);
	assert_string_equal(looked, want);
	made_folder(&made, "data/rules");
	made_write(&made, "data/rules/kernel.rules", "", 0);
	assert_int_equal(find(dst, looked), 0);
	assert_string_equal(dst, want);
	assert_int_equal(setenv("VIGIL_DATA_DIR", "", 1), 0); /* empty: as if unset */
	assert_int_equal(find(dst, looked), 0);
	assert_non_null(strstr(dst, "share/vigil"));
}

static void a_program_outside_the_build_folder_uses_no_source_tree(void **state)
{
	(void)state;
	char dst[PATH_MAX], looked[PATH_MAX];
	assert_int_equal(datadir_find(&made.w, "rules", "rules", "kernel.rules", dst, looked), -ENOENT);
}

static void a_library_is_found_in_lib(void **state)
{
	(void)state;
	char dst[PATH_MAX], looked[PATH_MAX], want[200];
	assert_int_equal(datadir_library(&made.w, "libx.so", "preload", dst, looked), -ENOENT);
	made_folder(&made, "lib/vigil");
	made_write(&made, "lib/vigil/libx.so", "", 0);
	assert_int_equal(datadir_library(&made.w, "libx.so", "preload", dst, looked), 0);
	TEXT_FORMAT(want, "%s/lib/vigil/libx.so", made.dir);
	assert_string_equal(dst, want);
}

static void a_library_of_the_data_folder_comes_first(void **state)
{
	(void)state;
	char dst[PATH_MAX], looked[PATH_MAX], want[200];
	made_folder(&made, "lib/vigil");
	made_write(&made, "lib/vigil/libx.so", "", 0);
	made_folder(&made, "data");
	TEXT_FORMAT(want, "%s/data", made.dir);
	assert_int_equal(setenv("VIGIL_DATA_DIR", want, 1), 0);
	assert_int_equal(datadir_library(&made.w, "libx.so", "preload", dst, looked), 0);
	assert_non_null(strstr(dst, "/lib/vigil/"));
	made_write(&made, "data/libx.so", "", 0);
	assert_int_equal(datadir_library(&made.w, "libx.so", "preload", dst, looked), 0);
	assert_non_null(strstr(dst, "/data/libx.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_are_found_beside_the_program_s_folder, begin, end),
		cmocka_unit_test_setup_teardown(the_data_folder_of_the_environment_is_the_only_one, begin, end),
		cmocka_unit_test_setup_teardown(a_program_outside_the_build_folder_uses_no_source_tree, begin, end),
		cmocka_unit_test_setup_teardown(a_library_is_found_in_lib, begin, end),
		cmocka_unit_test_setup_teardown(a_library_of_the_data_folder_comes_first, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
