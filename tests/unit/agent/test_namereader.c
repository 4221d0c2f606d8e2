#include "testing.h"

#include <sched.h>
#include <sys/stat.h>

#include "agent/memory/namereader.h"
#include "made_world.h"

static struct made_world made;
static struct guard_names *names; /* stays: threads that are left behind hold it */

static int begin(void **state)
{
	(void)state;
	made_begin(&made);
	for (pid_t pid = 20; pid < 23; pid++) {
		made_process(&made, &(struct made_process){.pid = pid, .ppid = 1, .comm = "python"});
		char path[64], text[64];
		TEXT_FORMAT(path, "proc/%d/cmdline", (int)pid);
		TEXT_FORMAT(text, "python of %d", (int)pid);
		made_write(&made, path, text, strlen(text) + 1);
		TEXT_FORMAT(path, "proc/%d/environ", (int)pid);
		TEXT_FORMAT(text, "RANK=%d", (int)pid - 20);
		made_write(&made, path, text, strlen(text) + 1);
	}
	names = calloc(1, sizeof(*names));
	return names ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	made_end(&made);
	return 0;
}

static struct guard_wanted wanted(pid_t pid)
{
	struct proc_stat st;
	assert_int_equal(proc_stat_read(&made.w, pid, &st), 0);
	struct guard_wanted w = {.id = {pid, st.start_ticks}};
	TEXT_COPY(w.comm, "python");
	return w;
}

/* Looks until there is an answer, as the supervisor's loop does. */
static struct guard_named answer_of(struct namereader *r, struct proc_id id)
{
	struct guard_named named;
	uint64_t end_ns = clock_mono_ns() + 20 * NS_PER_S;
	while (!guardnames_find(names, id, &named) && clock_mono_ns() < end_ns) {
		namereader_refresh(r);
		made_now_ns += NS_PER_MS;
		struct timespec pause = {.tv_nsec = 1000000};
		(void)nanosleep(&pause, NULL);
	}
	assert_true(guardnames_find(names, id, &named));
	return named;
}

static void a_process_is_answered_for_with_its_command_and_its_rank(void **state)
{
	(void)state;
	struct guard_wanted w = wanted(21);
	struct namereader *r = namereader_new(&made.w, names);
	char command[64];
	guardnames_want(names, &w, 1);
	struct guard_named named = answer_of(r, w.id);
	assert_string_equal(named.command, "python of 21");
	assert_string_equal(named.comm, "python");
	assert_int_equal(named.numbers.rank, 1);
	assert_true(guardnames_command(names, w.id, command, sizeof(command)));
	assert_string_equal(command, "python of 21");
	struct guard_named other;
	assert_false(guardnames_find(names, (struct proc_id){21, w.id.start_ticks + 1}, &other));
	assert_null(namereader_free(r));
}

static void one_that_keeps_its_readers_waiting_is_nameless_and_the_next_is_read(void **state)
{
	(void)state;
	char path[128];
	struct guard_wanted w[] = {wanted(20), wanted(22)};
	TEXT_FORMAT(path, "%s/proc/20/cmdline", made.dir);
	assert_int_equal(remove(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes: its readers wait */
	struct namereader *r = namereader_new(&made.w, names);
	guardnames_want(names, w, 2);
	assert_string_equal(answer_of(r, w[1].id).command, "python of 22");
	assert_string_equal(answer_of(r, w[0].id).command, "");
	assert_null(namereader_free(r));
	int fd = open(path, O_WRONLY | O_CLOEXEC); /* the thread that was left behind ends */
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_answered_for_with_its_command_and_its_rank),
		cmocka_unit_test(one_that_keeps_its_readers_waiting_is_nameless_and_the_next_is_read),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
