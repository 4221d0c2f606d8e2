/* The heap profiles of an attempt: which are kept, copied, found and switched. */
#include "scratch_fixture.h"

#include "agent/heap/heapfiles.h"
#include "preload/heapregion.h"

static void profile_put(const char *name, uint64_t live_bytes, uint64_t disk_bytes)
{
	struct heap_header h = {.magic = HEAP_MAGIC, .live = {.bytes = live_bytes}};
	const char *path = scratch_put(name, &h, sizeof(h), 0600);
	cleanup(closep) int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fallocate(fd, 0, 0, (off_t)disk_bytes), 0);
}

static struct heapfiles files_of(const char *folder)
{
	struct heapfiles h;
	heapfiles_begin(&h, folder);
	return h;
}

static struct world nobody(void)
{
	return (struct world){.proc_fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .recorded = true};
}

static void the_largest_of_ended_processes_are_kept(void **state)
{
	(void)state;
	struct world w = nobody();
	struct heapfiles h = files_of(scratch);
	profile_put("10.1.heap", 5 * MIB, 2 * MIB);
	profile_put("11.1.heap", 50 * MIB, 2 * MIB);
	profile_put("12.1.heap", 1 * MIB, 2 * MIB);
	profile_put("13.1.heap", 500 * MIB, 2 * MIB);
	heapfiles_tidy(&h, &w, 5 * MIB);
	assert_true(scratch_has("13.1.heap") && scratch_has("11.1.heap"));
	assert_false(scratch_has("10.1.heap") || scratch_has("12.1.heap"));
	heapfiles_tidy(&h, &w, 0);
	assert_false(scratch_has("13.1.heap") || scratch_has("11.1.heap"));
	close(w.proc_fd);
}

static void a_file_larger_than_the_budget_makes_room_for_smaller_ones(void **state)
{
	(void)state;
	struct world w = nobody();
	struct heapfiles h = files_of(scratch);
	profile_put("10.1.heap", 9 * MIB, 4 * MIB);
	profile_put("11.1.heap", 5 * MIB, 1 * MIB);
	heapfiles_tidy(&h, &w, 2 * MIB);
	assert_false(scratch_has("10.1.heap"));
	assert_true(scratch_has("11.1.heap"));
	close(w.proc_fd);
}

static void empty_files_with_reasons_are_few(void **state)
{
	(void)state;
	struct world w = nobody();
	struct heapfiles h = files_of(scratch);
	char name[32];
	size_t left = 0;
	for (int i = 1; i <= 260; i++) {
		TEXT_FORMAT(name, "%d.1.off-3", i);
		scratch_put(name, "", 0, 0600);
	}
	heapfiles_tidy(&h, &w, MIB);
	for (int i = 1; i <= 260; i++) {
		TEXT_FORMAT(name, "%d.1.off-3", i);
		left += scratch_has(name);
	}
	assert_int_equal(left, 256);
	close(w.proc_fd);
}

static void without_a_folder_nothing_is_ever_due(void **state)
{
	(void)state;
	struct heapfiles h = {.next_tidy_ns = 1};
	struct world w = nobody();
	assert_true(heapfiles_due_ns(&h) == UINT64_MAX);
	assert_true(heapfiles_copy_due_ns(&h) == UINT64_MAX);
	heapfiles_copy(&h, &w);
	assert_false(scratch_has("warn"));
	h = files_of(scratch);
	assert_true(heapfiles_due_ns(&h) > 0 && heapfiles_due_ns(&h) < UINT64_MAX);
	assert_int_equal(heapfiles_copy_due_ns(&h), 0);
	close(w.proc_fd);
}

