#include "testing.h"
#include "world_fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sense/proc/remote.h"

#define PAGE 4096

/* Two pages, of which the second is gone again. */
static char *page_before_a_hole(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	munmap(p + PAGE, PAGE);
	memset(p, 'x', PAGE);
	return p;
}

static uint64_t addr_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* What must hold whichever way the memory is read. */
static int reads_are_right(struct remote *r)
{
	char *page = page_before_a_hole();
	char some[64] = "", text[32];
	uint64_t v = 0, want = UINT64_C(0x1122334455667788);
	struct iovec into[2] = {{some, 3}, {some + 3, 61}};
	struct iovec from[3] = {{page, 8}, {page + PAGE - 4, 8}, {page, 8}};
	size_t n = 99;
	memcpy(page + 8, "end", 4);
	memcpy(page + PAGE - 4, "last", 4);
	bool ok = remote_u64(r, addr_of(&want), &v) == 0 && v == want;
	ok &= remote_read(r, addr_of(page + PAGE - 4), some, 8) == REMOTE_FAULT;
	ok &= remote_read(r, addr_of(page + PAGE), some, 1) == REMOTE_FAULT;
	ok &= remote_read(r, 8, some, 1) == REMOTE_FAULT;
	ok &= remote_read(r, UINT64_MAX - 2, some, 8) == REMOTE_FAULT;
	/* Stops at the first hole, in the middle of the second piece. */
	ok &= remote_readv(r, into, 2, from, 3, &n) == 0 && n == 12 && memcmp(some, "xxxxxxxxlast", 12) == 0;
	ok &= remote_readv(r, into, 2, &(struct iovec){page + PAGE, 8}, 1, &n) == 0 && n == 0;
	ok &= remote_text(r, addr_of(page + 8), text, sizeof(text)) == 0 && strcmp(text, "end") == 0;
	/* Text that runs into a hole has no end; text that ends on the last byte has one. */
	ok &= remote_text(r, addr_of(page + PAGE - 4), text, sizeof(text)) == REMOTE_FAULT;
	ok &= remote_text(r, addr_of(page + PAGE - 4), text, 4) == 0 && strcmp(text, "las") == 0;
	page[PAGE - 1] = '\0';
	ok &= remote_text(r, addr_of(page + PAGE - 4), text, sizeof(text)) == 0 && strcmp(text, "las") == 0;
	munmap(page, PAGE);
	return ok;
}

static void memory_is_read_in_one_call_up_to_the_first_hole(void **state)
{
	(void)state;
	struct world w = live_world();
	struct remote r;
	remote_open(&w, getpid(), &r);
	assert_true(reads_are_right(&r));
	assert_false(r.by_file);
	assert_true(r.calls > 0 && r.faults > 0);
	remote_done(&r);
	fixture_close(&w);
}

/* In this process from now on, process_vm_readv fails with that error. */
static int forbid_readv(uint32_t error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static pid_t waiting_child(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

static int filtered(uint32_t error)
{
	struct world w = live_world();
	struct remote r, other;
	uint64_t v;
	pid_t child = waiting_child();
	if (!forbid_readv(error))
		return 77;
	remote_open(&w, getpid(), &r);
	int ok = reads_are_right(&r) && r.by_file;
	remote_open(&w, child, &other);
	ok &= remote_u64(&other, addr_of(&child), &v) == 0 && other.by_file;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	/* The file is open still, but there is no memory behind it any more. */
	ok &= remote_u64(&other, addr_of(&child), &v) == WORLD_GONE;
	remote_done(&other);
	remote_open(&w, child, &other);
	ok &= remote_u64(&other, addr_of(&child), &v) != 0;
	remote_done(&r);
	return ok ? 0 : 1;
}

static void where_the_call_is_refused_the_file_serves(void **state)
{
	(void)state;
	const uint32_t errors[] = {ENOSYS, EPERM};
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		int status = 0;
		pid_t pid = fork();
		if (pid == 0)
			_exit(filtered(errors[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			skip(); /* no seccomp here */
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

static void kept_pages_tell_what_was_there_until_they_are_forgotten(void **state)
{
	(void)state;
	struct world w = live_world();
	struct remote r;
	static uint64_t v[2 * PAGE / 8]; /* over the end of a page */
	uint64_t got = 0;
	char text[2 * PAGE];
	remote_open(&w, getpid(), &r);
	remote_keep(&r);
	uint64_t before = r.calls;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		v[i] = i;
		assert_int_equal(remote_u64(&r, addr_of(&v[i]), &got), 0);
	}
	assert_in_range(r.calls - before, 2, 3);
	assert_int_equal(remote_read(&r, addr_of(v), text, sizeof(text)), 0); /* more than a page: as it is now */
	assert_memory_equal(text, v, sizeof(text));
	v[7] = 99;
	assert_int_equal(remote_u64(&r, addr_of(&v[7]), &got), 0);
	assert_int_not_equal(got, 99);
	remote_forget(&r);
	assert_int_equal(remote_u64(&r, addr_of(&v[7]), &got), 0);
	assert_int_equal(got, 99);
	remote_keep(&r);
	remote_done(&r);
	fixture_close(&w);
}

static void processes_that_ended_are_gone(void **state)
{
	(void)state;
	struct world w = live_world();
	struct remote r;
	uint64_t v = 7;
	pid_t child = waiting_child();
	remote_open(&w, child, &r);
	assert_int_equal(remote_u64(&r, addr_of(&w), &v), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	v = 7;
	assert_int_equal(remote_u64(&r, addr_of(&w), &v), WORLD_GONE);
	assert_int_equal(v, 7);
	remote_done(&r);
	fixture_close(&w);
}

static ssize_t three_bytes(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			   size_t n_from)
{
	(void)n_into, (void)from, (void)n_from;
	if (r->ctx)
		return *(int *)r->ctx;
	memcpy(into[0].iov_base, "abc", 3);
	return 3;
}

static void what_a_test_puts_in_is_believed_and_short_reads_are_faults(void **state)
{
	(void)state;
	const struct remote_ops ops = {.readv = three_bytes};
	struct remote r = {.mem_fd = -1, .ops = &ops};
	char text[8];
	int error = -EPERM;
	assert_int_equal(remote_read(&r, 0, text, 3), 0);
	assert_int_equal(remote_read(&r, 0, text, 4), REMOTE_FAULT);
	assert_int_equal(r.faults, 1);
	r.ctx = &error;
	assert_int_equal(remote_read(&r, 0, text, 3), WORLD_DENIED);
	assert_false(r.by_file);
	error = -ESRCH;
	assert_int_equal(remote_read(&r, 0, text, 3), WORLD_GONE);
	error = -EFAULT;
	assert_int_equal(remote_read(&r, 0, text, 3), REMOTE_FAULT);
	error = -ENOMEM;
	assert_int_equal(remote_read(&r, 0, text, 3), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_read_in_one_call_up_to_the_first_hole),
		cmocka_unit_test(where_the_call_is_refused_the_file_serves),
		cmocka_unit_test(kept_pages_tell_what_was_there_until_they_are_forgotten),
		cmocka_unit_test(processes_that_ended_are_gone),
		cmocka_unit_test(what_a_test_puts_in_is_believed_and_short_reads_are_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
