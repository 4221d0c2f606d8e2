/* Children of one process, compared with those of their own shape alone. */
#include "testing.h"

#include "agent/inspect/siblingrank.h"

static struct siblingrank_list l;

#define ADD(at, text) assert_true(siblingrank_add(&l, at, NULL, (struct span){(text), sizeof(text)}))

static void each_shape_is_numbered_by_itself(void **state)
{
	(void)state;
	l.n = 0;
	ADD(4, "train\0001\0002");
	ADD(5, "serve\0007");
	ADD(6, "train\0000\0002");
	ADD(7, "serve\0008");
	assert_true(siblingrank_number(&l, SPAN("")));
	assert_int_equal(l.of[0].world, 2);
	assert_int_equal(l.of[0].number, 1);
	assert_int_equal(l.of[2].number, 0);
	assert_int_equal(l.of[1].world, 0);
	assert_int_equal(l.of[3].world, 0);
	assert_int_equal(l.of[2].at, 6);
}

static void a_full_list_takes_no_more(void **state)
{
	(void)state;
	for (l.n = 0; l.n < SIBLINGS_MOST;)
		ADD(l.n, "train");
	assert_false(siblingrank_add(&l, 0, NULL, SPAN("train")));
	assert_false(siblingrank_number(&l, SPAN("")));
}

static void who_works_or_has_a_number_is_not_asked(void **state)
{
	(void)state;
	struct ownranks_process parent = {.pid = 10, .who = {.rank = NO_RANK, .role = ROLE_MAIN}};
	struct ownranks_process p = {.pid = 11, .ppid = 10, .who = {.rank = NO_RANK, .role = ROLE_HELPER}};
	assert_true(siblingrank_may_be(&p, &parent));
	p.ended = true;
	assert_false(siblingrank_may_be(&p, &parent));
	p.ended = false;
	p.who.rank = 1;
	assert_false(siblingrank_may_be(&p, &parent));
	p.who.rank = NO_RANK;
	p.who.role = ROLE_LOADER;
	assert_false(siblingrank_may_be(&p, &parent));
	p.who.forked = true; /* or started with its parent's words */
	assert_true(siblingrank_may_be(&p, &parent));
	parent.who.rank = 0; /* a rank starts helpers */
	assert_false(siblingrank_may_be(&p, &parent));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_shape_is_numbered_by_itself),
		cmocka_unit_test(a_full_list_takes_no_more),
		cmocka_unit_test(who_works_or_has_a_number_is_not_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
