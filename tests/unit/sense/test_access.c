/* Real situations in which a process may or may not be looked into; each in a child of its own. */
#include "testing.h"

#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "world_fixture.h"

#include "base/file.h"
#include "sense/proc/access.h"

#define NOBODY 65534
#define OTHER 65533

static struct world w;
static pid_t target;

static int setup(void **state)
{
	(void)state;
	w = live_world();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (target > 0) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	target = 0;
	fixture_close(&w);
	return 0;
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

/* The target changes itself as body says, tells through a pipe that it is done, and waits. */
static void start_target(void (*body)(void))
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	target = fork();
	assert_true(target >= 0);
	if (target == 0) {
		body();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

/* What a process that changed itself by `become` finds; it hands the facts back through a pipe. */
static struct access_facts facts_of(void (*become)(void), pid_t pid)
{
	int back[2];
	struct access_facts a = {};
	assert_int_equal(pipe(back), 0);
	pid_t us = fork();
	if (us == 0) {
		become();
		if (access_read(&w, pid, &a) != 0 || write(back[1], &a, sizeof(a)) != sizeof(a))
			_exit(1);
		_exit(0);
	}
	close(back[1]);
	assert_int_equal(read(back[0], &a, sizeof(a)), sizeof(a));
	close(back[0]);
	waitpid(us, NULL, 0);
	return a;
}

static void nothing(void)
{
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1); /* as after an exec */
}

static void become_other(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(OTHER, OTHER, OTHER) < 0 || setresuid(OTHER, OTHER, OTHER) < 0)
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1);
}

static void ones_own_child_is_open(void **state)
{
	(void)state;
	start_target(nothing);
	struct access_facts a;
	assert_int_equal(access_read(&w, target, &a), 0);
	assert_true(a.exists && a.has_ids && a.descendant && a.has_user_ns && a.same_user_ns);
	assert_int_equal(a.uid, getuid());
	assert_int_equal(a.our_uid, getuid());
	assert_false(a.refused_readv || a.refused_mem || a.refused_ptrace || a.filtered);
	assert_int_equal(a.tracer, 0);
}

static void another_users_process_is_refused(void **state)
{
	(void)state;
	need_root();
	start_target(become_other);
	struct access_facts a = facts_of(become_nobody, target);
	assert_int_equal(a.our_uid, NOBODY);
	assert_int_equal(a.uid, OTHER);
	assert_int_equal(a.gid, OTHER);
	assert_false(a.our_ptrace_cap);
	assert_true(a.refused_readv && a.refused_mem && a.refused_ptrace);
	assert_false(a.filtered || a.descendant);
	assert_true(a.has_dumpable && a.dumpable);
}

static void the_same_users_process_is_open(void **state)
{
	(void)state;
	need_root();
	start_target(become_nobody);
	struct access_facts a = facts_of(become_nobody, target);
	if (a.has_yama && a.yama_scope > 0)
		skip();
	assert_false(a.refused_readv || a.refused_mem || a.refused_ptrace);
	assert_true(a.has_dumpable && a.dumpable);
}

static void become_closed_nobody(void)
{
	become_nobody();
	prctl(PR_SET_DUMPABLE, 0);
}

static void a_process_that_closed_itself_is_seen_as_such(void **state)
{
	(void)state;
	need_root();
	start_target(become_closed_nobody);
	struct access_facts a = facts_of(become_nobody, target);
	assert_true(a.has_dumpable && !a.dumpable);
	assert_true(a.refused_readv && a.refused_mem);
}

static void enter_user_namespace(void)
{
	become_nobody();
	if (unshare(CLONE_NEWUSER) < 0)
		_exit(1);
}

static void another_user_namespace_is_seen(void **state)
{
	(void)state;
	need_root();
	pid_t probe = fork();
	if (probe == 0) {
		enter_user_namespace();
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(probe, &status, 0), probe);
	if (status != 0)
		skip(); /* user namespaces are closed here */
	start_target(become_nobody);
	struct access_facts a = facts_of(enter_user_namespace, target);
	assert_true(a.our_ptrace_cap); /* in our own namespace only */
	assert_true(a.has_user_ns && !a.same_user_ns);
	start_target(nothing);
	a = facts_of(enter_user_namespace, target);
	assert_true(a.refused_readv && a.refused_mem);
	assert_true(a.has_user_ns && !a.same_user_ns);
}

static void filter_ptrace(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(1);
}

static void a_filter_on_ourselves_is_told_from_a_refusal(void **state)
{
	(void)state;
	start_target(nothing);
	struct access_facts a = facts_of(filter_ptrace, target);
	assert_true(a.filtered && a.refused_readv && a.refused_ptrace);
	assert_true(a.has_seccomp);
	assert_int_equal(a.our_seccomp, 2);
	if (geteuid() == 0)
		assert_false(a.refused_mem); /* the file is still open to us: remote reads go on */
}

