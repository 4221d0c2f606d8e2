#include "testing.h"
#include "world_fixture.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "sense/native/perfmap.h"

static const char *name_at(const struct perfmap *m, uint64_t addr)
{
	const char *name;
	uint64_t start;
	return perfmap_find(m, addr, &name, &start) ? name : "-";
}

static void lines_are_start_size_and_a_name_that_may_hold_blanks(void **state)
{
	(void)state;
	struct perfmap m;
	const char text[] = "7f00000010 20 py::main:/home/me/my train.py\n"
			    "0x7f00000040 0x8 LazyCompile:~f a.js:1\r\n"
			    "zz 10 bad\n"
			    "7f00000050 0 empty\n"
			    "7f00000060 10\n"
			    "ffffffffffffff00 1000 over the end\n"
			    "12345678901234567 1 too many digits\n"
			    "7f00000070 10 still being writ";
	assert_int_equal(perfmap_parse(SPAN(text), &m), 0);
	assert_int_equal(m.n, 2);
	assert_string_equal(name_at(&m, 0x7f0000000f), "-");
	assert_string_equal(name_at(&m, 0x7f00000010), "py::main:/home/me/my train.py");
	assert_string_equal(name_at(&m, 0x7f0000002f), "py::main:/home/me/my train.py");
	assert_string_equal(name_at(&m, 0x7f00000030), "-");
	assert_string_equal(name_at(&m, 0x7f00000047), "LazyCompile:~f a.js:1");
	assert_string_equal(name_at(&m, 0x7f00000070), "-");
	assert_string_equal(name_at(&m, UINT64_MAX), "-");
	perfmap_done(&m);
	assert_int_equal(perfmap_parse((struct span){NULL, 0}, &m), 0);
	assert_string_equal(name_at(&m, 1), "-");
	perfmap_done(&m);
}

static void later_lines_win_where_they_overlap(void **state)
{
	(void)state;
	struct perfmap m;
	const char text[] = "1000 100 first\n"
			    "1000 100 second\n"
			    "1080 10 within\n"
			    "10c0 80 over its end\n"
			    "1100 20 late\n"
			    "10f8 10 latest\n";
	assert_int_equal(perfmap_parse(SPAN(text), &m), 0);
	assert_string_equal(name_at(&m, 0x1000), "second");
	assert_string_equal(name_at(&m, 0x1085), "within");
	assert_string_equal(name_at(&m, 0x1090), "second");
	assert_string_equal(name_at(&m, 0x10c0), "over its end");
	assert_string_equal(name_at(&m, 0x10f9), "latest");
	assert_string_equal(name_at(&m, 0x1107), "latest");
	assert_string_equal(name_at(&m, 0x1108), "late");
	assert_string_equal(name_at(&m, 0x1130), "over its end");
	perfmap_done(&m);
}

static char map_path[64];

static void map_write(const char *text)
{
	assert_int_equal(file_replace(map_path, text, strlen(text), 0600), 0);
}

/* The rows as they are now, not as of the last look. */
static int refresh_now(struct perfmap *m, const struct world *w, pid_t pid)
{
	m->mono_next_ns = 0;
	return perfmap_refresh(m, w, pid);
}

static void the_file_is_read_again_when_it_has_grown(void **state)
{
	(void)state;
	struct world w = live_world();
	struct perfmap m = {};
	TEXT_FORMAT(map_path, "/tmp/perf-%d.map", getpid());
	unlink(map_path);
	assert_int_equal(refresh_now(&m, &w, getpid()), WORLD_ABSENT);
	map_write("1000 10 one\n");
	assert_int_equal(refresh_now(&m, &w, getpid()), 0);
	assert_string_equal(name_at(&m, 0x1000), "one");
	map_write("1000 10 one\n2000 10 two\n");
	assert_int_equal(perfmap_refresh(&m, &w, getpid()), 0); /* too soon to look again */
	assert_string_equal(name_at(&m, 0x2000), "-");
	assert_int_equal(refresh_now(&m, &w, getpid()), 0);
	assert_string_equal(name_at(&m, 0x2000), "two");
	unlink(map_path);
	assert_int_equal(refresh_now(&m, &w, getpid()), WORLD_ABSENT);
	assert_string_equal(name_at(&m, 0x2000), "two");
	perfmap_done(&m);
	fixture_close(&w);
}

static void a_link_a_fifo_and_a_strangers_file_are_not_believed(void **state)
{
	(void)state;
	struct world w = live_world();
	struct perfmap m = {};
	char real[] = "/tmp/vigil-map-XXXXXX";
	int fd = mkstemp(real);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, "1000 10 one\n", 12), 0);
	close(fd);
	TEXT_FORMAT(map_path, "/tmp/perf-%d.map", getpid());
	unlink(map_path);
	assert_int_equal(symlink(real, map_path), 0);
	assert_int_equal(refresh_now(&m, &w, getpid()), WORLD_ABSENT);
	unlink(map_path);
	assert_int_equal(mkfifo(map_path, 0600), 0);
	assert_int_equal(refresh_now(&m, &w, getpid()), WORLD_ABSENT);
	unlink(map_path);
	map_write("1000 10 one\n");
	if (chown(map_path, 12345, 12345) == 0)
		assert_int_equal(refresh_now(&m, &w, getpid()), WORLD_ABSENT);
	else
		print_message("# not root: the owner of a file cannot be changed\n");
	unlink(map_path);
	unlink(real);
	perfmap_done(&m);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_start_size_and_a_name_that_may_hold_blanks),
		cmocka_unit_test(later_lines_win_where_they_overlap),
		cmocka_unit_test(the_file_is_read_again_when_it_has_grown),
		cmocka_unit_test(a_link_a_fifo_and_a_strangers_file_are_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
