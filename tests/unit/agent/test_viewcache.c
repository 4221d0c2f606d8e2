#include "testing.h"
#include "world_fixture.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/inspect/viewcache.h"
#include "base/clock.h"

/* A child that stays, until it is told by its pipe to become another program. */
struct child {
	pid_t pid;
	int tell, told;
};

static struct child child_start(void)
{
	int down[2], up[2];
	char c;
	assert_int_equal(pipe2(down, O_CLOEXEC), 0);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(up[1], "r", 1) != 1 || read(down[0], &c, 1) != 1)
			_exit(1);
		(void)execlp("sleep", "sleep", "60", NULL);
		_exit(1);
	}
	assert_true(pid > 0);
	close(down[0]);
	close(up[1]); /* the other end is closed by the child's exec */
	assert_int_equal(read(up[0], &c, 1), 1);
	return (struct child){pid, down[1], up[0]};
}

static void child_end(struct child *c)
{
	(void)kill(c->pid, SIGKILL);
	(void)waitpid(c->pid, NULL, 0);
	close(c->tell);
	close(c->told);
}

static void who_is_kept_is_taken_once(void **state)
{
	(void)state;
	struct world w = live_world();
	struct viewcache k = {.natives = NULL};
	struct child c = child_start();
	const pid_t pids[] = {c.pid, 0, 0x7ffffff0};
	viewcache_keep(&k, &w, pids, ARRAY_SIZE(pids), 0);
	assert_null(viewcache_take(&k, &w, c.pid)); /* no time, nobody */
	viewcache_keep(&k, &w, pids, ARRAY_SIZE(pids), NS_PER_S);
	viewcache_keep(&k, &w, pids, ARRAY_SIZE(pids), NS_PER_S);
	struct procview *l = viewcache_take(&k, &w, c.pid);
	assert_non_null(l);
	assert_int_equal(l->pid, c.pid);
	procview_close(l);
	assert_null(viewcache_take(&k, &w, c.pid));
	viewcache_clear(&k);
	child_end(&c);
	fixture_close(&w);
}

static void another_program_of_the_same_number_is_not_taken(void **state)
{
	(void)state;
	struct world w = live_world();
	struct viewcache k = {.natives = NULL};
	struct child c = child_start();
	char none;
	viewcache_keep(&k, &w, &c.pid, 1, NS_PER_S);
	assert_int_equal(write(c.tell, "x", 1), 1);
	assert_int_equal(read(c.told, &none, 1), 0); /* closed by exec */
	assert_null(viewcache_take(&k, &w, c.pid));
	viewcache_keep(&k, &w, &c.pid, 1, NS_PER_S);
	struct procview *l = viewcache_take(&k, &w, c.pid);
	assert_non_null(l);
	procview_close(l);
	viewcache_clear(&k);
	child_end(&c);
	fixture_close(&w);
}

static void who_has_ended_or_is_no_longer_likely_is_forgotten(void **state)
{
	(void)state;
	struct world w = live_world();
	struct viewcache k = {.natives = NULL};
	struct child a = child_start(), b = child_start();
	viewcache_keep(&k, &w, (const pid_t[]){a.pid, b.pid}, 2, NS_PER_S);
	viewcache_keep(&k, &w, &b.pid, 1, NS_PER_S);
	assert_null(viewcache_take(&k, &w, a.pid));
	child_end(&b);
	assert_null(viewcache_take(&k, &w, b.pid));
	viewcache_clear(&k);
	child_end(&a);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_kept_is_taken_once),
		cmocka_unit_test(another_program_of_the_same_number_is_not_taken),
		cmocka_unit_test(who_has_ended_or_is_no_longer_likely_is_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
