/* Small parts of the loops: the environment of --calls, the words to systemd, what the supervisor says of a rank. */
#include "scratch_fixture.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/run/callrun.h"
#include "agent/run/sdnotify.h"
#include "agent/run/super.h"

static void calls_put_the_plugin_in_front_of_the_users_path(void **state)
{
	struct world w = live_world();
	struct callrun c = {.python_path = NULL};
	struct fault f = {.text = ""};
	char expected[600];
	(void)state;
	assert_int_equal(file_mkdirs(scratch_path("python"), 0700), 0);
	(void)scratch_put("python/sitecustomize.py", "", 0, 0600);
	assert_int_equal(setenv("VIGIL_DATA_DIR", scratch, 1), 0);
	assert_int_equal(setenv("PYTHONPATH", "/mine:/other", 1), 0);
	assert_int_equal(callrun_prepare(&w, &c, &f), 0);
	TEXT_FORMAT(expected, "PYTHONPATH=%s/python:/mine:/other", scratch);
	assert_string_equal(c.python_path, expected);
	callrun_done(&c);
	assert_null(c.python_path);
	assert_int_equal(unsetenv("PYTHONPATH"), 0);
	assert_int_equal(callrun_prepare(&w, &c, &f), 0);
	TEXT_FORMAT(expected, "PYTHONPATH=%s/python", scratch);
	assert_string_equal(c.python_path, expected);
	callrun_done(&c);
	assert_int_equal(unsetenv("VIGIL_DATA_DIR"), 0);
	fixture_close(&w);
}

static void a_plugin_that_is_not_there_is_named_with_the_folder(void **state)
{
	struct world w = live_world();
	struct callrun c = {.python_path = NULL};
	struct fault f = {.text = ""};
	(void)state;
	assert_int_equal(setenv("VIGIL_DATA_DIR", scratch, 1), 0);
	assert_int_equal(callrun_prepare(&w, &c, &f), -ENOENT);
	assert_non_null(strstr(f.text, scratch));
	assert_null(c.python_path);
	assert_int_equal(unsetenv("VIGIL_DATA_DIR"), 0);
	fixture_close(&w);
}

static void each_attempt_has_a_folder_of_its_own_with_a_whole_path(void **state)
{
	struct callrun c = {.python_path = NULL};
	char here[512];
	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(scratch), 0);
	assert_int_equal(callrun_attempt(&c, "job", 3), 0); /* a relative folder */
	assert_int_equal(chdir(here), 0);
	assert_true(scratch_has("job/attempt-3/calls"));
	char expected[300];
	TEXT_FORMAT(expected, "VIGIL_CALLS_DIR=%s/job/attempt-3/calls", scratch);
	assert_string_equal(c.dir, expected);
	assert_int_equal(callrun_attempt(&c, "", 4), -ENOENT);
	assert_string_equal(c.dir, "");
}

/* What systemd would get. */
static void systemd_gets(int fd, const char *expected)
{
	char text[64] = "";
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	assert_int_equal(n, strlen(expected));
	assert_string_equal(text, expected);
}