static void a_tracer_is_seen(void **state)
{
	(void)state;
	start_target(nothing);
	assert_int_equal(ptrace(PTRACE_SEIZE, target, NULL, NULL), 0);
	struct access_facts a = facts_of(nothing, target);
	assert_int_equal(a.tracer, getpid());
	assert_memory_equal(a.tracer_name, "test_sense_acc", 14);
	assert_true(a.refused_ptrace);
	if (geteuid() == 0)
		assert_false(a.refused_readv || a.refused_mem);
}

static void what_is_no_program_is_seen(void **state)
{
	(void)state;
	struct access_facts a;
	target = fork();
	if (target == 0)
		_exit(0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)target, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(access_read(&w, target, &a), 0);
	assert_true(a.exists && a.zombie && !a.kernel_thread);
	pid_t gone = target;
	waitpid(target, NULL, 0);
	target = 0;
	assert_int_equal(access_read(&w, gone, &a), 0);
	assert_false(a.exists);
}

static void put(int dir, const char *path, const char *text)
{
	cleanup(closep) int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static void a_recorded_world_gives_its_yama_and_its_ids(void **state)
{
	(void)state;
	char folder[] = "/tmp/vigil-access-XXXXXX";
	static const char *const folders[] = {"812", "700", "sys", "sys/kernel", "sys/kernel/yama"};
	assert_non_null(mkdtemp(folder));
	cleanup(closep) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		assert_int_equal(mkdirat(dir, folders[i], 0755), 0);
	assert_int_equal(symlinkat("700", dir, "self"), 0);
	put(dir, "sys/kernel/yama/ptrace_scope", "1\n");
	put(dir, "700/status",
	    "Name:\tvigil\nPid:\t700\nUid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\nNSpid:\t700\n"
	    "CapEff:\t0000000000080000\nSeccomp:\t2\n");
	put(dir, "700/uid_map", "0 0 4294967295\n");
	put(dir, "812/status",
	    "Name:\tpython\nPid:\t812\nUid:\t1001\t1002\t1003\t1001\nGid:\t100\t100\t100\t100\nNSpid:\t812\t5\n"
	    "TracerPid:\t700\nCapEff:\t0\n");
	put(dir, "812/uid_map", "0 100000 65536\n");
	put(dir, "812/stat", "812 (python) S 1 812 812 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 1 0 1000 0 0\n");
	put(dir, "700/stat", "700 (vigil) S 1 700 700 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 1 0 900 0 0\n");
	struct world recorded = {
		.proc_fd = dir, .sys_fd = -1, .cgroup_fd = -1, .shm_fd = -1, .kmsg_fd = -1, .recorded = true};
	struct access_facts a;
	assert_int_equal(access_read(&recorded, 812, &a), 0);
	assert_true(a.has_yama);
	assert_int_equal(a.yama_scope, 1);
	assert_false(a.descendant);
	assert_true(a.our_ptrace_cap && !a.our_admin_cap);
	assert_true(a.has_user_ns && !a.same_user_ns);
	assert_true(a.other_pid_ns);
	assert_int_equal(a.our_seccomp, 2);
	assert_int_equal(a.uid, 1001);
	assert_int_equal(a.euid, 1002);
	assert_int_equal(a.suid, 1003);
	assert_int_equal(a.tracer, 700);
	assert_string_equal(a.tracer_name, "vigil");
	put(dir, "812/stat", "812 (python) S 700 812 812 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 1 0 1000 0 0\n");
	assert_int_equal(access_read(&recorded, 812, &a), 0);
	assert_true(a.descendant);
	static const char *const files[] = {"sys/kernel/yama/ptrace_scope", "700/status", "700/uid_map", "700/stat",
					    "812/status", "812/uid_map", "812/stat", "self"};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		assert_int_equal(unlinkat(dir, files[i], 0), 0);
	for (size_t i = ARRAY_SIZE(folders); i-- > 0;)
		assert_int_equal(unlinkat(dir, folders[i], AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(folder), 0);
}

#define LIVE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE(ones_own_child_is_open),
		LIVE(another_users_process_is_refused),
		LIVE(the_same_users_process_is_open),
		LIVE(a_process_that_closed_itself_is_seen_as_such),
		LIVE(another_user_namespace_is_seen),
		LIVE(a_filter_on_ourselves_is_told_from_a_refusal),
		LIVE(a_tracer_is_seen),
		LIVE(what_is_no_program_is_seen),
		cmocka_unit_test(a_recorded_world_gives_its_yama_and_its_ids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
