#include "testing.h"

#include "model/jobs/job.h"
#include "tell/store/store_sql.h"

static void each_column_is_a_member_of_its_struct(void **state)
{
	(void)state;
	const struct {
		const struct table *table;
		size_t bytes;
	} all[] = {{&store_job_table, sizeof(struct job)},
		   {&store_process_table, sizeof(struct job_process)},
		   {&store_event_table, sizeof(struct job_event)}};
	static const size_t sizes[] = {[COLUMN_BOOL] = sizeof(bool),    [COLUMN_I32] = 4, [COLUMN_U32] = 4,
				       [COLUMN_I64] = 8, [COLUMN_U64] = 8, [COLUMN_STATE] = sizeof(enum job_state)};
	for (size_t t = 0; t < ARRAY_SIZE(all); t++)
		for (size_t i = 0; i < all[t].table->n; i++) {
			const struct column *c = &all[t].table->columns[i];
			assert_true(c->offset + c->size <= all[t].bytes);
			if (c->type != COLUMN_TEXT)
				assert_int_equal(c->size, sizes[c->type]);
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(c->name, all[t].table->columns[k].name);
		}
}

static void every_column_is_made_by_a_migration(void **state)
{
	(void)state;
	const struct table *all[] = {&store_job_table, &store_process_table, &store_event_table};
	for (size_t t = 0; t < ARRAY_SIZE(all); t++)
		for (size_t i = 0; i < all[t]->n; i++) {
			char want[80];
			bool found = false;
			TEXT_FORMAT(want, " %s ", all[t]->columns[i].name);
			for (size_t m = 0; m < STORE_SCHEMA; m++)
				found |= strstr(store_migrations[m], want) != NULL;
			if (!found)
				fail_msg("no migration makes %s.%s", all[t]->name, all[t]->columns[i].name);
		}
}

static void the_text_of_a_statement_has_one_parameter_a_column(void **state)
{
	(void)state;
	static const struct column columns[] = {
		{.name = "id", .key = true}, {.name = "part", .key = true}, {.name = "value"}, {.name = "more"}};
	const struct table t = {"thing", columns, ARRAY_SIZE(columns)};
	char text[400];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	store_sql_put(&t, &b);
	assert_string_equal(
		text, "INSERT INTO thing(id,part,value,more) VALUES(?1,?2,?3,?4) ON CONFLICT(id,part) DO UPDATE SET "
		      "value=excluded.value,more=excluded.more");
	buf_reset(&b);
	store_sql_select(&t, &b);
	assert_string_equal(text, "SELECT id,part,value,more FROM thing ");
}

static void an_events_number_is_the_last_column(void **state)
{
	(void)state;
	assert_string_equal(store_event_table.columns[store_event_table.n - 1].name, "seq");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_column_is_a_member_of_its_struct),
		cmocka_unit_test(every_column_is_made_by_a_migration),
		cmocka_unit_test(the_text_of_a_statement_has_one_parameter_a_column),
		cmocka_unit_test(an_events_number_is_the_last_column),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
