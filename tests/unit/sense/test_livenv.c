#include "testing.h"
#include "world_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "sense/native/livenv.h"

static ssize_t all_faults(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from, size_t n)
{
	(void)r, (void)into, (void)n_into, (void)from, (void)n;
	return -EFAULT;
}

static void what_a_program_has_set_itself_is_read(void **state)
{
	(void)state;
	struct world w = live_world();
	int ready[2];
	char byte, value[32] = "";
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 300; i++) {
			char name[24];
			(void)snprintf(name, sizeof(name), "FILLER_%d", i);
			(void)setenv(name, "x", 1);
		}
		(void)setenv("RANKS", "no", 1);
		(void)setenv("RANK", "17", 1);
		(void)!write(ready[1], "x", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct remote r;
	remote_open(&w, pid, &r);
	assert_int_equal(livenv_read(&w, &r, "RANK", value, sizeof(value)), 0);
	assert_string_equal(value, "17");
	assert_int_equal(livenv_read(&w, &r, "RAN", value, sizeof(value)), WORLD_ABSENT);
	assert_int_equal(livenv_read(&w, &r, "FILLER_299", value, sizeof(value)), 0);
	assert_string_equal(value, "x");
	remote_done(&r);
	fixture_close(&w);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

static void memory_that_cannot_be_read_is_an_error(void **state)
{
	(void)state;
	struct world w = live_world();
	const struct remote_ops none = {.readv = all_faults};
	struct remote r;
	char value[8];
	remote_open(&w, getpid(), &r);
	r.ops = &none;
	assert_int_not_equal(livenv_read(&w, &r, "PATH", value, sizeof(value)), 0);
	remote_done(&r);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_program_has_set_itself_is_read),
		cmocka_unit_test(memory_that_cannot_be_read_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
