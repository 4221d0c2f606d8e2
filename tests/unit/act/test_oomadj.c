#include "agent/made_world.h"

#include "act/oomadj.h"

static void value_is(const struct world *w, const char *want)
{
	char text[16];
	size_t len;
	assert_int_equal(file_read_at(w->proc_fd, "self/oom_score_adj", text, sizeof(text), &len), 0);
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, want, strlen(want)) != 0)
		fail_msg("\"%s\" instead of \"%s\"", text, want);
}

/* One test: the value is kept for the whole process. */
static void the_own_value_is_lowered_once_and_put_back(void **state)
{
	(void)state;
	struct made_world m;
	made_begin(&m);
	oomadj_restore(); /* nothing was lowered */
	assert_int_equal(oomadj_exempt_self(&m.w), -ENOENT);
	made_folder(&m, "proc/self");
	made_write(&m, "proc/self/oom_score_adj", "300\n", 4);
	oomadj_restore();
	value_is(&m.w, "300");
	assert_int_equal(oomadj_exempt_self(&m.w), 0);
	value_is(&m.w, "-1000");
	assert_int_equal(oomadj_exempt_self(&m.w), 0); /* does not take -1000 for the old value */
	oomadj_restore();
	value_is(&m.w, "300");
	made_end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_own_value_is_lowered_once_and_put_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
