/* Why a demand has no place in a Ray node, and what Ray's processes do, by their frames. */
#include "testing.h"

#include "base/buf.h"
#include "model/ray/raystand.h"

#define RAY "/usr/lib/python3/dist-packages/ray/_private/worker.py"

static struct rayplaces_set set_of(const char *name, double amount)
{
	struct rayplaces_set s = {.n = 1};
	TEXT_COPY(s.of[0].name, name);
	s.of[0].amount = amount;
	return s;
}

static enum raystand_lack lack(double wanted, double available, const char *kind)
{
	struct rayplaces p = {.nodes = 1, .total = set_of("CPU", 2), .available = set_of("CPU", available)};
	struct rayplaces_demand d = {.bundles = 1, .all = set_of(kind, wanted)};
	const struct rayplaces_kind *k;
	p.holder[p.n_holders++] = (struct rayplaces_holder){.pid = 7, .has = set_of("CPU", 2 - available)};
	return raystand_lack(&p, &d, &k);
}

static void a_demand_is_compared_with_what_there_is(void **state)
{
	(void)state;
	assert_int_equal(lack(1, 1, "CPU"), RAYSTAND_FITS);
	assert_int_equal(lack(1, 0.5, "CPU"), RAYSTAND_TAKEN);
	assert_int_equal(lack(2.5, 2, "CPU"), RAYSTAND_TOO_LARGE);
	assert_int_equal(lack(1, 2, "GPU"), RAYSTAND_TOO_LARGE);
}

static void what_was_not_read_whole_says_nothing(void **state)
{
	(void)state;
	struct rayplaces p = {.nodes = 1, .total = set_of("CPU", 2), .available = set_of("CPU", 0)};
	struct rayplaces_demand d = {.bundles = 1, .all = set_of("CPU", 4)};
	const struct rayplaces_kind *k;
	assert_int_equal(raystand_lack(&p, &d, &k), RAYSTAND_TOO_LARGE);
	assert_string_equal(k->name, "CPU");
	d.in_group = true;
	assert_int_equal(raystand_lack(&p, &d, &k), RAYSTAND_UNKNOWN);
	d.in_group = false;
	p.total.cut = true;
	assert_int_equal(raystand_lack(&p, &d, &k), RAYSTAND_UNKNOWN);
	p.total.cut = false;
	d.all.cut = true;
	assert_int_equal(raystand_lack(&p, &d, &k), RAYSTAND_UNKNOWN);
}

/* A task that has its place already, and whose worker is only starting, is in no list of holders. */
static void what_nobody_is_known_to_have_is_on_its_way(void **state)
{
	(void)state;
	struct rayplaces p = {.nodes = 1, .total = set_of("CPU", 2), .available = set_of("CPU", 0)};
	struct rayplaces_demand d = {.bundles = 1, .all = set_of("CPU", 1)};
	const struct rayplaces_kind *k;
	p.holder[p.n_holders++] = (struct rayplaces_holder){.pid = 7, .has = set_of("CPU", 1)};
	assert_int_equal(raystand_lack(&p, &d, &k), RAYSTAND_UNKNOWN);
	p.groups = true;
	assert_int_equal(raystand_lack(&p, &d, &k), RAYSTAND_TAKEN);
}

static void bundles_that_want_nodes_of_their_own(void **state)
{
	(void)state;
	struct rayplaces p = {.nodes = 1, .total = set_of("CPU", 2), .available = set_of("CPU", 2)};
	struct rayplaces_demand d = {.bundles = 2, .apart = true, .group = true, .all = set_of("CPU", 2)};
	const struct rayplaces_kind *k;
	assert_int_equal(raystand_lack(&p, &d, &k), RAYSTAND_TOO_LARGE);
	assert_null(k);
}

static char words[12][128];

/* Frames of a thread from within outwards: name and file by turns, NULL at the end. */
static size_t frames_put(struct dump_frame *f, char (*w)[128], const char *const *text)
{
	size_t n = 0;
	for (; text[2 * n]; n++) {
		TEXT_COPY(w[2 * n], text[2 * n]);
		TEXT_COPY(w[2 * n + 1], text[2 * n + 1]);
		f[n] = (struct dump_frame){.kind = FRAME_PYTHON, .name = w[2 * n], .file = w[2 * n + 1], .line = 30};
	}
	return n;
}

static enum raystand_does does(const char *const *main, const char *const *other, char place[static 120])
{
	struct dump_frame f[6];
	struct dump_thread t[2] = {{.tid = 1, .main = true, .frames = f}, {.tid = 2}};
	t[0].n_frames = frames_put(f, words, main);
	t[1].frames = f + t[0].n_frames;
	t[1].n_frames = frames_put(t[1].frames, words + 2 * t[0].n_frames, other);
	const struct dump_process p = {.pid = 1, .threads = t, .n_threads = 2};
	raystand_place(&p, place, 120);
	return raystand_does(&p);
}

#define FRAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define GET "Worker.get_objects", RAY, "main", "/home/me/search.py"

static void a_process_waits_is_idle_or_does_something(void **state)
{
	(void)state;
	char place[120];
	assert_int_equal(does(FRAMES(GET), FRAMES(NULL), place), RAYSTAND_GETS);
	assert_string_equal(place, "search.py:30 in main");
	assert_int_equal(does(FRAMES("main_loop", RAY), FRAMES("run", "/usr/lib/python3.11/threading.py"), place),
			 RAYSTAND_IDLE);
	assert_string_equal(place, "");
	assert_int_equal(does(FRAMES("fit", "/home/me/search.py", "main_loop", RAY), FRAMES(NULL), place),
			 RAYSTAND_SOMETHING);
	assert_int_equal(does(FRAMES("get_objects", "/home/me/worker.py"), FRAMES(NULL), place), RAYSTAND_SOMETHING);
	assert_int_equal(does(FRAMES(NULL), FRAMES(NULL), place), RAYSTAND_SOMETHING);
}

