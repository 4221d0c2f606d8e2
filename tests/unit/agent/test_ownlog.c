#include "testing.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/hang/ownlog.h"
#include "made_world.h"

static void appending_is_read_from_the_flags(void **state)
{
	(void)state;
	assert_false(ownlog_appends_parse("pos:\t0\nflags:\t0100001\nmnt_id:\t29\n"));
	assert_true(ownlog_appends_parse("pos:\t0\nflags:\t0102001\nmnt_id:\t29\n"));
	assert_true(ownlog_appends_parse("pos:\t0\nmnt_id:\t29\n")); /* unknown counts as appended */
	assert_true(ownlog_appends_parse(""));
}

/* A child whose stdout and stderr are these files; NULL: a pipe. */
static struct proc_id child_start(const char *out, const char *err, int flags)
{
	int up[2];
	char c;
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		int o = out ? open(out, O_WRONLY | O_CREAT | flags, 0600) : up[1];
		int e = err ? open(err, O_WRONLY | O_CREAT | flags, 0600) : up[1];
		if (write(up[1], "r", 1) != 1 || dup2(o, 1) < 0 || dup2(e, 2) < 0)
			_exit(1);
		if (write(up[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(up[0], &c, 1), 1);
	assert_int_equal(read(up[0], &c, 1), 1);
	closep(&up[0]);
	closep(&up[1]);
	return (struct proc_id){.pid = pid};
}

static void find(struct proc_id id, char ret[static 2][OWNLOG_PATH])
{
	struct world w = live_world();
	struct proc_stat st;
	assert_int_equal(proc_stat_read(&w, id.pid, &st), 0);
	id.start_ticks = st.start_ticks;
	ownlog_find(&w, &id, ret);
	(void)kill(id.pid, SIGKILL);
	(void)waitpid(id.pid, NULL, 0);
	fixture_close(&w);
}

static void files_of_this_run_are_its_logs(void **state)
{
	(void)state;
	struct made_world made;
	char out[128], err[128], ret[2][OWNLOG_PATH], want[OWNLOG_PATH];
	made_begin(&made);
	TEXT_FORMAT(out, "%s/out", made.dir);
	TEXT_FORMAT(err, "%s/err", made.dir);
	struct proc_id id = child_start(out, err, O_TRUNC);
	find(id, ret);
	TEXT_FORMAT(want, "/proc/%d/fd/1", (int)id.pid);
	assert_string_equal(ret[0], want);
	TEXT_FORMAT(want, "/proc/%d/fd/2", (int)id.pid);
	assert_string_equal(ret[1], want);
	made_end(&made);
}

static void one_file_for_both_is_found_once(void **state)
{
	(void)state;
	struct made_world made;
	char out[128], ret[2][OWNLOG_PATH];
	made_begin(&made);
	TEXT_FORMAT(out, "%s/out", made.dir);
	find(child_start(out, out, 0), ret);
	assert_true(ret[0][0] != '\0');
	assert_string_equal(ret[1], "");
	made_end(&made);
}

static void a_pipe_is_no_log(void **state)
{
	(void)state;
	char ret[2][OWNLOG_PATH];
	find(child_start(NULL, NULL, 0), ret);
	assert_string_equal(ret[0], "");
	assert_string_equal(ret[1], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(appending_is_read_from_the_flags),
		cmocka_unit_test(files_of_this_run_are_its_logs),
		cmocka_unit_test(one_file_for_both_is_found_once),
		cmocka_unit_test(a_pipe_is_no_log),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
