#include "testing.h"
#include "world_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sense/bpf/records.h"
#include "sense/bpf/bpfload.h"
#include "sense/death/sigwatch.h"
#include "sense/proc/tasks.h"

/*
 * Whatever is not possible here is said, and skipped; never passed over in
 * silence. On a machine that is known to allow it, VIGIL_NEED_BPF=1 makes a
 * refusal a failure.
 */
#define NEED(call)                                                                                                     \
	do {                                                                                                           \
		char why_[200] = "";                                                                                   \
		int r_ = call(why_, sizeof(why_));                                                                     \
		if (r_ == WORLD_ABSENT || r_ == WORLD_DENIED) {                                                        \
			if (getenv("VIGIL_NEED_BPF"))                                                                  \
				fail_msg("%s", why_);                                                                  \
			print_message("skipped: %s\n", why_);                                                          \
			skip();                                                                                        \
		}                                                                                                      \
		assert_int_equal(r_, 0);                                                                               \
	} while (0)

static int iter_fd = -1;
static struct bpf_sigwatch_fds watch_fds = {.link_fd = -1, .end_link_fd = -1, .env_link_fd = -1, .ring_fd = -1};

static int load_tasks(char *why, size_t cap)
{
	return iter_fd >= 0 ? 0 : bpf_tasks_load(&iter_fd, why, cap);
}

static int load_watch(char *why, size_t cap)
{
	return watch_fds.ring_fd >= 0 ? 0 : bpf_sigwatch_load(0, &watch_fds, why, cap);
}

