/* Who makes the files of a job's folders, learned of real processes. */
#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scratch_fixture.h"
#include "world_fixture.h"

#include "agent/hang/hangmakers.h"
#include "sense/proc/makers.h"

static struct world w;
static pid_t child;
static int to_child = -1, from_child = -1;
static struct hangmakers *h;
static struct hangprocs procs;
static struct hangprocs_member member;
static struct filehist_found found;

static void file_make(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
}

/* Makes the file, or folder, of each line that it is told, in its folder, and answers. */
static _Noreturn void child_runs(int in, int out)
{
	char name[64] = "";
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chdir(scratch) < 0)
		_exit(99);
	while (write(out, "1", 1) == 1 && read(in, name, sizeof(name)) == (ssize_t)sizeof(name)) {
		if (name[strlen(name) - 1] == '/')
			(void)mkdir(name, 0700);
		else
			file_make(name);
	}
	_exit(0);
}

static void child_answers(void)
{
	char c;
	assert_int_equal(read(from_child, &c, 1), 1);
}

static void child_makes(const char *what)
{
	char name[64] = "";
	TEXT_COPY(name, what);
	assert_int_equal(write(to_child, name, sizeof(name)), sizeof(name));
	child_answers();
}

static int begin(void **state)
{
	int in[2], out[2];
	w = live_world();
	if (scratch_make(state) < 0 || pipe(in) < 0 || pipe(out) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		close(in[1]);
		close(out[0]);
		child_runs(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	to_child = in[1];
	from_child = out[0];
	member = (struct hangprocs_member){.pid = child, .main = true};
	procs = (struct hangprocs){.now = &member, .n_now = 1};
	procs.ever[(size_t)child % HANGPROCS_EVER] = child;
	h = hangmakers_new(&w);
	child_answers();
	return h ? 0 : -1;
}

static int end(void **state)
{
	hangmakers_forget(h, 0);
	free(h);
	closep(&to_child);
	closep(&from_child);
	(void)waitpid(child, NULL, 0);
	fixture_close(&w);
	return scratch_remove(state);
}

/* What is known of a file in a folder; false: nothing. */
static bool asks(const char *folder, const char *name)
{
	uint64_t id;
	cleanup(closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hangmakers_step(h, 0, &procs, NULL, 0);
	const struct filehist *files = hangmakers_of(h, 0);
	if (!files)
		skip(); /* not permitted here */
	return makers_folder(fd, &id) == 0 && filehist_find(files, id, name, getpid(), &found);
}

static void who_makes_files_in_the_folder_of_a_job_is_learned(void **state)
{
	(void)state;
	if (!asks(scratch, "score-3"))
		skip(); /* this file system tells nothing */
	child_makes("score-1");
	child_makes("score-2");
	file_make(scratch_path("part-1"));
	assert_true(asks(scratch, "score-3"));
	assert_int_equal(found.n, 2);
	assert_int_equal(found.pid, child);
	assert_string_equal(found.last, "score-2");
	assert_true(!found.by_others && found.folder_by_others);
	assert_true(asks(scratch, "part-2"));
	assert_true(found.by_others);
}

static void a_folder_that_the_job_makes_is_watched_as_well(void **state)
{
	(void)state;
	if (!asks(scratch, "x"))
		skip();
	child_makes("below/");
	hangmakers_step(h, 0, &procs, NULL, 0);
	child_makes("below/score-1");
	assert_true(asks(scratch_path("below"), "score-2"));
	assert_int_equal(found.n, 1);
	assert_true(found.pid == child && !found.by_others);
}

/* It came and went between two samples, so no sample has met it; its end was told. */
static void what_a_process_has_made_that_only_its_end_tells_of_is_the_job_s(void **state)
{
	(void)state;
	static struct hang_respawns ends = {.attempt = 3};
	if (!asks(scratch, "x"))
		skip();
	const pid_t killed = fork();
	if (killed == 0) {
		file_make(scratch_path("op.lock"));
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(killed, NULL, 0), killed);
	ends.end[ends.n_ends++] = (struct hang_end){.pid = killed, .wait_status = 9, .time_unix_ms = w.unix_ms()};
	hangmakers_step(h, 0, &procs, &ends, 4); /* of another attempt */
	assert_true(asks(scratch, "op.lock") && found.made_by == 0 && found.folder_by_others);
	file_make(scratch_path("before"));
	unlink(scratch_path("op.lock"));
	const pid_t again = fork();
	if (again == 0) {
		file_make(scratch_path("op.new"));
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(again, NULL, 0), again);
	ends.end[ends.n_ends++] = (struct hang_end){.pid = again, .wait_status = 9, .time_unix_ms = w.unix_ms()};
	hangmakers_step(h, 0, &procs, &ends, 3);
	assert_true(asks(scratch, "op.new"));
	assert_true(found.made_by == again && found.maker_ended && found.maker_status == 9 && !found.by_others);
}

static void too_many_files_say_nothing(void **state)
{
	(void)state;
	char name[32];
	if (!asks(scratch, "x-0"))
		skip();
	for (int i = 0; i < 2100; i++) {
		TEXT_FORMAT(name, "x-%d", i);
		file_make(scratch_path(name));
	}
	assert_false(asks(scratch, "x-0"));
	hangmakers_forget(h, 0);
	hangmakers_step(h, 0, &procs, NULL, 0);
	assert_null(hangmakers_of(h, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_makes_files_in_the_folder_of_a_job_is_learned, begin, end),
		cmocka_unit_test_setup_teardown(a_folder_that_the_job_makes_is_watched_as_well, begin, end),
		cmocka_unit_test_setup_teardown(what_a_process_has_made_that_only_its_end_tells_of_is_the_job_s, begin,
						end),
		cmocka_unit_test_setup_teardown(too_many_files_say_nothing, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