static void the_running_processes_with_most_live_bytes_are_copied(void **state)
{
	(void)state;
	struct world w = live_world();
	struct heapfiles h = files_of(scratch);
	pid_t child[6];
	char name[6][48], warn[64], found[PATH_MAX];
	for (size_t i = 0; i < ARRAY_SIZE(child); i++) {
		child[i] = child_start();
		TEXT_FORMAT(name[i], "%d.%llu.heap", child[i], (unsigned long long)start_ticks_of(&w, child[i]));
		profile_put(name[i], (i + 1) * MIB, 4096);
	}
	profile_put("10.1.heap", 900 * MIB, 4096); /* has ended */
	heapfiles_copy(&h, &w);
	for (size_t i = 0; i < ARRAY_SIZE(child); i++) {
		TEXT_FORMAT(warn, "warn/%s", name[i]);
		assert_int_equal(scratch_has(warn), i >= 2);
	}
	assert_false(scratch_has("warn/10.1.heap"));
	assert_int_equal(h.last.live_bytes, 21 * MIB);
	uint64_t start = start_ticks_of(&w, child[5]);
	assert_int_equal(heapfiles_find(scratch, child[5], start, true, found, sizeof(found)), 0);
	TEXT_FORMAT(warn, "warn/%s", name[5]);
	assert_string_equal(found, scratch_path(warn));
	/* before it is due again nothing happens */
	h.last.took_ns = 1000 * NS_PER_S;
	assert_int_equal(unlink(found), 0);
	heapfiles_copy(&h, &w);
	assert_false(scratch_has(warn));
	/* a second copy takes the place of those that are not among the largest any more */
	h.last = (struct heapcopy){.copy_ns = 0};
	profile_put(name[0], 100 * MIB, 4096);
	heapfiles_copy(&h, &w);
	TEXT_FORMAT(warn, "warn/%s", name[2]);
	assert_false(scratch_has(warn));
	TEXT_FORMAT(warn, "warn/%s", name[0]);
	assert_true(scratch_has(warn));
	for (size_t i = 0; i < ARRAY_SIZE(child); i++)
		child_end(child[i]);
	fixture_close(&w);
}

static void the_youngest_image_of_a_process_is_found(void **state)
{
	(void)state;
	char found[PATH_MAX], tight[8];
	profile_put("13.7.heap", MIB, 4096);
	profile_put("13.7.1.heap", MIB, 4096);
	scratch_put("13.7.2.off-3", "", 0, 0600);
	assert_int_equal(heapfiles_find(scratch, 13, 7, false, found, sizeof(found)), 0);
	assert_string_equal(found, scratch_path("13.7.1.heap"));
	assert_int_equal(heapfiles_find(scratch, 13, 8, false, found, sizeof(found)), WORLD_GONE);
	assert_int_equal(heapfiles_find(scratch, 13, 7, true, found, sizeof(found)), WORLD_GONE);
	assert_int_equal(heapfiles_find("/nowhere", 13, 7, false, found, sizeof(found)), WORLD_GONE);
	assert_int_equal(heapfiles_find(scratch, 13, 7, false, tight, sizeof(tight)), WORLD_GONE);
}

static void a_switch_reaches_those_that_are_there_and_those_to_come(void **state)
{
	(void)state;
	size_t n = 9, len = 0;
	cleanup(freep) char *text = NULL;
	profile_put("13.7.heap", MIB, 4096);
	profile_put("14.7.heap", MIB, 4096);
	scratch_put("15.7.off-3", "", 0, 0600);
	cleanup(closep) int folder = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(heapfiles_switch(folder, NULL, 65536, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(file_slurp(AT_FDCWD, scratch_path("13.7.heap"), MIB, &text, &len), 0);
	struct heap_header h;
	memcpy(&h, text, sizeof(h));
	assert_int_equal(h.rate_bytes, 65536);
	assert_int_equal(h.live.bytes, MIB);
	cleanup(freep) char *control = NULL;
	struct heap_control c;
	assert_int_equal(file_slurp(AT_FDCWD, scratch_path("control"), MIB, &control, &len), 0);
	assert_int_equal(len, sizeof(c));
	memcpy(&c, control, sizeof(c));
	assert_int_equal(c.magic, HEAP_CONTROL_MAGIC);
	assert_int_equal(c.rate_bytes, 65536);
	assert_int_equal(heapfiles_switch(-1, NULL, 1, &n), -EBADF);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(the_largest_of_ended_processes_are_kept),
		IN_FOLDER(a_file_larger_than_the_budget_makes_room_for_smaller_ones),
		IN_FOLDER(empty_files_with_reasons_are_few),
		IN_FOLDER(without_a_folder_nothing_is_ever_due),
		IN_FOLDER(the_running_processes_with_most_live_bytes_are_copied),
		IN_FOLDER(the_youngest_image_of_a_process_is_found),
		IN_FOLDER(a_switch_reaches_those_that_are_there_and_those_to_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
