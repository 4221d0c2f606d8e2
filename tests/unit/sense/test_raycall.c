/* What a Ray worker's main thread does, by its frames; waits in ray.get() are tests/frameworks' (a real Ray). */
#include "testing.h"

#include "base/buf.h"
#include "sense/pylib/raycall.h"

#define RAY "/usr/lib/python3/site-packages/ray/_private/"

static char words[8][128];
static struct pycode code[4];
static struct pyframe frame[4];

/* Frames from within outwards: name and file by turns, NULL at the end. */
static enum raycall_work work_of(const char *const *text)
{
	size_t n = 0;
	for (; text[2 * n]; n++) {
		TEXT_COPY(words[2 * n], text[2 * n]);
		TEXT_COPY(words[2 * n + 1], text[2 * n + 1]);
		code[n] = (struct pycode){.name = words[2 * n], .file = words[2 * n + 1]};
		frame[n] = (struct pyframe){.known = &code[n]};
	}
	return raycall_work_of(frame, n);
}

#define WORK_OF(...) work_of((const char *const[]){__VA_ARGS__, NULL})
#define LOOP "Worker.main_loop", RAY "worker.py"

static void a_worker_in_its_loop_has_no_call(void **state)
{
	(void)state;
	assert_int_equal(WORK_OF(LOOP), RAYCALL_NONE);
	assert_int_equal(raycall_work_of(frame, 0), RAYCALL_NONE);
}

static void a_function_of_the_user_below_the_loop_is_a_task(void **state)
{
	(void)state;
	assert_int_equal(WORK_OF("nap", "/home/me/train.py", LOOP), RAYCALL_TASK);
}

static void a_method_is_an_actors(void **state)
{
	(void)state;
	assert_int_equal(WORK_OF("Sleeper.nap", "/home/me/train.py",
				 "FunctionActorManager._make_actor_method_executor.<locals>.actor_method_executor",
				 RAY "function_manager.py", LOOP),
			 RAYCALL_ACTOR);
}

static void who_waits_for_others_in_ray_get_does_not_work(void **state)
{
	(void)state;
	assert_int_equal(WORK_OF("Worker.get_objects", RAY "worker.py", "get", RAY "worker.py", "outer",
				 "/home/me/train.py", LOOP),
			 RAYCALL_NONE);
}

/* A program of its own with such names, or one whose code cannot be read, is no worker. */
static void without_rays_loop_nothing_is_a_call(void **state)
{
	(void)state;
	assert_int_equal(WORK_OF("nap", "/home/me/train.py", "main_loop", "/home/me/worker.py"), RAYCALL_NONE);
	frame[0] = frame[1] = (struct pyframe){.known = NULL};
	assert_int_equal(raycall_work_of(frame, 2), RAYCALL_NONE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worker_in_its_loop_has_no_call),
		cmocka_unit_test(a_function_of_the_user_below_the_loop_is_a_task),
		cmocka_unit_test(a_method_is_an_actors),
		cmocka_unit_test(who_waits_for_others_in_ray_get_does_not_work),
		cmocka_unit_test(without_rays_loop_nothing_is_a_call),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
