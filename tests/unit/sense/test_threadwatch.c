#include "agent/made_world.h"

#include <stdlib.h>
#include <sys/syscall.h>

#include "sense/wait/threadlist.h"
#include "sense/wait/threadwait.h"

static struct made_world m;

static int begin(void **state)
{
	(void)state;
	made_begin(&m);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_end(&m);
	return 0;
}

/* Overwrites a file in place, as the kernel does: who has it open reads the new text. */
static void put(pid_t tid, const char *file, const char *text)
{
	char path[400];
	TEXT_FORMAT(path, "%s/proc/20/task/%d", m.dir, (int)tid);
	assert_int_equal(file_mkdirs(path, 0700), 0);
	TEXT_FORMAT(path, "%s/proc/20/task/%d/%s", m.dir, (int)tid, file);
	cleanup(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static void put_state(pid_t tid, char state)
{
	char text[256];
	TEXT_FORMAT(text, "%d (train) %c 1 20 20 0 -1 4194304 0 0 0 0 3 4 0 0 20 0 1 0 77 1000000 25000 "
		    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n", (int)tid, state);
	put(tid, "stat", text);
}

static void put_call(pid_t tid, long nr, unsigned arg, unsigned sp)
{
	char text[128];
	TEXT_FORMAT(text, "%ld 0x%x 0x0 0x0 0x0 0x0 0x0 0x%x 0x7fc5f675d503\n", nr, arg, sp);
	put(tid, "syscall", text);
}

static enum wait_kind kind_of(struct threadwatch *t, pid_t tid, int64_t *ret_nr, uint64_t *ret_arg)
{
	enum wait_kind kind = WAIT_UNKNOWN;
	assert_int_equal(threadwatch_kind(t, tid, &kind, ret_nr, ret_arg), 0);
	return kind;
}

static void a_wait_is_read_with_its_call_and_argument(void **state)
{
	(void)state;
	int64_t nr;
	uint64_t arg;
	struct threadwatch *t = threadwatch_new(&m.w, 20);
	put_state(21, 'S');
	put_call(21, SYS_futex, 0xabc, 0x7ffc);
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_LOCK);
	assert_true(nr == SYS_futex && arg == 0xabc);
	put_call(21, SYS_nanosleep, 0xdef, 0x7ffc);
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_SLEEP);
	assert_true(nr == SYS_nanosleep && arg == 0xdef);
	put(21, "syscall", "running\n");
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_RUNNING);
	assert_true(nr == -1 && arg == 0);
	threadwatch_free(t);
}

static void an_unchanged_wait_is_believed_for_a_while(void **state)
{
	(void)state;
	int64_t nr;
	uint64_t arg;
	struct threadwatch *t = threadwatch_new(&m.w, 20);
	put_state(21, 'S');
	put_call(21, SYS_futex, 1, 0x7ffc);
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_LOCK);
	put_state(21, 'T');
	int reads = 1;
	while (kind_of(t, 21, &nr, &arg) == WAIT_LOCK && reads < 100)
		reads++;
	assert_int_equal(reads, 16);
	put_state(21, 'S');
	put_call(21, SYS_futex, 2, 0x7ffc); /* another wait: the state is read at once */
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_LOCK);
	threadwatch_free(t);
}

static void a_wait_that_goes_on_after_a_stop_keeps_its_call(void **state)
{
	(void)state;
	int64_t nr;
	uint64_t arg;
	struct threadwatch *t = threadwatch_new(&m.w, 20);
	put_state(21, 'S');
	put_call(21, SYS_poll, 1, 0x7ffc);
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_POLL);
	put_call(21, SYS_restart_syscall, 1, 0x7ffc);
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_POLL);
	assert_int_equal(nr, SYS_poll);
	put_call(21, SYS_restart_syscall, 1, 0x6000); /* another place of the program */
	(void)kind_of(t, 21, &nr, &arg);
	assert_int_equal(nr, SYS_restart_syscall);
	threadwatch_free(t);
}

static void a_number_that_was_used_again_is_a_new_thread(void **state)
{
	(void)state;
	int64_t nr;
	uint64_t arg;
	enum wait_kind kind;
	char path[400];
	struct threadwatch *t = threadwatch_new(&m.w, 20);
	put_state(21, 'S');
	put_call(21, SYS_futex, 1, 0x7ffc);
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_LOCK);
	put(21, "syscall", ""); /* a kept file of a thread that ended has no text */
	TEXT_FORMAT(path, "%s/proc/20/task/21/syscall", m.dir);
	assert_int_equal(unlink(path), 0);
	put_call(21, SYS_nanosleep, 2, 0x7ffc);
	assert_int_equal(kind_of(t, 21, &nr, &arg), WAIT_SLEEP);
	put(21, "syscall", "");
	assert_int_equal(threadwatch_kind(t, 21, &kind, &nr, &arg), WORLD_GONE);
	assert_int_equal(threadwatch_kind(t, 99, &kind, &nr, &arg), WORLD_GONE);
	threadwatch_free(t);
}

static void garbage_is_refused(void **state)
{
	(void)state;
	int64_t nr = 5;
	uint64_t arg = 6;
	enum wait_kind kind = WAIT_GPU;
	struct threadwatch *t = threadwatch_new(&m.w, 20);
	put_state(21, 'S');
	put(21, "syscall", "walking\n");
	assert_int_equal(threadwatch_kind(t, 21, &kind, &nr, &arg), -EBADMSG);
	assert_true(kind == WAIT_GPU && nr == 5 && arg == 6);
	threadwatch_free(t);
	assert_null(threadwatch_free(NULL));
}

static void threads_are_listed_in_order(void **state)
{
	(void)state;
	pid_t *tids = NULL;
	size_t n = 0;
	put_state(1000, 'S');
	put_state(20, 'S');
	put_state(300, 'S');
	made_folder(&m, "proc/20/task/12x");
	made_folder(&m, "proc/20/task/0");
	assert_int_equal(threads_read(&m.w, 20, &tids, &n), 0);
	assert_true(n == 3 && tids[0] == 20 && tids[1] == 300 && tids[2] == 1000);
	free(tids);
	assert_int_equal(threads_read(&m.w, 99, &tids, &n), WORLD_GONE);
	made_folder(&m, "proc/30/task"); /* the process ends just now */
	assert_int_equal(threads_read(&m.w, 30, &tids, &n), WORLD_GONE);
}

static void names_and_kernel_functions_are_read(void **state)
{
	(void)state;
	char text[64], comm[16];
	put(21, "wchan", "futex_wait_queue");
	put(21, "comm", "pin memory\n");
	assert_int_equal(task_wchan_read(&m.w, 20, 21, text, sizeof(text)), 0);
	assert_string_equal(text, "futex_wait_queue");
	put(21, "wchan", "0");
	assert_int_equal(task_wchan_read(&m.w, 20, 21, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_string_equal(task_comm(&m.w, 20, 21, comm), "pin memory");
	assert_string_equal(task_comm(&m.w, 20, 99, comm), "?");
	put(20, "comm", "train\n");
	assert_string_equal(task_comm(&m.w, 0, 20, comm), "train");
}

#define MADE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MADE(a_wait_is_read_with_its_call_and_argument),
		MADE(an_unchanged_wait_is_believed_for_a_while),
		MADE(a_wait_that_goes_on_after_a_stop_keeps_its_call),
		MADE(a_number_that_was_used_again_is_a_new_thread),
		MADE(garbage_is_refused),
		MADE(threads_are_listed_in_order),
		MADE(names_and_kernel_functions_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
