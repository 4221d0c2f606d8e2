#include "testing.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/units.h"
#include "sense/rank.h"
#include "tell/jobs/bulklife.h"

static char path[64];
static struct series_writer *writer;
static char *text;
static struct bulklife *list;
static size_t n;

static int begin(void **state)
{
	(void)state;
	TEXT_COPY(path, "/tmp/bulklifeXXXXXX");
	int fd = mkstemp(path);
	closep(&fd);
	list = NULL;
	n = 0;
	return fd == -1 ? series_create(path, SERIES_MAX_BYTES, &writer) : -1;
}

static int end(void **state)
{
	(void)state;
	writer = series_close(writer);
	free(text);
	free(list);
	text = NULL;
	list = NULL;
	return unlink(path);
}

static struct span written(void)
{
	size_t len;
	assert_int_equal(series_flush(writer), 0);
	free(text);
	assert_int_equal(file_slurp(AT_FDCWD, path, 1 << 22, &text, &len), 0);
	return (struct span){text, len};
}

/* A look at second s: a and b are MiB of processes 10 and 20; 0: it is not there. */
static void look(int64_t s, uint64_t start_of_10, uint64_t a, uint64_t b)
{
	struct series_bulk row = {.time_unix_ms = s * 1000, .mono_ns = (uint64_t)s * NS_PER_S};
	if (a > 0)
		row.of[row.n++] = (struct series_bulk_process){10, start_of_10, a * MIB};
	if (b > 0)
		row.of[row.n++] = (struct series_bulk_process){20, 5, b * MIB};
	assert_int_equal(series_add_bulk(writer, &row), 0);
}

static void named(pid_t pid, uint64_t start_ticks, const char *role, const char *name)
{
	struct series_process p = {.pid = pid, .start_ticks = start_ticks, .rank = NO_RANK};
	TEXT_COPY(p.role, role);
	TEXT_COPY(p.name, name);
	assert_int_equal(series_add_process(writer, &p), 0);
}

static void each_process_is_told_once_with_the_most_it_had(void **state)
{
	(void)state;
	look(1, 5, 30, 90);
	look(2, 5, 50, 0);
	look(3, 5, 40, 80);
	look(4, 6, 20, 80); /* another process with the number of the first */
	assert_int_equal(bulklife_read(written(), INT64_MIN, INT64_MAX, &list, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(bulklife_find(list, n, 10, 5)->peak_own_bytes, 50 * MIB);
	assert_int_equal(bulklife_find(list, n, 10, 6)->peak_own_bytes, 20 * MIB);
	assert_int_equal(bulklife_find(list, n, 20, 5)->peak_own_bytes, 90 * MIB);
	assert_null(bulklife_find(list, n, 20, 6));
	assert_null(bulklife_find(NULL, 0, 20, 5));
	assert_int_equal(bulklife_largest(list, n, 2), 2);
	assert_int_equal(list[0].pid, 20);
	assert_int_equal(list[1].start_ticks, 5);
}

static void only_the_time_that_is_asked_for_counts(void **state)
{
	(void)state;
	look(1, 5, 900, 0);
	look(2, 5, 50, 60);
	look(3, 5, 0, 900);
	assert_int_equal(bulklife_read(written(), 2000, 2000, &list, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(bulklife_find(list, n, 10, 5)->peak_own_bytes, 50 * MIB);
	assert_int_equal(bulklife_find(list, n, 20, 5)->peak_own_bytes, 60 * MIB);
}

static void names_are_the_last_ones_of_that_very_process(void **state)
{
	(void)state;
	struct bulklife of[] = {{.pid = 10, .start_ticks = 5}, {.pid = 20, .start_ticks = 5}};
	named(10, 5, "other", "sh");
	named(10, 4, "worker", "stranger");
	named(10, 5, "main", "python3");
	bulklife_name(written(), of, 2);
	assert_string_equal(of[0].name, "python3");
	assert_string_equal(of[0].role, "main");
	cleanup(js_freep) struct js *known = bulklife_json(&of[0]), *unknown = bulklife_json(&of[1]);
	assert_string_equal(js_get_text(known, "role", ""), "main");
	assert_int_equal(js_get_i64(known, "start_ticks", 0), 5);
	assert_null(js_get(unknown, "name"));
	assert_int_equal(js_get_i64(unknown, "pid", 0), 20);
}

static void a_text_that_is_no_series_has_none(void **state)
{
	(void)state;
	struct bulklife one = {.pid = 1};
	assert_int_equal(bulklife_read((struct span){"no", 2}, INT64_MIN, INT64_MAX, &list, &n), 0);
	assert_int_equal(n, 0);
	bulklife_name((struct span){"no", 2}, &one, 1);
	assert_string_equal(one.name, "");
	const struct series_bulk none = {.n = 0};
	assert_null(bulklife_at(&none, &one));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_process_is_told_once_with_the_most_it_had),
		TEST(only_the_time_that_is_asked_for_counts),
		TEST(names_are_the_last_ones_of_that_very_process),
		TEST(a_text_that_is_no_series_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
