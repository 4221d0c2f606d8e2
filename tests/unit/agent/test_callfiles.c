#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/stacks/callfiles.h"
#include "base/buf.h"
#include "base/file.h"
#include "sense/rank.h"

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	TEXT_COPY(dir, "/tmp/vigil-callfiles-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	cleanup(call_sources_done) struct call_sources s = {.items = NULL};
	if (callfiles_add_dir(&s, dir) == 0)
		for (size_t i = 0; i < s.n; i++) {
			char path[600];
			(void)unlink(s.items[i].path);
			TEXT_FORMAT(path, "%.*s.json", (int)(strlen(s.items[i].path) - 5), s.items[i].path);
			(void)unlink(path);
		}
	(void)rmdir(dir);
	return 0;
}

static void put(const char *name, const void *bytes, size_t len)
{
	char path[600];
	TEXT_FORMAT(path, "%s/%s", dir, name);
	assert_int_equal(file_replace(path, bytes, len, 0644), 0);
}

static void put_profile(const char *name, size_t cut)
{
	cleanup(freep) char *bytes = NULL;
	size_t len;
	assert_int_equal(file_slurp(AT_FDCWD, FIXTURES "/profiles/small.prof", 1 << 20, &bytes, &len), 0);
	put(name, bytes, cut ? cut : len);
}

static void put_note(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

static struct call_sources gathered(void)
{
	struct call_sources s = {.items = NULL};
	assert_int_equal(callfiles_add_dir(&s, dir), 0);
	callfiles_sort(&s);
	return s;
}

static uint64_t calls_of(struct call_sources *s, int32_t rank, uint32_t *ret_parts)
{
	cleanup(calls_freep) struct calls *c = NULL;
	int r = callfiles_read(s, rank, &c);
	if (r == CALLFILES_NOTHING)
		return 0;
	assert_int_equal(r, 0);
	*ret_parts = calls_parts(c);
	return calls_total(c).n_calls;
}

enum { SMALL = 1973 + 1 + 7 };

static void files_of_one_rank_are_one_part(void **state)
{
	(void)state;
	uint32_t parts = 0;
	put_profile("rank-1.pid-30.start-3.prof", 0);
	put_profile("rank-0.pid-10.start-2.prof", 0);
	put_profile("rank-0.pid-11.start-1.prof", 0);
	cleanup(call_sources_done) struct call_sources s = gathered();
	assert_int_equal(s.n, 3);
	assert_int_equal(s.items[0].pid, 11); /* the earlier one of rank 0 */
	assert_int_equal(s.items[2].rank, 1);
	assert_int_equal(calls_of(&s, CALLFILES_ALL, &parts), 3 * SMALL);
	assert_int_equal(parts, 2);
	assert_int_equal(calls_of(&s, 0, &parts), 2 * SMALL);
	assert_int_equal(parts, 1);
	assert_int_equal(calls_of(&s, 5, &parts), 0);
}

static void without_ranks_each_process_is_a_part(void **state)
{
	(void)state;
	uint32_t parts = 0;
	put_profile("rank-none.pid-10.start-2.prof", 0);
	put_profile("rank-none.pid-11.start-2.prof", 0);
	cleanup(call_sources_done) struct call_sources s = gathered();
	assert_int_equal(s.items[0].rank, NO_RANK);
	assert_int_equal(calls_of(&s, CALLFILES_ALL, &parts), 2 * SMALL);
	assert_int_equal(parts, 2);
}

static void a_damaged_file_counts_for_nothing_and_is_named(void **state)
{
	(void)state;
	uint32_t parts = 0;
	put_profile("rank-0.pid-10.start-1.prof", 0);
	put_profile("rank-1.pid-11.start-1.prof", 200);
	put_profile("rank-2.pid-12.start-1.prof", 0);
	cleanup(call_sources_done) struct call_sources s = gathered();
	assert_int_equal(calls_of(&s, CALLFILES_ALL, &parts), 2 * SMALL);
	assert_int_equal(parts, 2);
	assert_non_null(strstr(s.items[1].fault, "cut off after 200 bytes"));
	assert_string_equal(s.items[0].fault, "");
	assert_string_equal(s.items[2].fault, "");
}

static void the_note_beside_says_who_it_was(void **state)
{
	(void)state;
	put_profile("rank-none.pid-10.start-5.prof", 0);
	put_note("rank-none.pid-10.start-5.json",
		 "{\"pid\": 10, \"rank\": 7, \"role\": \"fork\", \"python\": \"3.13.0\", \"complete\": true, "
		 "\"argv\": [\"python\", \"train.py\"], \"process\": \"Process-1\"}");
	put_note("rank-none.pid-11.start-5.json", "{\"pid\": 11, \"aside\": \"uses cProfile itself\"}");
	put_note("rank-none.pid-12.start-5.json", "not JSON");
	cleanup(call_sources_done) struct call_sources s = gathered();
	assert_int_equal(s.n, 2);
	const struct call_source *ten = &s.items[1];
	assert_int_equal(ten->rank, 7);
	assert_string_equal(ten->command, "python train.py");
	assert_string_equal(ten->process, "Process-1");
	assert_true(ten->complete);
	assert_false(s.items[0].has_profile);
	assert_string_equal(s.items[0].aside, "uses cProfile itself");
	put("rank-none.pid-12.start-5.prof", "", 0); /* so that it is tidied away */
}

static void what_is_not_a_file_is_passed_over(void **state)
{
	(void)state;
	char path[600];
	uint32_t parts;
	TEXT_FORMAT(path, "%s/rank-0.pid-1.start-1.prof", dir);
	assert_int_equal(mkfifo(path, 0600), 0); /* opening one waits for a writer */
	cleanup(call_sources_done) struct call_sources s = gathered();
	assert_int_equal(calls_of(&s, CALLFILES_ALL, &parts), 0);
	assert_non_null(strstr(s.items[0].fault, "nvalid"));
}

static void a_missing_folder_is_said(void **state)
{
	(void)state;
	cleanup(call_sources_done) struct call_sources s = {.items = NULL};
	assert_int_equal(callfiles_add_dir(&s, "/tmp/vigil-no-such-folder"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_of_one_rank_are_one_part, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(without_ranks_each_process_is_a_part, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(a_damaged_file_counts_for_nothing_and_is_named, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(the_note_beside_says_who_it_was, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(what_is_not_a_file_is_passed_over, make_dir, remove_dir),
		cmocka_unit_test(a_missing_folder_is_said),
	};
	return cmocka_run_group_tests_name("agent/stacks/callfiles", tests, NULL, NULL);
}
