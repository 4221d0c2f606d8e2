#include "testing.h"

#include <stdio.h>

#include "agent/made_world.h"
#include "cli/heap/heap_save.h"

static struct made_world made;
static struct heapset *set;
static struct fault fault;
static size_t n_saved;

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	made_folder(&made, "from");
	set = heapset_new(HEAPSET_SAMPLED);
	fault = (struct fault){.text = ""};
	n_saved = 99;
	return set ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	set = heapset_free(set);
	made_end(&made);
	return 0;
}

/* A process whose profile is a file with that text; NULL: it has none. */
static void add(int32_t rank, uint32_t side, const char *name, const char *text)
{
	struct heapset_process p = {.pid = 800 + rank, .rank = rank, .side = side, .device = -1, .seconds = 1};
	uint32_t id;
	char path[64];
	if (name)
		TEXT_FORMAT(p.file, "%s/from/%s", made.dir, name);
	if (text) {
		TEXT_FORMAT(path, "from/%s", name);
		made_write(&made, path, text, strlen(text));
	}
	assert_int_equal(heapset_process_add(set, &p, &id), 0);
}

static int save(const struct heapset_want *want, const char *to)
{
	char path[200];
	TEXT_FORMAT(path, "%s/%s", made.dir, to);
	return heap_save(&made.w, set, want, path, &n_saved, &fault);
}

static void assert_file(const char *name, const char *text)
{
	char path[200], got[64];
	size_t len;
	TEXT_FORMAT(path, "%s/%s", made.dir, name);
	assert_int_equal(file_read_at(AT_FDCWD, path, got, sizeof(got), &len), 0);
	assert_string_equal(got, text);
}

static bool is_there(const char *name)
{
	char path[200];
	TEXT_FORMAT(path, "%s/%s", made.dir, name);
	return access(path, F_OK) == 0;
}

static void one_process_gives_a_file(void **state)
{
	(void)state;
	add(0, 0, "800.heap", "zero");
	assert_int_equal(save(&(struct heapset_want){.what = HEAPSET_LIVE}, "now.heap"), 0);
	assert_int_equal(n_saved, 1);
	assert_file("now.heap", "zero");
}

static void several_processes_give_a_folder(void **state)
{
	(void)state;
	add(0, 0, "800.heap", "zero");
	add(1, 0, "801.heap", "one");
	assert_int_equal(save(&(struct heapset_want){.what = HEAPSET_LIVE}, "now.heap"), 0);
	assert_int_equal(n_saved, 2);
	assert_file("now.heap/800.heap", "zero");
	assert_file("now.heap/801.heap", "one");
	assert_int_equal(save(&(struct heapset_want){.what = HEAPSET_LIVE}, "now.heap"), -EEXIST);
	assert_non_null(strstr(fault.text, "a folder for 2 profiles cannot be made: "));
}

static void only_the_rank_that_is_wanted_is_copied(void **state)
{
	(void)state;
	add(0, 0, "800.heap", "zero");
	add(1, 0, "801.heap", "one");
	add(1, 1, "before.heap", "other side");
	add(1, 0, NULL, NULL); /* its profile is of something else than a file */
	assert_int_equal(save(&(struct heapset_want){.what = HEAPSET_LIVE, .has_rank = true, .rank = 1}, "now.heap"),
			 0);
	assert_int_equal(n_saved, 1);
	assert_file("now.heap", "one");
}

static void a_set_without_profiles_is_refused(void **state)
{
	(void)state;
	assert_int_equal(save(&(struct heapset_want){.what = HEAPSET_LIVE}, "now.heap"), -EINVAL);
	assert_non_null(
		strstr(fault.text, "now.heap: only heap profiles are copied; other answers are written as json"));
	set = heapset_free(set);
	set = heapset_new(HEAPSET_TORCH);
	add(0, 0, "snapshot.pickle", "x");
	assert_int_equal(save(&(struct heapset_want){.what = HEAPSET_LIVE}, "now.heap"), -EINVAL);
	assert_false(is_there("now.heap"));
}

static void a_profile_that_is_gone_is_named(void **state)
{
	(void)state;
	add(0, 0, "800.heap", NULL);
	assert_int_equal(save(&(struct heapset_want){.what = HEAPSET_LIVE}, "now.heap"), -ENOENT);
	assert_non_null(strstr(fault.text, "/from/800.heap cannot be copied: No such file or directory"));
	assert_false(is_there("now.heap"));
}

#define SAVE_TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SAVE_TEST(one_process_gives_a_file),
		SAVE_TEST(several_processes_give_a_folder),
		SAVE_TEST(only_the_rank_that_is_wanted_is_copied),
		SAVE_TEST(a_set_without_profiles_is_refused),
		SAVE_TEST(a_profile_that_is_gone_is_named),
	};
	return cmocka_run_group_tests_name("cli/heap_save", tests, NULL, NULL);
}
