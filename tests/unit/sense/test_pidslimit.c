#include "agent/made_world.h"

#include "sense/memory/pidslimit.h"

static struct made_world made;

static void group(const char *path, const char *max, const char *current, const char *events)
{
	char file[200];
	TEXT_FORMAT(file, "cgroup/%s", path);
	made_folder(&made, file);
	TEXT_FORMAT(file, "cgroup/%s/pids.max", path);
	made_write(&made, file, max, strlen(max));
	TEXT_FORMAT(file, "cgroup/%s/pids.current", path);
	made_write(&made, file, current, strlen(current));
	TEXT_FORMAT(file, "cgroup/%s/pids.events", path);
	if (events)
		made_write(&made, file, events, strlen(events));
}

static void the_limit_that_is_nearest_is_told_and_refusals_are_added(void **state)
{
	(void)state;
	struct pidslimit l;
	struct cgroup_place place = {.pids = "pids/a/b"};
	made_begin(&made);
	group("pids/a", "100\n", "99\n", "max 3\n");
	group("pids/a/b", "max\n", "40\n", "max 2\n");
	assert_int_equal(pidslimit_read(&made.w, &place, &l), 0);
	assert_string_equal(l.group, "pids/a");
	assert_int_equal(l.max, 100);
	assert_int_equal(l.current, 99);
	assert_true(l.has_refused);
	assert_int_equal(l.refused, 5);
	group("pids/a/b", "40\n", "40\n", "max 2\n");
	assert_int_equal(pidslimit_read(&made.w, &place, &l), 0);
	assert_string_equal(l.group, "pids/a/b");
	made_end(&made);
}

static void no_limit_and_no_hierarchy_are_told_apart(void **state)
{
	(void)state;
	struct pidslimit l;
	struct cgroup_place place = {.pids = ""};
	made_begin(&made);
	assert_int_equal(pidslimit_read(&made.w, &place, &l), WORLD_ABSENT);
	TEXT_COPY(place.pids, "pids");
	assert_int_equal(pidslimit_read(&made.w, &place, &l), WORLD_ABSENT);
	group("pids", "max", "7", NULL);
	assert_int_equal(pidslimit_read(&made.w, &place, &l), 0);
	assert_string_equal(l.group, "");
	assert_false(l.has_refused);
	made_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_that_is_nearest_is_told_and_refusals_are_added),
		cmocka_unit_test(no_limit_and_no_hierarchy_are_told_apart),
	};
	return cmocka_run_group_tests_name("sense/pidslimit", tests, NULL, NULL);
}
