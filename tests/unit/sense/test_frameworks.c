#include "testing.h"

#include "sense/framework/frameworks.h"

static const char *of(struct span text)
{
	static char dst[FRAMEWORKS_TEXT];
	struct maps m;
	assert_int_equal(maps_parse(text, &m), 0);
	(void)frameworks_text(frameworks_of(&m), dst);
	maps_done(&m);
	return dst;
}

static void a_framework_is_known_by_its_library(void **state)
{
	(void)state;
	assert_string_equal(of(SPAN("1000-2000 r-xp 0 fd:01 7 /venv/torch/lib/libtorch_cpu.so\n")), "pytorch");
	assert_string_equal(of(SPAN("1000-2000 r-xp 0 fd:01 7 /x/libtensorflow_framework.so.2\n")), "tensorflow");
	assert_string_equal(of(SPAN("1000-2000 r-xp 0 fd:01 7 /x/jaxlib/xla_extension.so\n")), "jax");
}

static void several_are_all_named(void **state)
{
	(void)state;
	assert_string_equal(of(SPAN("1000-2000 r-xp 0 fd:01 7 /x/ray/_raylet.so\n"
				    "3000-4000 r-xp 0 fd:01 8 /x/libtorch_python.so\n"
				    "5000-6000 r-xp 0 fd:01 9 /x/libtorch_cpu.so\n")),
			    "pytorch+ray");
}

static void other_files_and_memory_that_is_called_so_are_none(void **state)
{
	(void)state;
	assert_string_equal(of(SPAN("1000-2000 r-xp 0 fd:01 7 /usr/lib/libc.so.6\n"
				    "3000-4000 rw-p 0 00:00 0 [libtorch.so]\n"
				    "5000-6000 r--p 0 fd:01 9 /home/u/libtorch.so/weights.bin\n")),
			    "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_framework_is_known_by_its_library),
		cmocka_unit_test(several_are_all_named),
		cmocka_unit_test(other_files_and_memory_that_is_called_so_are_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
