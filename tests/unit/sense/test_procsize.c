#include "world_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sense/proc/proc.h"
#include "sense/proc/procsize.h"

#define HELD (96 * MIB)
#define RESERVED (64 * GIB)

static char *held(size_t bytes, int flags)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
	assert_true(p != MAP_FAILED);
	ignore(madvise(p, bytes, MADV_NOHUGEPAGE), "a kernel may have no huge pages");
	return p;
}

/* A child that has written half of what it has from its parent. */
static pid_t child_start(char *p, int fd[2])
{
	char c;
	assert_int_equal(pipe(fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(p, 2, HELD / 2);
		ignore(write(fd[1], "x", 1), "the parent waits in vain then");
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	assert_int_equal(read(fd[0], &c, 1), 1);
	return pid;
}

static void end(pid_t pid, int fd[2])
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	close(fd[0]);
	close(fd[1]);
}

static void assert_near(uint64_t got, uint64_t want, uint64_t of)
{
	uint64_t off = got > want ? got - want : want - got;
	if (off > of / 20)
		fail_msg("%llu is not within a twentieth of %llu from %llu", (unsigned long long)got,
			 (unsigned long long)of, (unsigned long long)want);
}

static void a_sample_says_what_the_walk_says(void **state)
{
	(void)state;
	if (access("/proc/kpagecount", R_OK) != 0)
		skip(); /* who shares a page is for root to see */
	struct world w = live_world();
	int fd[2];
	char *p = held(HELD, MAP_PRIVATE);
	memset(p, 1, HELD);
	char *empty = held(RESERVED, MAP_PRIVATE); /* as many allocators do */
	assert_int_equal(mprotect(empty, RESERVED, PROT_NONE), 0);
	pid_t pid = child_start(p, fd);
	struct procsize got;
	struct proc_rollup walked;
	struct proc_status st;
	assert_int_equal(proc_status_read(&w, pid, &st), 0);
	assert_int_equal(proc_rollup_read(&w, pid, &walked), 0);
	assert_int_equal(procsize_sampled_read(&w, pid, st.rss_bytes, &got), 0);
	assert_true(got.sampled);
	assert_near(got.pss_bytes, walked.pss_bytes, walked.rss_bytes);
	assert_near(got.private_bytes, walked.private_bytes, walked.rss_bytes);
	end(pid, fd);
	munmap(p, HELD);
	munmap(empty, RESERVED);
	fixture_close(&w);
}

/* In a process of its own, which gives up the rights to see who shares a page. 0, or WORLD_…; 100: it could not try. */
static int sampled_without_rights(size_t shared_bytes)
{
	char *p = held(HELD, MAP_PRIVATE);
	memset(p, 1, HELD);
	pid_t pid = fork();
	if (pid == 0) {
		memset(p, 2, HELD - shared_bytes);
		if (geteuid() == 0 && (syscall(SYS_setresgid, 65534, 65534, 65534) != 0 ||
				       syscall(SYS_setresuid, 65534, 65534, 65534) != 0))
			_exit(100);
		(void)prctl(PR_SET_DUMPABLE, 1);
		struct world w = live_world();
		struct proc_status st;
		struct procsize got;
		if (proc_status_read(&w, getpid(), &st) != 0)
			_exit(100);
		int r = procsize_sampled_read(&w, getpid(), st.rss_bytes, &got);
		bool right = r != 0 || (got.private_bytes <= got.pss_bytes && got.pss_bytes > HELD - HELD / 10);
		_exit(right ? r : 101);
	}
	int status = 0;
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	munmap(p, HELD);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void who_shares_is_not_guessed(void **state)
{
	(void)state;
	assert_int_equal(sampled_without_rights(HELD / 50), 0);
	assert_int_equal(sampled_without_rights(HELD / 2), WORLD_ABSENT);
}

static void a_sample_that_does_not_add_up_is_none(void **state)
{
	(void)state;
	struct world w = live_world();
	struct procsize got;
	char *p = held(HELD, MAP_PRIVATE);
	memset(p, 1, HELD);
	assert_int_equal(procsize_sampled_read(&w, getpid(), 3 * HELD, &got), WORLD_ABSENT);
	munmap(p, HELD);
	fixture_close(&w);
}

static void a_small_process_is_walked(void **state)
{
	(void)state;
	struct world w = live_world();
	struct procsize got;
	assert_int_equal(procsize_read(&w, getpid(), &got), 0);
	assert_false(got.sampled);
	assert_true(got.private_bytes > 0 && got.private_bytes <= got.pss_bytes);
	assert_int_not_equal(procsize_read(&w, 0x7ffffff0, &got), 0);
	assert_int_equal(procsize_sampled_read(&w, 0x7ffffff0, GIB, &got), WORLD_GONE);
	fixture_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_says_what_the_walk_says),
		cmocka_unit_test(who_shares_is_not_guessed),
		cmocka_unit_test(a_sample_that_does_not_add_up_is_none),
		cmocka_unit_test(a_small_process_is_walked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