/* A child that stays until it is killed; returns once it is really there. */
static pid_t child_new(void (*setup)(void))
{
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setup)
			setup();
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	char c;
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void child_end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void fill_memory(void)
{
	const size_t anon = 96 << 20, shared = 32 << 20;
	char *a = mmap(NULL, anon, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *s = mmap(NULL, shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (a == MAP_FAILED || s == MAP_FAILED)
		_exit(1);
	memset(a, 1, anon);
	memset(s, 1, shared);
	(void)prctl(PR_SET_NAME, "has (memory)");
}

/* Counters with a part on each processor may miss this much: 64 pages a processor, taken with a margin. */
static uint64_t slack_bytes(void)
{
	uint64_t ncpu = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	return MAX(UINT64_C(128), 4 * ncpu) * ncpu * 4096;
}

static void assert_close(uint64_t a, uint64_t b)
{
	uint64_t gap = a > b ? a - b : b - a;
	if (gap > slack_bytes())
		fail_msg("%llu and %llu bytes are too far apart", (unsigned long long)a, (unsigned long long)b);
}

static void the_iterator_agrees_with_proc(void **state)
{
	(void)state;
	NEED(load_tasks);
	struct world w = live_world();
	struct tasks bpf, proc;
	struct proc_stat s;
	pid_t child = child_new(fill_memory);
	assert_int_equal(tasks_init(&bpf, 65536, iter_fd), 0);
	assert_int_equal(tasks_init(&proc, 65536, -1), 0);
	assert_int_equal(tasks_scan(&bpf, &w), 0);
	assert_int_equal(tasks_scan(&proc, &w), 0);
	assert_int_equal(bpf.source, TASKS_BPF);
	assert_int_equal(proc_stat_read(&w, child, &s), 0);
	const struct task_row *b = tasks_find(&bpf, child), *p = tasks_find(&proc, child);
	assert_non_null(b);
	assert_non_null(p);
	assert_true(b->start_ticks == s.start_ticks);
	assert_int_equal(b->ppid, getpid());
	assert_string_equal(b->comm, "has (memory)");
	assert_true(b->has_adj && b->has_split);
	assert_close(b->rss_anon_bytes, p->rss_anon_bytes);
	assert_close(b->rss_shmem_bytes, 32 * MIB);
	assert_close(task_rss_bytes(b), task_rss_bytes(p));
	tasks_done(&bpf);
	tasks_done(&proc);
	child_end(child);
	fixture_close(&w);
}

static void *keep_memory(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* The process goes on, and so does its memory; the threads are one process, not three. */
static void a_process_whose_main_thread_has_ended_is_seen(void **state)
{
	(void)state;
	NEED(load_tasks);
	struct world w = live_world();
	struct tasks bpf;
	struct proc_stat s;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		pthread_t t;
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		fill_memory();
		if (pthread_create(&t, NULL, keep_memory, NULL) != 0 ||
		    pthread_create(&t, NULL, keep_memory, NULL) != 0)
			_exit(1);
		pthread_exit(NULL);
	}
	uint64_t deadline = clock_mono_ns() + 10 * NS_PER_S;
	do
		assert_int_equal(proc_stat_read(&w, child, &s), 0);
	while (s.state != 'Z' && clock_mono_ns() < deadline);
	assert_int_equal(tasks_init(&bpf, 65536, iter_fd), 0);
	assert_int_equal(tasks_scan(&bpf, &w), 0);
	size_t rows = 0;
	for (size_t i = 0; i < bpf.n; i++)
		rows += bpf.rows[i].pid == child;
	assert_int_equal(rows, 1);
	const struct task_row *b = tasks_find(&bpf, child);
	assert_true(b->start_ticks == s.start_ticks);
	assert_int_equal(b->ppid, getpid());
	assert_string_equal(b->comm, "has (memory)");
	assert_true(b->rss_anon_bytes >= 90 * MIB);
	tasks_done(&bpf);
	child_end(child);
	fixture_close(&w);
}

/* Some kernels keep BPF from seeing what we may not trace either. */
static bool may_look_at(const struct world *w, pid_t pid)
{
	char path[32], target[8];
	TEXT_FORMAT(path, "%d/exe", pid);
	return readlinkat(w->proc_fd, path, target, sizeof(target)) > 0;
}

/* All who lived through both scans must be in both, with the same birth and the same parent. */
static void the_iterator_sees_the_same_processes_as_proc(void **state)
{
	(void)state;
	NEED(load_tasks);
	struct world w = live_world();
	struct tasks bpf, before, after;
	assert_int_equal(tasks_init(&bpf, 65536, iter_fd), 0);
	assert_int_equal(tasks_init(&before, 65536, -1), 0);
	assert_int_equal(tasks_init(&after, 65536, -1), 0);
	assert_int_equal(tasks_scan(&before, &w), 0);
	assert_int_equal(tasks_scan(&bpf, &w), 0);
	assert_int_equal(tasks_scan(&after, &w), 0);
	size_t stayed = 0;
	for (size_t i = 0; i < before.n; i++) {
		const struct task_row *a = &before.rows[i], *z = tasks_find(&after, a->pid);
		if (!z || z->start_ticks != a->start_ticks || z->ppid != a->ppid || !may_look_at(&w, a->pid))
			continue;
		const struct task_row *b = tasks_find(&bpf, a->pid);
		if (!b || b->start_ticks != a->start_ticks || b->ppid != a->ppid)
			fail_msg("process %d (%s) of %d is %s", a->pid, a->comm, a->ppid, b ? "different" : "missing");
		stayed++;
	}
	assert_true(stayed > 0);
	tasks_done(&bpf);
	tasks_done(&before);
	tasks_done(&after);
	fixture_close(&w);
}

static void rows_beyond_the_room_are_counted_by_the_iterator_too(void **state)
{
	(void)state;
	NEED(load_tasks);
	struct world w = live_world();
	struct tasks t;
	pid_t child = child_new(NULL);
	assert_int_equal(tasks_init(&t, 1, iter_fd), 0);
	assert_int_equal(tasks_scan(&t, &w), 0);
	assert_int_equal(t.n, 1);
	assert_true(t.dropped >= 1);
	tasks_done(&t);
	child_end(child);
	fixture_close(&w);
}

/* In a pid namespace of its own the reader must get numbers that it can use there. */
static void a_reader_in_a_pid_namespace_gets_its_own_numbers(void **state)
{
	(void)state;
	NEED(load_tasks);
	struct world w = live_world();
	pid_t outer = fork();
	assert_true(outer >= 0);
	if (outer == 0) {
		if (unshare(CLONE_NEWPID) < 0)
			_exit(errno == EPERM ? 77 : 1);
		pid_t inner = fork();
		if (inner == 0) {
			struct tasks t;
			if (tasks_init(&t, 65536, iter_fd) != 0 || tasks_scan(&t, &w) != 0)
				_exit(2);
			const struct task_row *r = tasks_find(&t, 1);
			_exit(t.source == TASKS_BPF && t.n == 1 && r && r->ppid == 0 ? 0 : 3);
		}
		int status = 0;
		if (inner < 0 || waitpid(inner, &status, 0) != inner)
			_exit(4);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 5);
	}
	int status;
	assert_int_equal(waitpid(outer, &status, 0), outer);
	fixture_close(&w);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: not permitted to make a pid namespace\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Others send signals as well: wait for the one that is meant, at most 10 s. */
static bool event_wait(struct sigwatch *s, const struct world *w, pid_t target, int signal, struct sigwatch_event *ret)
{
	uint64_t deadline = clock_mono_ns() + 10 * NS_PER_S;
	while (clock_mono_ns() < deadline) {
		struct sigwatch_event e[16];
		size_t n;
		assert_int_equal(sigwatch_read(s, w, e, ARRAY_SIZE(e), &n), 0);
		for (size_t i = 0; i < n; i++)
			if (e[i].target == target && e[i].signal == signal) {
				*ret = e[i];
				return true;
			}
		if (n == ARRAY_SIZE(e))
			continue;
		struct pollfd p = {.fd = s->ring_fd, .events = POLLIN};
		(void)poll(&p, 1, 100);
	}
	return false;
}

static void the_sender_of_a_kill_is_named(void **state)
{
	(void)state;
	NEED(load_watch);
	struct world w = live_world();
	struct sigwatch s;
	struct sigwatch_event e;
	struct proc_stat stat;
	pid_t child = child_new(NULL);
	assert_int_equal(proc_stat_read(&w, child, &stat), 0);
	assert_int_equal(sigwatch_open(watch_fds.ring_fd, watch_fds.ring_bytes, &s), 0);
	int64_t before = w.unix_ms();
	child_end(child);
	assert_true(event_wait(&s, &w, child, SIGKILL, &e));
	assert_int_equal(e.sender, getpid());
	assert_int_equal(e.sender_inner, getpid());
	assert_int_equal(e.sender_uid, getuid());
	assert_string_equal(e.sender_comm, "test_sense_bpf");
	assert_false(e.from_kernel);
	if (clocks_are_the_kernels())
		assert_true(e.target_start_ticks == stat.start_ticks);
	assert_true(e.time_unix_ms >= before - 1000 && e.time_unix_ms <= w.unix_ms() + 1000);
	assert_true(s.lost == 0);
	sigwatch_close(&s);
	fixture_close(&w);
}

static void the_kernel_is_told_apart_from_people(void **state)
{
	(void)state;
	NEED(load_watch);
	struct world w = live_world();
	struct sigwatch s;
	struct sigwatch_event e;
	assert_int_equal(sigwatch_open(watch_fds.ring_fd, watch_fds.ring_bytes, &s), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)prctl(PR_SET_DUMPABLE, 0); /* no core file of a crash on purpose */
		(void)signal(SIGSEGV, SIG_DFL);
		char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*(volatile char *)page = 1;
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	assert_true(event_wait(&s, &w, child, SIGSEGV, &e));
	assert_true(e.from_kernel);
	assert_true(e.code > 0);
	sigwatch_close(&s);
	fixture_close(&w);
}

/* Only signals to descendants of one process are reported, at any depth and from any sender. */
static void a_watch_over_one_process_sees_its_descendants_only(void **state)
{
	(void)state;
	NEED(load_watch);
	struct world w = live_world();
	struct bpf_sigwatch_fds fds;
	struct sigwatch s;
	struct sigwatch_event e = {.target = 0};
	char why[200];
	int out[2];
	pid_t grandchild;
	assert_int_equal(pipe(out), 0);
	pid_t root = fork();
	if (root == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		grandchild = fork();
		if (grandchild == 0)
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		else if (write(out[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(out[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	assert_int_equal(bpf_sigwatch_load(root, &fds, why, sizeof(why)), 0);
	assert_int_equal(sigwatch_open(fds.ring_fd, fds.ring_bytes, &s), 0);
	pid_t stranger = child_new(NULL);
	child_end(stranger);
	assert_int_equal(kill(grandchild, SIGKILL), 0);
	uint64_t deadline = clock_mono_ns() + 10 * NS_PER_S;
	for (size_t n = 0; n == 0 && clock_mono_ns() < deadline;) {
		struct pollfd p = {.fd = s.ring_fd, .events = POLLIN};
		(void)poll(&p, 1, 100);
		assert_int_equal(sigwatch_read(&s, &w, &e, 1, &n), 0);
	}
	assert_int_equal(e.target, grandchild); /* the first that was told of at all */
	assert_int_equal(e.sender, getpid());
	sigwatch_close(&s);
	close(fds.link_fd);
	close(fds.ring_fd);
	child_end(root);
	close(out[0]);
	close(out[1]);
	fixture_close(&w);
}

/* Stop and continue go by unseen: the next thing seen of this child is its end. */
static void job_control_is_not_watched(void **state)
{
	(void)state;
	NEED(load_watch);
	struct world w = live_world();
	struct sigwatch s;
	assert_int_equal(sigwatch_open(watch_fds.ring_fd, watch_fds.ring_bytes, &s), 0);
	pid_t child = child_new(NULL);
	assert_int_equal(kill(child, SIGSTOP), 0);
	assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
	assert_int_equal(kill(child, SIGCONT), 0);
	assert_int_equal(kill(child, SIGTERM), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	uint64_t deadline = clock_mono_ns() + 10 * NS_PER_S;
	int first = 0;
	while (first == 0 && clock_mono_ns() < deadline) {
		struct sigwatch_event e;
		size_t n;
		assert_int_equal(sigwatch_read(&s, &w, &e, 1, &n), 0);
		if (n == 1 && e.target == child)
			first = e.signal;
		struct pollfd p = {.fd = s.ring_fd, .events = POLLIN};
		if (n == 0)
			(void)poll(&p, 1, 100);
	}
	assert_int_equal(first, SIGTERM);
	sigwatch_close(&s);
	fixture_close(&w);
}

static void take_nothing(int signal unused)
{
}

/* The events of one process until its end, at most cap; the end is the last. */
static size_t events_until_end(struct sigwatch *s, const struct world *w, pid_t pid, struct sigwatch_event *ret,
			       size_t cap)
{
	uint64_t deadline = clock_mono_ns() + 10 * NS_PER_S;
	size_t n = 0, got;
	while (n < cap && clock_mono_ns() < deadline) {
		struct pollfd p = {.fd = s->ring_fd, .events = POLLIN};
		assert_int_equal(sigwatch_read(s, w, &ret[n], 1, &got), 0);
		if (got == 0) {
			(void)poll(&p, 1, 100);
			continue;
		}
		if (ret[n].is_end ? ret[n].end.pid == pid : ret[n].target == pid)
			n++;
		if (n > 0 && ret[n - 1].is_end)
			break;
	}
	return n;
}

static void any_signal_without_a_handler_is_told_and_how_a_process_ended(void **state)
{
	(void)state;
	struct bpf_sigwatch_fds fds;
	struct sigwatch s;
	struct sigwatch_event e[8];
	char why[200];
	NEED(load_watch);
	struct world w = live_world();
	assert_int_equal(bpf_sigwatch_load(getpid(), &fds, why, sizeof(why)), 0);
	assert_true(fds.end_link_fd >= 0);
	assert_int_equal(sigwatch_open(fds.ring_fd, fds.ring_bytes, &s), 0);
	pid_t child = fork();
	if (child == 0) {
		struct rlimit files = {.rlim_cur = 77, .rlim_max = 78};
		(void)setrlimit(RLIMIT_NOFILE, &files);
		(void)signal(SIGUSR1, take_nothing);
		(void)raise(SIGUSR1); /* handled: not told of */
		(void)raise(SIGUSR2);
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	size_t n = events_until_end(&s, &w, child, e, ARRAY_SIZE(e));
	assert_int_equal(n, 2);
	assert_int_equal(e[0].signal, SIGUSR2);
	assert_int_equal(e[0].sender, child);
	assert_true(e[1].is_end && WIFSIGNALED(e[1].end.wait_status));
	assert_int_equal(WTERMSIG(e[1].end.wait_status), SIGUSR2);
	assert_int_equal(e[1].end.parent, getpid());
	assert_int_equal(e[1].end_inner, child);
	assert_true(e[1].end.soft_limit[RLIMIT_NOFILE] == 77 && e[1].end.hard_limit[RLIMIT_NOFILE] == 78);
	assert_true(e[1].end.peak_rss_bytes > 4096);
	child = fork();
	if (child == 0)
		_exit(3);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(events_until_end(&s, &w, child, e, ARRAY_SIZE(e)), 1);
	assert_true(WIFEXITED(e[0].end.wait_status) && WEXITSTATUS(e[0].end.wait_status) == 3);
	sigwatch_close(&s);
	closep(&fds.link_fd);
	closep(&fds.end_link_fd);
	closep(&fds.env_link_fd);
	closep(&fds.ring_fd);
	fixture_close(&w);
}

/* The ends of a program that was executed with this environment and of children that a fork made of it. */
static void the_variables_that_number_a_rank_and_the_command_come_with_the_end(void **state)
{
	(void)state;
	static char filler[3000], no_rank[] = "RANKING=7", rank[] = "RANK=3", world[] = "WORLD_SIZE=4";
	static char slurm[] = "SLURM_PROCID=0", sh[] = "sh", option[] = "-c";
	static char text[] = "(exit 5); (exit 0); (exit 0); (exit 6); exit 7";
	char *const variables[] = {filler, no_rank, rank, world, slurm, NULL};
	char *const script[] = {sh, option, text, NULL};
	static const char expected[] = "RANK=3\0WORLD_SIZE=4\0SLURM_PROCID=0", command[] = "sh\0-c\0(exit 5); ";
	struct bpf_sigwatch_fds fds;
	struct sigwatch s;
	struct sigwatch_event e[3];
	char why[200];
	NEED(load_watch);
	struct world w = live_world();
	memset(filler, 'R', sizeof(filler) - 1);
	filler[4] = '=';
	assert_int_equal(bpf_sigwatch_load(getpid(), &fds, why, sizeof(why)), 0);
	if (fds.env_link_fd < 0)
		skip(); /* kernels before 5.17 */
	assert_int_equal(sigwatch_open(fds.ring_fd, fds.ring_bytes, &s), 0);
	pid_t child = fork();
	if (child == 0) {
		(void)execve("/bin/sh", script, variables);
		_exit(127);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	for (int k = 0; k < 3; k++) {
		size_t n = 0;
		const uint64_t deadline = clock_mono_ns() + 10 * NS_PER_S;
		for (struct pollfd p = {.fd = s.ring_fd, .events = POLLIN}; n == 0 && clock_mono_ns() < deadline;
		     (void)poll(&p, 1, 100))
			assert_int_equal(sigwatch_read(&s, &w, &e[k], 1, &n), 0);
		assert_true(n == 1 && e[k].is_end);
		assert_int_equal(WEXITSTATUS(e[k].end.wait_status), 5 + k);
		assert_int_equal(e[k].end_ranks_len, sizeof(expected));
		assert_memory_equal(e[k].end_ranks, expected, sizeof(expected));
		/* two that were well and short came before the second */
		assert_true(e[k].end.forked == (k < 2) && e[k].end.well_before == (k == 1 ? 2u : 0));
	}
	assert_true(e[0].end_command_len == 0 && e[1].end_command_len == 0);
	assert_int_equal(e[2].end_command_len, sizeof("sh\0-c") + sizeof(text));
	assert_memory_equal(e[2].end_command, command, sizeof(command) - 1);
	sigwatch_close(&s);
	closep(&fds.link_fd);
	closep(&fds.end_link_fd);
	closep(&fds.env_link_fd);
	closep(&fds.ring_fd);
	fixture_close(&w);
}

static void signals_that_find_the_ring_full_are_counted(void **state)
{
	(void)state;
	NEED(load_watch);
	struct world w = live_world();
	struct sigwatch s;
	struct sigwatch_event e;
	pid_t child = child_new(NULL);
	assert_int_equal(sigwatch_open(watch_fds.ring_fd, watch_fds.ring_bytes, &s), 0);
	const size_t room = watch_fds.ring_bytes / sizeof(struct bpf_signal_record);
	/* A blocked signal that is taken each time can be sent without end, and harms nobody. */
	sigset_t block, old;
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &block, &old), 0);
	for (size_t i = 0; i < 2 * room; i++) {
		assert_int_equal(kill(getpid(), SIGTERM), 0);
		struct timespec now = {};
		assert_int_equal(sigtimedwait(&block, NULL, &now), SIGTERM);
	}
	assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
	struct sigwatch_event many[64];
	size_t n = 0, total = 0;
	do {
		assert_int_equal(sigwatch_read(&s, &w, many, ARRAY_SIZE(many), &n), 0);
		total += n;
	} while (n == ARRAY_SIZE(many));
	assert_true(total > 0 && total <= room);
	child_end(child);
	assert_true(event_wait(&s, &w, child, SIGKILL, &e));
	assert_true(s.lost > 0);
	sigwatch_close(&s);
	fixture_close(&w);
}

static void what_is_no_ring_is_refused(void **state)
{
	(void)state;
	struct sigwatch s;
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(sigwatch_open(fd, 65536, &s) < 0);
	assert_int_equal(sigwatch_open(fd, 1, &s), -EINVAL);
	assert_int_equal(sigwatch_open(fd, 65535, &s), -EINVAL);
	close(fd);
}

/* Without rights there must be a condition and a sentence, and not a word on stderr. */
static void being_refused_is_a_condition_with_a_reason(void **state)
{
	(void)state;
	int err[2];
	assert_int_equal(pipe(err), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		char why[200] = "";
		int fd = -1;
		struct bpf_sigwatch_fds f;
		if (dup2(err[1], STDERR_FILENO) < 0 || (geteuid() == 0 && setuid(65534) < 0))
			_exit(9);
		int r = bpf_tasks_load(&fd, why, sizeof(why));
		if ((r != WORLD_DENIED && r != WORLD_ABSENT) || why[0] == '\0' || fd != -1)
			_exit(1);
		why[0] = '\0';
		r = bpf_sigwatch_load(0, &f, why, sizeof(why));
		_exit((r != WORLD_DENIED && r != WORLD_ABSENT) || why[0] == '\0' ? 2 : 0);
	}
	close(err[1]);
	char c;
	assert_int_equal(read(err[0], &c, 1), 0);
	close(err[0]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int fds_close(void **state)
{
	(void)state;
	closep(&iter_fd);
	closep(&watch_fds.link_fd);
	closep(&watch_fds.ring_fd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_iterator_agrees_with_proc),
		cmocka_unit_test(a_process_whose_main_thread_has_ended_is_seen),
		cmocka_unit_test(the_iterator_sees_the_same_processes_as_proc),
		cmocka_unit_test(rows_beyond_the_room_are_counted_by_the_iterator_too),
		cmocka_unit_test(a_reader_in_a_pid_namespace_gets_its_own_numbers),
		cmocka_unit_test(the_sender_of_a_kill_is_named),
		cmocka_unit_test(the_kernel_is_told_apart_from_people),
		cmocka_unit_test(job_control_is_not_watched),
		cmocka_unit_test(a_watch_over_one_process_sees_its_descendants_only),
		cmocka_unit_test(any_signal_without_a_handler_is_told_and_how_a_process_ended),
		cmocka_unit_test(the_variables_that_number_a_rank_and_the_command_come_with_the_end),
		cmocka_unit_test(signals_that_find_the_ring_full_are_counted),
		cmocka_unit_test(what_is_no_ring_is_refused),
		cmocka_unit_test(being_refused_is_a_condition_with_a_reason),
	};
	return cmocka_run_group_tests_name("sense/bpf", tests, NULL, fds_close);
}
