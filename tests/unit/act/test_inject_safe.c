/* Where a library may be loaded: frames as they are met in real programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "act/inject/inject_parts.h"

#define LIBC "libc.so.6"
#define PYTHON "python3.11"

static const char *const jemalloc[] = {"/usr/lib/libjemalloc.so.2"};

static struct inject_frame frame(const char *file, const char *name)
{
	return (struct inject_frame){.file = file, .path = file, .name = name};
}

static bool safe(const struct inject_frame *f, size_t n, int64_t nr, uint64_t op, uint64_t value)
{
	return inject_is_safe(f, n, true, nr, op, value, jemalloc, 1);
}

static void a_sleeping_thread_is_safe(void **state)
{
	(void)state;
	const struct inject_frame f[] = {
		frame(LIBC, "clock_nanosleep"),	  frame(PYTHON, ""),	  frame(PYTHON, ""), frame(LIBC, ""),
		frame(LIBC, "__libc_start_main"), frame(PYTHON, "_start")};
	assert_true(safe(f, 6, SYS_clock_nanosleep, 0, 0));
	assert_false(inject_is_safe(f, 6, false, SYS_clock_nanosleep, 0, 0, jemalloc, 1)); /* who knows what is above */
	assert_false(safe(f, 0, SYS_clock_nanosleep, 0, 0));
}

static void malloc_anywhere_on_the_stack_is_not(void **state)
{
	(void)state;
	const struct inject_frame f[] = {frame(LIBC, ""), frame(LIBC, "malloc"), frame(PYTHON, ""), frame(LIBC, ""),
					 frame(PYTHON, "_start")};
	assert_false(safe(f, 5, SYS_read, 0, 0));
	assert_false(safe(f, 5, -1, 0, 0));
	const struct inject_frame other[] = {
		frame(PYTHON, "read_it"),
		{.file = "libjemalloc.so.2", .path = "/usr/lib/libjemalloc.so.2", .name = "x"},
		frame(PYTHON, "_start")};
	assert_false(safe(other, 3, -1, 0, 0));
}

static void the_loader_fork_and_exit_are_not(void **state)
{
	(void)state;
	static const char *const names[] = {"fork",   "pthread_create",	 "exit",
					    "dlopen", "dl_iterate_phdr", "__cxa_finalize"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct inject_frame f[] = {frame(LIBC, "read"), frame(LIBC, names[i]), frame(PYTHON, ""),
						 frame(PYTHON, ""), frame(PYTHON, "")};
		assert_false(safe(f, 5, SYS_read, 0, 0));
	}
	const struct inject_frame f[] = {frame("ld-linux-x86-64.so.2", ""), frame(PYTHON, ""), frame(PYTHON, "_start")};
	assert_false(safe(f, 3, SYS_read, 0, 0));
}

static void calls_that_malloc_makes_are_not(void **state)
{
	(void)state;
	const struct inject_frame f[] = {frame(LIBC, ""), frame(PYTHON, ""), frame(PYTHON, ""),
					 frame(PYTHON, "_start")};
	static const int64_t calls[] = {SYS_brk, SYS_mmap, SYS_munmap, SYS_madvise, SYS_mprotect, SYS_mremap};
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_false(safe(f, 4, calls[i], 0, 0));
	assert_false(safe(f, 4, SYS_futex, 128, 2)); /* a lock of libc that somebody holds */
	assert_true(safe(f, 4, SYS_futex, 0x189, 0)); /* a condition */
}

static void a_running_thread_is_safe_outside_of_libc_only(void **state)
{
	(void)state;
	const struct inject_frame own[] = {frame(PYTHON, ""), frame(PYTHON, ""), frame(LIBC, ""),
					   frame(LIBC, "__libc_start_main")};
	const struct inject_frame libc[] = {frame(LIBC, "memcpy"), frame(PYTHON, ""), frame(PYTHON, ""),
					    frame(PYTHON, "")};
	const struct inject_frame inner[] = {frame(PYTHON, "compare"), frame(LIBC, ""), frame(PYTHON, ""),
					     frame(PYTHON, ""), frame(PYTHON, "_start")};
	assert_true(safe(own, 4, -1, 0, 0));
	assert_false(safe(libc, 4, -1, 0, 0));
	assert_false(safe(inner, 5, -1, 0, 0)); /* in libc, called from it, and nobody knows from which function */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleeping_thread_is_safe),
		cmocka_unit_test(malloc_anywhere_on_the_stack_is_not),
		cmocka_unit_test(the_loader_fork_and_exit_are_not),
		cmocka_unit_test(calls_that_malloc_makes_are_not),
		cmocka_unit_test(a_running_thread_is_safe_outside_of_libc_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
