/* Goroutines in the place of threads, of made-up facts. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "sense/go/gowaits.h"

#define PID 700
#define STACK(n) (UINT64_C(0x100000) * ((n) + 1))

static struct goroutine item[8];
static struct goroutines all;
static struct gonear_link links[16];
static struct gonear near;
static bool clocks[8];
static uint64_t inodes[8];
static pid_t idle[4];

static struct goroutine *goroutine_add(uint64_t id, enum goroutine_wait wait, uint64_t on)
{
	struct goroutine *g = &item[all.n];
	*g = (struct goroutine){.id = id, .addr = 0x1000 * id, .state = GOROUTINE_WAITS, .wait = wait, .fd = -1};
	g->stack_from = STACK(id);
	g->stack_to = STACK(id) + 0x1000;
	if (on)
		g->on[g->n_on++] = on;
	all.n_all = ++all.n;
	return g;
}

static void link_add(uint32_t by, uint32_t to, uint16_t steps)
{
	links[near.n++] = (struct gonear_link){by, to, steps};
}

static void begin(void)
{
	all = (struct goroutines){.item = item};
	memset(clocks, 0, sizeof(clocks));
	memset(inodes, 0, sizeof(inodes));
	near = (struct gonear){.link = links, .clock = clocks};
}

static void thread_put(struct waitfacts *f, pid_t tid, uint64_t sp, enum waitfact_kind kind, uint64_t id)
{
	assert_int_equal(vec_room(&f->thread, &f->cap_threads, f->n_threads + 1), 0);
	assert_int_equal(vec_room(&f->fact, &f->cap_facts, f->n_facts + 1), 0);
	f->thread[f->n_threads++] = (struct waitfact_thread){.pid = PID,
							     .tid = tid,
							     .readable = true,
							     .nr = 202,
							     .sp = sp,
							     .pc = 1,
							     .first = (uint32_t)f->n_facts,
							     .n = 1};
	f->fact[f->n_facts++] = (struct waitfact){.kind = kind, .id = id, .complete = true};
	f->process[0].n_threads++;
}

/* The main thread and one beside it, which wait for goroutines to run. */
static void facts_make(struct waitfacts *f)
{
	*f = (struct waitfacts){.n_threads = 0};
	assert_int_equal(vec_room(&f->process, &f->cap_processes, 1), 0);
	f->process[f->n_processes++] = (struct waitfact_process){.pid = PID, .wanted = true};
	thread_put(f, PID, 1, WAITFACT_FUTEX, 9);
	idle[0] = PID;
}

static struct gowaits made(void)
{
	return (struct gowaits){.pid = PID, .s = &all, .inode = inodes, .near = &near, .idle = idle, .n_idle = 2};
}

static const struct waitfact *only_fact(const struct waitfacts *f, pid_t tid)
{
	const struct waitfact_thread *t = waitfacts_thread(f, PID, tid);
	assert_non_null(t);
	assert_int_equal(t->n, 1);
	assert_true(t->cut);
	assert_false(f->fact[t->first].complete);
	return &f->fact[t->first];
}

static pid_t only_holder(const struct waitfacts *f, const struct waitfact *x)
{
	assert_int_equal(x->n_holders, 1);
	assert_int_equal(f->holder[x->first_holder].pid, PID);
	return f->holder[x->first_holder].tid;
}

static void an_object_is_held_by_who_comes_to_it_in_the_fewest_steps(void **state)
{
	(void)state;
	struct waitfacts f;
	begin();
	facts_make(&f);
	goroutine_add(1, GOWAIT_LOCK, 0x5000);
	goroutine_add(7, GOWAIT_LOCK, 0x5000); /* waits for the same: ends nothing */
	goroutine_add(8, GOWAIT_CHAN, 0x6000);
	goroutine_add(9, GOWAIT_SLEEP, 0);
	goroutine_add(2, GOWAIT_RUNTIME, 0);
	link_add(1, 0, 1);
	link_add(2, 0, 2);
	link_add(3, 0, 4);
	const struct gowaits g = made();
	assert_true(gowaits_can(&f, &g));
	assert_int_equal(gowaits_put(&f, &g, 1), 0);
	assert_int_equal(f.process[0].n_threads, 4); /* without the runtime's own, and the threads */
	const struct waitfact *x = only_fact(&f, PID);
	assert_int_equal(x->kind, WAITFACT_OBJECT);
	assert_true(x->lock);
	assert_int_equal(only_holder(&f, x), GOWAITS_TID + 8);
	assert_int_equal(only_fact(&f, GOWAITS_TID + 8)->n_holders, 0);
	assert_int_equal(only_fact(&f, GOWAITS_TID + 9)->kind, WAITFACT_CLOCK);
	assert_true(waitfacts_thread(&f, PID, GOWAITS_TID + 9)->timed);
	assert_false(waitfacts_thread(&f, PID, PID)->timed);
	waitfacts_done(&f);
}

static void both_ends_of_a_channel_may_end_each_other(void **state)
{
	(void)state;
	struct waitfacts f;
	begin();
	facts_make(&f);
	TEXT_COPY(goroutine_add(1, GOWAIT_CHAN, 0x5000)->reason, "chan receive");
	TEXT_COPY(goroutine_add(7, GOWAIT_CHAN, 0x5000)->reason, "chan receive");
	TEXT_COPY(goroutine_add(8, GOWAIT_CHAN, 0x5000)->reason, "chan send");
	link_add(1, 0, 1);
	link_add(2, 0, 1);
	const struct gowaits g = made();
	assert_int_equal(gowaits_put(&f, &g, 1), 0);
	assert_int_equal(only_holder(&f, only_fact(&f, PID)), GOWAITS_TID + 8);
	waitfacts_done(&f);
}