static int systemd_listen(const char *name, bool is_abstract)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0 && strlen(name) < sizeof(a.sun_path));
	memcpy(a.sun_path, name, strlen(name));
	if (is_abstract)
		a.sun_path[0] = '\0';
	assert_int_equal(
		bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

static void systemd_is_told_on_sockets_of_both_kinds(void **state)
{
	char name[64];
	(void)state;
	int fd = systemd_listen(scratch_path("notify"), false);
	sd_notify_ready();
	systemd_gets(fd, "READY=1");
	sd_notify_alive();
	systemd_gets(fd, "WATCHDOG=1");
	closep(&fd);
	TEXT_FORMAT(name, "@vigil-unit-%d", (int)getpid());
	fd = systemd_listen(name, true);
	sd_notify_ready();
	systemd_gets(fd, "READY=1");
	closep(&fd);
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
}

static void addresses_that_are_none_are_passed_over(void **state)
{
	static const char *const bad[] = {"", "relative", "vsock:2:1234", "/no/such/folder/socket"};
	char too_long[300];
	(void)state;
	memset(too_long, 'x', sizeof(too_long));
	too_long[0] = '/';
	too_long[sizeof(too_long) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(setenv("NOTIFY_SOCKET", bad[i], 1), 0);
		sd_notify_ready();
	}
	assert_int_equal(setenv("NOTIFY_SOCKET", too_long, 1), 0);
	sd_notify_alive();
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	sd_notify_alive();
}

/* ---- what the supervisor says of a rank ---- */

static void said(struct tee *t, const char *last, const char *line)
{
	t->last.last_len = strlen(last);
	memcpy(t->last.last, last, t->last.last_len);
	t->last.line_len = strlen(line);
	memcpy(t->last.line, line, t->last.line_len);
}

static void the_last_words_are_those_on_stderr_if_there_are_any(void **state)
{
	static struct rank r;
	char text[TEE_LAST_LINE];
	(void)state;
	assert_false(super_last_line(&r, text));
	assert_string_equal(text, "");
	said(&r.out, "step 10", "");
	assert_false(super_last_line(&r, text));
	assert_string_equal(text, "step 10");
	said(&r.out, "step 10", "step 1");
	assert_false(super_last_line(&r, text));
	assert_string_equal(text, "step 1"); /* unfinished, and the newest */
	said(&r.err, "RuntimeError: no\x07pe", "");
	assert_true(super_last_line(&r, text));
	assert_string_equal(text, "RuntimeError: no?pe"); /* control bytes are not passed on */
}

static struct super *super_new(uint32_t nproc)
{
	struct super *s = calloc(1, sizeof(*s));
	assert_non_null(s);
	s->nproc = nproc;
	s->attempts.first_failed = -1;
	s->services.guard.shm = calloc(1, sizeof(struct guard_shm));
	assert_non_null(s->services.guard.shm);
	return s;
}

static void super_free(struct super *s)
{
	free(s->services.guard.shm);
	free(s);
}

static void the_guard_is_told_of_all_helpers_anew(void **state)
{
	struct super *s = super_new(2);
	struct unit_job *u = &s->services.guard.shm->jobs[0].unit;
	(void)state;
	s->services.guard.pid = 21;
	s->services.hang.pid = 22;
	super_not_ours(s);
	assert_int_equal(u->n_not_ours, 2);
	s->services.notifier.deliverer = 23;
	s->services.hang.pid = 0;
	super_not_ours(s);
	assert_int_equal(u->n_not_ours, 2);
	assert_int_equal(u->not_ours[1], 23);
	super_free(s);
}

static void a_job_runs_as_long_as_one_rank_does(void **state)
{
	struct super *s = super_new(3);
	(void)state;
	assert_false(super_any_running(s));
	s->rank[2].running = true;
	assert_true(super_any_running(s));
	s->nproc = 2; /* the third is none of it */
	assert_false(super_any_running(s));
	super_free(s);
}

static void the_guards_row_says_what_the_user_asked_for(void **state)
{
	static const struct run_spec spec = {.watch = {.guard = {.limit_bytes = 3 * GIB}}, .retry = {.max = 2}};
	struct super *s = super_new(1);
	const struct guard_job *g = &s->services.guard.shm->jobs[0];
	(void)state;
	s->spec = &spec;
	s->group = JOBGROUP_NONE;
	TEXT_COPY(s->job.id, "train-ab12");
	TEXT_COPY(s->job.name, "train");
	super_guard_job(s);
	assert_int_equal(s->services.guard.shm->n_jobs, 1);
	assert_string_equal(g->id, "train-ab12");
	assert_true(g->limit_bytes == 3 * GIB && !g->has_group);
	assert_true(g->unit.retriable && g->unit.reaper == getpid());
	super_free(s);
}

static void limits_above_a_scope_are_those_of_its_parent(void **state)
{
	static const struct run_spec spec = {.nproc = 1};
	struct super *s = super_new(1);
	const struct guard_job *g = &s->services.guard.shm->jobs[0];
	(void)state;
	s->spec = &spec;
	s->group = JOBGROUP_NONE;
	s->group.version = CGROUP_V2;
	s->group.scope.holder = 77;
	TEXT_COPY(s->group.memory, "user.slice/vigil-1.scope/job");
	TEXT_COPY(s->place.memory, "system.slice/vigil.service");
	super_guard_job(s);
	assert_string_equal(g->place.memory, "user.slice/vigil-1.scope");
	s->group.scope.holder = 0;
	super_guard_job(s);
	assert_string_equal(g->place.memory, "system.slice/vigil.service");
	super_free(s);
}

#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH(calls_put_the_plugin_in_front_of_the_users_path),
		SCRATCH(a_plugin_that_is_not_there_is_named_with_the_folder),
		SCRATCH(each_attempt_has_a_folder_of_its_own_with_a_whole_path),
		SCRATCH(systemd_is_told_on_sockets_of_both_kinds),
		SCRATCH(addresses_that_are_none_are_passed_over),
		cmocka_unit_test(the_last_words_are_those_on_stderr_if_there_are_any),
		cmocka_unit_test(the_guard_is_told_of_all_helpers_anew),
		cmocka_unit_test(a_job_runs_as_long_as_one_rank_does),
		cmocka_unit_test(the_guards_row_says_what_the_user_asked_for),
		cmocka_unit_test(limits_above_a_scope_are_those_of_its_parent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
