/* The files of a heap folder: their names, and which are kept. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/heap/heapfolder.h"
#include "agent/heap/heapfiles.h"
#include "base/buf.h"
#include "preload/heapregion.h"

static void names_tell_who_wrote_them(void **state)
{
	(void)state;
	struct heapfile f;
	assert_int_equal(heapfile_parse(SPAN("812.4711.heap"), &f), 0);
	assert_int_equal(f.pid, 812);
	assert_int_equal(f.start_ticks, 4711);
	assert_int_equal(f.generation, 0);
	assert_false(f.is_off);
	assert_int_equal(heapfile_parse(SPAN("812.4711.3.heap"), &f), 0);
	assert_int_equal(f.generation, 3);
	assert_int_equal(heapfile_parse(SPAN("812.4711.off-3"), &f), 0);
	assert_true(f.is_off);
	static const char *const others[] = {
		"",	      "heap",	 "812.heap", "812.4711.heap.new",  "0.1.heap",	   "a.1.heap", "1.b.heap",
		"1.2.c.heap", "control", "warn",     "99999999999.1.heap", "1.2.3.4.heap", "."};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(heapfile_parse(span_of(others[i]), &f), -EINVAL);
}

static void profile_make(const char *dir, const char *name, uint64_t peak_bytes, uint64_t disk_bytes)
{
	char path[PATH_MAX];
	struct heap_header h = {.magic = HEAP_MAGIC, .live = {.bytes = peak_bytes}};
	TEXT_FORMAT(path, "%s/%s", dir, name);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &h, sizeof(h)), sizeof(h));
	assert_int_equal(fallocate(fd, 0, 0, (off_t)disk_bytes), 0);
	close(fd);
}

static bool is_there(const char *dir, const char *name)
{
	char path[PATH_MAX];
	TEXT_FORMAT(path, "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

/* No process of this world lives: all of them have ended. */
static void the_largest_of_ended_processes_are_kept(void **state)
{
	(void)state;
	char dir[] = "/tmp/vigil-heapfolder-XXXXXX";
	assert_non_null(mkdtemp(dir));
	const struct world nobody = {.proc_fd = open(dir, O_RDONLY | O_DIRECTORY), .recorded = true};
	struct heapfiles h = {.next_tidy_ns = 0};
	TEXT_COPY(h.folder, dir);
	profile_make(dir, "10.1.heap", 5 * MIB, 2 * MIB);
	profile_make(dir, "11.1.heap", 50 * MIB, 2 * MIB);
	profile_make(dir, "12.1.heap", 1 * MIB, 2 * MIB);
	profile_make(dir, "13.1.heap", 500 * MIB, 2 * MIB);
	heapfiles_tidy(&h, &nobody, 5 * MIB);
	assert_true(is_there(dir, "13.1.heap") && is_there(dir, "11.1.heap"));
	assert_false(is_there(dir, "10.1.heap") || is_there(dir, "12.1.heap"));
	char found[PATH_MAX];
	assert_int_equal(heapfiles_find(dir, 13, 1, false, found, sizeof(found)), 0);
	assert_non_null(strstr(found, "13.1.heap"));
	assert_int_equal(heapfiles_find(dir, 13, 2, false, found, sizeof(found)), WORLD_GONE);
	size_t n = 0;
	assert_int_equal(heapfiles_switch(dir, 65536, &n), 0);
	assert_int_equal(n, 2);
	assert_true(is_there(dir, "control"));
	heapfiles_tidy(&h, &nobody, 0);
	assert_false(is_there(dir, "13.1.heap"));
	close(nobody.proc_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_who_wrote_them),
		cmocka_unit_test(the_largest_of_ended_processes_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