static void a_descriptor_is_the_fact_that_another_thread_has_of_it(void **state)
{
	(void)state;
	struct waitfacts f;
	begin();
	facts_make(&f);
	thread_put(&f, 701, 2, WAITFACT_TCP, 4711);
	f.thread[1].n++; /* one more of that thread's */
	assert_int_equal(vec_room(&f.fact, &f.cap_facts, f.n_facts + 1), 0);
	f.fact[f.n_facts++] = (struct waitfact){.kind = WAITFACT_LISTEN, .id = 4712};
	idle[1] = 701;
	goroutine_add(1, GOWAIT_IO, 0);
	goroutine_add(7, GOWAIT_IO, 0);
	goroutine_add(8, GOWAIT_IO, 0);
	goroutine_add(9, GOWAIT_CHAN, 0x5000);
	inodes[0] = 4711;
	inodes[1] = 4712;
	item[0].file = 0x8000;
	clocks[2] = true;
	link_add(1, 0, 1); /* it waits for visitors, and has what comes in hand for a moment alone */
	link_add(3, 0, 3);
	const struct gowaits g = made();
	assert_true(gowaits_can(&f, &g));
	assert_int_equal(gowaits_put(&f, &g, 1), 0);
	assert_int_equal(only_fact(&f, PID)->kind, WAITFACT_TCP);
	assert_int_equal(only_fact(&f, GOWAITS_TID + 7)->kind, WAITFACT_LISTEN);
	assert_int_equal(only_fact(&f, GOWAITS_TID + 8)->kind, WAITFACT_UNKNOWN);
	assert_true(waitfacts_thread(&f, PID, GOWAITS_TID + 8)->timed);
	assert_int_equal(f.n_hands, 2);
	assert_int_equal(f.hand[0].id, 4711);
	assert_int_equal(f.hand[0].tid, GOWAITS_TID + 9);
	assert_int_equal(f.hand[1].tid, 0); /* of the listening one its file is unknown */
	waitfacts_done(&f);
}

static void a_call_is_that_of_the_thread_on_its_stack(void **state)
{
	(void)state;
	struct waitfacts f;
	begin();
	facts_make(&f);
	thread_put(&f, 701, STACK(1) + 0x800, WAITFACT_CHILD, 800);
	thread_put(&f, 702, STACK(7) + 8, WAITFACT_FUTEX, 5);
	goroutine_add(1, GOWAIT_NONE, 0)->state = GOROUTINE_SYSCALL;
	goroutine_add(7, GOWAIT_NONE, 0)->state = GOROUTINE_SYSCALL;
	idle[1] = 0;
	const struct gowaits g = made();
	assert_true(gowaits_can(&f, &g));
	assert_int_equal(gowaits_put(&f, &g, 1), 0);
	assert_int_equal(f.process[0].n_threads, 2);
	assert_int_equal(only_fact(&f, PID)->kind, WAITFACT_CHILD);
	assert_int_equal(waitfacts_thread(&f, PID, PID)->goroutine, 1);
	assert_int_equal(only_fact(&f, GOWAITS_TID + 7)->kind, WAITFACT_SIGNAL); /* the runtime's own */
	waitfacts_done(&f);
}

static void what_is_not_understood_stays_as_it_is(void **state)
{
	(void)state;
	struct waitfacts f;
	begin();
	facts_make(&f);
	idle[1] = 0;
	goroutine_add(1, GOWAIT_NONE, 0)->state = GOROUTINE_SYSCALL;
	const struct gowaits g = made();
	assert_false(gowaits_can(&f, &g)); /* a call of no known thread: C */
	item[0].state = GOROUTINE_WAITS;
	assert_true(gowaits_can(&f, &g));
	idle[0] = 0;
	assert_false(gowaits_can(&f, &g)); /* the main thread is in another language */
	idle[0] = PID;
	f.fact[0].kind = WAITFACT_STOPPED;
	assert_false(gowaits_can(&f, &g));
	f.fact[0].kind = WAITFACT_FUTEX;
	item[0].id = 2;
	assert_false(gowaits_can(&f, &g));
	item[0].id = 1;
	all.n_all = 600;
	assert_false(gowaits_can(&f, &g));
	waitfacts_done(&f);
}

static void threads_of_another_language_are_kept(void **state)
{
	(void)state;
	struct waitfacts f;
	begin();
	facts_make(&f);
	thread_put(&f, 701, 3, WAITFACT_TCP, 4711);
	idle[1] = 0;
	goroutine_add(1, GOWAIT_CHAN, 0x5000);
	const struct gowaits g = made();
	assert_int_equal(gowaits_put(&f, &g, 1), 0);
	assert_int_equal(f.process[0].n_threads, 2);
	const struct waitfact_thread *t = waitfacts_thread(&f, PID, 701);
	assert_non_null(t);
	assert_int_equal(t->goroutine, 0);
	assert_true(f.fact[t->first].complete);
	waitfacts_done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_object_is_held_by_who_comes_to_it_in_the_fewest_steps),
		cmocka_unit_test(both_ends_of_a_channel_may_end_each_other),
		cmocka_unit_test(a_descriptor_is_the_fact_that_another_thread_has_of_it),
		cmocka_unit_test(a_call_is_that_of_the_thread_on_its_stack),
		cmocka_unit_test(what_is_not_understood_stays_as_it_is),
		cmocka_unit_test(threads_of_another_language_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
