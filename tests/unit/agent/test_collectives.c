/* What is known of a job's collectives, from files and from a running process. */
#include "scratch_fixture.h"

#include "agent/collective/collectives_parts.h"

#define DUMP(state)                                                                                                    \
	"{\"version\":\"2.4\",\"pg_config\":{\"0\":{\"name\":\"0\",\"desc\":\"default_pg\",\"ranks\":\"[0, 1]\"}},"    \
	"\"entries\":[{\"pg_id\":0,\"process_group\":[\"0\",\"default_pg\"],\"collective_seq_id\":1,\"op_id\":1,"      \
	"\"record_id\":0,\"profiling_name\":\"nccl:all_reduce\",\"state\":\"" state "\",\"time_created_ns\":1}]}"

static const struct collective_rank *rank_of(const struct collectives *c, int32_t rank)
{
	for (size_t i = 0; i < c->set->n_ranks; i++)
		if (c->set->ranks[i].rank == rank)
			return &c->set->ranks[i];
	return NULL;
}

static void dumps_are_read_by_the_number_in_their_names(void **state)
{
	(void)state;
	struct collectives c;
	scratch_put("nccl_trace_rank_0", DUMP("started"), strlen(DUMP("started")), 0600);
	scratch_put("README", "not a dump", 10, 0600);
	char *paths[] = {scratch};
	assert_int_equal(collectives_of_files(paths, 1, &c), 0);
	assert_int_equal(c.n_read, 1);
	assert_int_equal(c.n_notes, 0);
	assert_int_equal(c.set->n_calls, 1);
	assert_int_equal(rank_of(&c, 0)->sources, COLLECTIVE_FLIGHTREC);
	/* a member of the group of which there is no dump */
	assert_non_null(rank_of(&c, 1));
	assert_int_equal(rank_of(&c, 1)->sources, 0);
	assert_string_equal(rank_of(&c, 1)->why, "no dump of it was given");
	collectives_done(&c);
}

static void what_cannot_be_read_is_said(void **state)
{
	(void)state;
	struct collectives c;
	char folder[80], none[80], unnamed[80], foreign[80];
	TEXT_COPY(folder, scratch_path("empty"));
	assert_int_equal(mkdir(folder, 0700), 0);
	TEXT_COPY(none, scratch_path("none_3"));
	TEXT_COPY(unnamed, scratch_put("dump", DUMP("completed"), strlen(DUMP("completed")), 0600));
	TEXT_COPY(foreign, scratch_put("text_4", "hello", 5, 0600));
	char *paths[] = {folder, none, unnamed, foreign};
	assert_int_equal(collectives_of_files(paths, 4, &c), 0);
	assert_int_equal(c.n_read, 0);
	assert_int_equal(c.n_notes, 4);
	assert_non_null(strstr(c.note[0], "no file in it has a name that ends in the number of a rank"));
	assert_non_null(strstr(c.note[1], "none_3: No such file or directory"));
	assert_non_null(strstr(c.note[2], "its name does not end in the number of a rank"));
	assert_non_null(strstr(c.note[3], "neither a pickle"));
	collectives_done(&c);
}

static void notes_beyond_the_last_are_counted_as_more(void **state)
{
	(void)state;
	static struct collectives c;
	for (int i = 0; i < COLLECTIVES_NOTES + 3; i++)
		collectives_note(&c, "note %d", i);
	assert_int_equal(c.n_notes, COLLECTIVES_NOTES);
	assert_string_equal(c.note[0], "note 0");
	assert_string_equal(c.note[COLLECTIVES_NOTES - 1], "and more that could not be read");
}

static void a_process_without_nccl_is_not_asked(void **state)
{
	(void)state;
	struct world w = live_world();
	struct collectives c;
	pid_t pid = child_start();
	const struct collectives_rank rank = {.rank = 0, .pid = pid};
	struct collectives_want want = {.ranks = &rank, .n_ranks = 1, .only_if_used = true, .ask_dumps = true};
	assert_int_equal(collectives_of_job(&w, &want, &c), 0);
	assert_int_equal(c.n_read, 0);
	assert_int_equal(c.n_notes, 0);
	assert_int_equal(c.set->n_ranks, 0);
	collectives_done(&c);
	want = (struct collectives_want){.ranks = &rank, .n_ranks = 1, .no_ras = true};
	assert_int_equal(collectives_of_job(&w, &want, &c), 0);
	assert_int_equal(c.set->n_ranks, 1);
	assert_non_null(strstr(c.set->ranks[0].why, "no Flight Recorder dump and no ring"));
	collectives_done(&c);
	child_end(pid);
	fixture_close(&w);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(dumps_are_read_by_the_number_in_their_names),
		IN_FOLDER(what_cannot_be_read_is_said),
		cmocka_unit_test(notes_beyond_the_last_are_counted_as_more),
		cmocka_unit_test(a_process_without_nccl_is_not_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