static void another_thread_may_end_the_wait(void **state)
{
	(void)state;
	char place[120];
	assert_int_equal(does(FRAMES(GET), FRAMES("watch", "/home/me/search.py"), place), RAYSTAND_SOMETHING);
	assert_int_equal(does(FRAMES("main_loop", RAY),
			      FRAMES("BaseEventLoop.run_forever", "/usr/lib/python3.11/asyncio/base_events.py"), place),
			 RAYSTAND_SOMETHING);
}

static struct raystand actors;

/* A call of that actor. */
static void await_put(struct raystand_process *p, unsigned char actor)
{
	const struct raycall_task call = {.id = {actor, [8] = actor}};
	assert_true(raystand_await(p, &call));
}

static struct raycall_task task_of(unsigned char number)
{
	struct raycall_task t = {.id = {number}};
	memset(t.id + 8, 0xff, 12);
	return t;
}

static struct raystand_process *actor_put(unsigned char is, unsigned char awaits)
{
	struct raystand_process *p = &actors.process[actors.n++];
	*p = (struct raystand_process){
		.pid = (pid_t)(100 * actors.n), .worker = true, .is_actor = is > 0, .actor.id = {is}};
	p->calls = 1;
	if (awaits > 0)
		await_put(p, awaits);
	return p;
}

static void actors_that_wait_for_each_other_are_stuck(void **state)
{
	(void)state;
	actors.n = 0;
	actor_put(1, 2);
	actor_put(2, 3);
	actor_put(3, 1);
	const struct raystand_process *leads_in = actor_put(4, 1), *program = actor_put(0, 4), *free = actor_put(5, 0);
	assert_int_equal(raystand_stuck(&actors), 4);
	assert_true(leads_in->stuck && raystand_awaits_stuck(&actors, program));
	assert_false(program->stuck || free->stuck || raystand_awaits_stuck(&actors, free));
	await_put(&actors.process[1], 5); /* the second waits for one that works, too */
	assert_int_equal(raystand_stuck(&actors), 0);
	assert_false(raystand_awaits_stuck(&actors, program));
}

static void who_waits_for_itself_is_stuck_and_who_waits_for_nobody_that_is_known_is_not(void **state)
{
	(void)state;
	actors.n = 0;
	actor_put(1, 1);
	actor_put(2, 9);
	assert_int_equal(raystand_stuck(&actors), 1);
	assert_true(actors.process[0].stuck);
	actor_put(1, 0); /* another process that says that it is this actor */
	assert_null(raystand_maker(&actors, &actors.process[0].awaits[0]));
	assert_int_equal(raystand_stuck(&actors), 0);
}

/* A task that runs in a worker and waits for the actor that waits for it, beside results that may be there. */
static void tasks_are_waited_for_while_they_run(void **state)
{
	(void)state;
	const struct raycall_task seven = task_of(7);
	actors.n = 0;
	struct raystand_process *actor = actor_put(1, 0), *worker = actor_put(0, 1);
	assert_true(raystand_await(actor, &seven));
	actor->partly = true;
	assert_int_equal(raystand_stuck(&actors), 0);
	worker->runs = true;
	worker->task = seven;
	assert_int_equal(raystand_stuck(&actors), 2);
	assert_ptr_equal(raystand_next(&actors, actor), worker);
	assert_ptr_equal(raystand_next(&actors, worker), actor);
	worker->partly = true; /* the actor may have made what the worker wants, and another result is on its way */
	assert_int_equal(raystand_stuck(&actors), 0);
	worker->partly = false;
	actor->waits = true; /* ray.wait() goes on with the others */
	assert_int_equal(raystand_stuck(&actors), 0);
	actor->partly = false;
	assert_int_equal(raystand_stuck(&actors), 2);
	actor->partly = true;
	actor->waits = false;
	actor->calls = 2; /* which of its threads waits for the task is not known */
	assert_int_equal(raystand_stuck(&actors), 0);
}

/* What a worker runs is known, and it waits for nobody: it works. */
static void who_waits_for_a_task_that_works_is_well(void **state)
{
	(void)state;
	const struct raycall_task seven = task_of(7), eight = task_of(8);
	actors.n = 0;
	struct raystand_process *actor = actor_put(1, 0), *worker = actor_put(0, 0);
	worker->runs = true;
	worker->task = seven;
	assert_true(raystand_await(actor, &seven) && raystand_await(actor, &eight));
	assert_int_equal(actor->n_awaits, 2);
	assert_int_equal(raystand_stuck(&actors), 0);
	assert_null(raystand_next(&actors, actor));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_demand_is_compared_with_what_there_is),
		cmocka_unit_test(what_was_not_read_whole_says_nothing),
		cmocka_unit_test(what_nobody_is_known_to_have_is_on_its_way),
		cmocka_unit_test(bundles_that_want_nodes_of_their_own),
		cmocka_unit_test(a_process_waits_is_idle_or_does_something),
		cmocka_unit_test(another_thread_may_end_the_wait),
		cmocka_unit_test(actors_that_wait_for_each_other_are_stuck),
		cmocka_unit_test(tasks_are_waited_for_while_they_run),
		cmocka_unit_test(who_waits_for_a_task_that_works_is_well),
		cmocka_unit_test(who_waits_for_itself_is_stuck_and_who_waits_for_nobody_that_is_known_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
