/* Other programs that end processes when memory runs short, known by their names. */
#include "testing.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/host/oom_daemons.h"

static char root[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int begin(void **state)
{
	(void)state;
	TEXT_COPY(root, "/tmp/vigil-daemons-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int finish(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put_process(const char *pid, const char *comm, const char *command, size_t command_len)
{
	char path[128];
	TEXT_FORMAT(path, "%s/%s", root, pid);
	assert_int_equal(file_mkdirs(path, 0755), 0);
	TEXT_FORMAT(path, "%s/%s/comm", root, pid);
	assert_int_equal(file_replace(path, comm, strlen(comm), 0644), 0);
	TEXT_FORMAT(path, "%s/%s/cmdline", root, pid);
	assert_int_equal(file_replace(path, command, command_len, 0644), 0);
}

static void names_are_whole(void **state)
{
	(void)state;
	assert_int_equal(oom_daemons_kind(SPAN("earlyoom"), SPAN("")), OOM_DAEMON_EARLYOOM);
	assert_int_equal(oom_daemons_kind(SPAN("systemd-oomd"), SPAN("")), OOM_DAEMON_SYSTEMD_OOMD);
	assert_int_equal(oom_daemons_kind(SPAN("oomd"), SPAN("")), OOM_DAEMON_META_OOMD);
	assert_int_equal(oom_daemons_kind(SPAN("raylet"), SPAN("")), OOM_DAEMON_RAY);
	assert_int_equal(oom_daemons_kind(SPAN("oomd2"), SPAN("")), OOM_DAEMON_NONE);
	assert_int_equal(oom_daemons_kind(SPAN("earlyoo"), SPAN("")), OOM_DAEMON_NONE);
	assert_int_equal(oom_daemons_kind(SPAN(""), SPAN("")), OOM_DAEMON_NONE);
}

static void a_plain_user_s_process_is_none(void **state)
{
	(void)state;
	assert_true(oom_daemons_believed(OOM_DAEMON_SYSTEMD_OOMD, 0, 0));
	assert_true(oom_daemons_believed(OOM_DAEMON_SYSTEMD_OOMD, 998, 1000)); /* its own user */
	assert_true(oom_daemons_believed(OOM_DAEMON_EARLYOOM, 61200, 0)); /* DynamicUser= */
	assert_true(oom_daemons_believed(OOM_DAEMON_EARLYOOM, 1000, 1000)); /* the reader started it */
	assert_true(oom_daemons_believed(OOM_DAEMON_RAY, 1001, 0));
	assert_false(oom_daemons_believed(OOM_DAEMON_SYSTEMD_OOMD, 1000, 0));
	assert_false(oom_daemons_believed(OOM_DAEMON_EARLYOOM, 1001, 1000));
	assert_false(oom_daemons_believed(OOM_DAEMON_NOHANG, 100000, 0)); /* in a user's namespace */
}

static void a_script_is_known_by_its_arguments(void **state)
{
	(void)state;
	assert_int_equal(oom_daemons_kind(SPAN("python3"), SPAN("python3 /usr/sbin/nohang")), OOM_DAEMON_NOHANG);
	assert_int_equal(oom_daemons_kind(SPAN("python3"), SPAN("python3 -u nohang --monitor")), OOM_DAEMON_NOHANG);
	/* another program may be given the name as an argument, and so may a script beyond its first words */
	assert_int_equal(oom_daemons_kind(SPAN("vim"), SPAN("vim /usr/sbin/nohang")), OOM_DAEMON_NONE);
	assert_int_equal(oom_daemons_kind(SPAN("python3"), SPAN("python3 a.py b /usr/sbin/nohang")), OOM_DAEMON_NONE);
}

static void the_first_of_each_kind_is_listed(void **state)
{
	(void)state;
	static const char arguments[] = "earlyoom\0-m\0005";
	static const char script[] = "python3\0/usr/bin/nohang\0--token\0hunter2hunter2\0";
	put_process("7", "earlyoom\n", arguments, sizeof(arguments));
	put_process("9", "python3\n", script, sizeof(script) - 1);
	put_process("12", "bash\n", "bash", 5);
	put_process("x7", "kubelet\n", "kubelet", 8);
	put_process("0", "lmkd\n", "lmkd", 5);
	put_process("15", "slurmstepd\n", "", 0);
	cleanup(closep) int proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct world w = {.proc_fd = proc};
	struct oom_daemons d;
	assert_int_equal(oom_daemons_read(&w, &d), 0);
	assert_int_equal(d.n, 3);
	assert_int_equal(oom_daemons_find(&d, OOM_DAEMON_EARLYOOM)->pid, 7);
	assert_string_equal(oom_daemons_find(&d, OOM_DAEMON_EARLYOOM)->command, "earlyoom -m 5");
	assert_string_equal(oom_daemons_find(&d, OOM_DAEMON_NOHANG)->command,
			    "python3 /usr/bin/nohang --token ***");
	/* a process without arguments is shown by its name */
	assert_string_equal(oom_daemons_find(&d, OOM_DAEMON_SLURM)->command, "slurmstepd");
	assert_null(oom_daemons_find(&d, OOM_DAEMON_KUBELET));
	assert_null(oom_daemons_find(&d, OOM_DAEMON_LMKD));
}

static void a_second_one_of_a_kind_is_not_listed(void **state)
{
	(void)state;
	put_process("7", "earlyoom\n", "earlyoom", 9);
	put_process("8", "earlyoom\n", "earlyoom", 9);
	cleanup(closep) int proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct world w = {.proc_fd = proc};
	struct oom_daemons d;
	size_t n = 0;
	assert_int_equal(oom_daemons_read(&w, &d), 0);
	for (size_t i = 0; i < d.n; i++)
		n += d.row[i].kind == OOM_DAEMON_EARLYOOM;
	assert_int_equal(n, 1);
}

static void one_that_has_ended_is_none(void **state)
{
	(void)state;
	struct oom_daemons g;
	char path[128];
	char stat[] = "9 (raylet) Z 1 1 1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 100 0 0 0 0 0 0 0 0 0\n";
	put_process("9", "raylet\n", "", 0);
	TEXT_FORMAT(path, "%s/9/stat", root);
	assert_int_equal(file_replace(path, stat, strlen(stat), 0644), 0);
	cleanup(closep) int proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct world w = {.proc_fd = proc};
	assert_int_equal(oom_daemons_read(&w, &g), 0);
	assert_null(oom_daemons_find(&g, OOM_DAEMON_RAY));
	*strchr(stat, 'Z') = 'S';
	assert_int_equal(file_replace(path, stat, strlen(stat), 0644), 0);
	assert_int_equal(oom_daemons_read(&w, &g), 0);
	assert_non_null(oom_daemons_find(&g, OOM_DAEMON_RAY));
}

static void put_environ(const char *pid, const char *text, size_t len)
{
	char path[128];
	TEXT_FORMAT(path, "%s/%s/environ", root, pid);
	assert_int_equal(file_replace(path, text, len, 0644), 0);
}

static void ray_s_settings_are_those_of_its_raylet(void **state)
{
	(void)state;
	struct oom_daemons g;
	put_process("7", "raylet\n", "raylet", 7);
	cleanup(closep) int proc = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct world w = {.proc_fd = proc};
	assert_int_equal(oom_daemons_read(&w, &g), 0);
	assert_string_equal(oom_daemons_find(&g, OOM_DAEMON_RAY)->setting, "");
	static const char some[] = "A=1\0RAY_memory_usage_threshold=0.8\0RAY_memory_monitor_refresh_ms=100";
	put_environ("7", some, sizeof(some) - 1);
	assert_int_equal(oom_daemons_read(&w, &g), 0);
	assert_string_equal(oom_daemons_find(&g, OOM_DAEMON_RAY)->setting, "RAY_memory_usage_threshold=0.8");
	static const char off[] = "RAY_memory_monitor_refresh_ms=0";
	put_environ("7", off, sizeof(off) - 1);
	assert_int_equal(oom_daemons_read(&w, &g), 0);
	assert_null(oom_daemons_find(&g, OOM_DAEMON_RAY)); /* it ends nobody */
}

/* A process of this user is believed by it, one of another's is not. */
static void whose_a_process_is_is_read(void **state)
{
	(void)state;
	struct oom_daemons g;
	char path[128];
	struct world w = {.proc_fd = -1};
	put_process("70", "systemd-oomd", "/x", 3);
	w.proc_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(oom_daemons_read(&w, &g), 0);
	assert_non_null(oom_daemons_find(&g, OOM_DAEMON_SYSTEMD_OOMD));
	TEXT_FORMAT(path, "%s/70", root);
	if (chown(path, 1234, 1234) == 0) { /* root alone can */
		assert_int_equal(oom_daemons_read(&w, &g), 0);
		assert_null(oom_daemons_find(&g, OOM_DAEMON_SYSTEMD_OOMD));
		assert_int_equal(chown(path, 998, 998), 0);
		assert_int_equal(oom_daemons_read(&w, &g), 0);
		assert_non_null(oom_daemons_find(&g, OOM_DAEMON_SYSTEMD_OOMD));
	}
	(void)close(w.proc_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_whole),
		cmocka_unit_test(a_script_is_known_by_its_arguments),
		cmocka_unit_test(the_first_of_each_kind_is_listed),
		cmocka_unit_test(a_second_one_of_a_kind_is_not_listed),
		cmocka_unit_test(ray_s_settings_are_those_of_its_raylet),
		cmocka_unit_test(one_that_has_ended_is_none),
		cmocka_unit_test(a_plain_user_s_process_is_none),
		cmocka_unit_test(whose_a_process_is_is_read),
	};
	return cmocka_run_group_tests(tests, begin, finish);
}
