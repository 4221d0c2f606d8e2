/*
 * How long from "too much" to memory free again, when the victim is at nice 19
 * among processes that want every CPU? Three ways to end it, one line of JSON
 * a round:
 *
 *   kill   SIGKILL and nothing else, sent the moment the line is crossed
 *   reap   the same and process_mrelease(2) at once
 *   guard  nothing is sent: the guard that runs the hog has to (vigil run)
 *
 *   release [--size BYTES=2G] [--hogs N=4 a CPU] [--rounds N=3] [--nice N=19] --way WAY -- HOG [ARG…]
 *   release … --way guard -- vigil run --memory-threshold 0.5 … -- HOG
 *
 * The hog runs in a memory group of its own, whose limit is twice --size, so
 * that a guard's threshold is given as 0.5. It fills 95 % of --size, waits,
 * and then grows slowly over the line. Time runs from the first reading above
 * --size to the first below a tenth of it; readings are 0.5 ms apart.
 */
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "meter.h"
#include "page.h"

#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#define MAX_ARGS 96
#define MAX_HOGS 1024
#define PATIENCE_NS (60 * NS_PER_S)

static struct {
	uint64_t size_bytes, hogs, rounds, nice;
	const char *way;
} arg = {.size_bytes = 2 * GIB, .rounds = 3, .nice = 19};

struct round {
	char group[128], page_path[64];
	struct page *page;
	struct meter meter;
	pid_t child, hogs[MAX_HOGS];
	uint64_t crossed_ns, gone_ns, freed_ns;
	int reap_error;
};

static void pause_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	nanosleep(&t, NULL);
}

/* Dependent arithmetic that the compiler cannot drop: only wants the CPU. */
static void burn(void)
{
	volatile uint64_t x = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, 0);
	for (;;)
		x = x * 6364136223846793005u + 1;
}

static int group_make(struct round *r)
{
	bool v2 = access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
	const char *top = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
	char file[192], limit[32];

	if (v2) {
		int e = file_write_at(AT_FDCWD, "/sys/fs/cgroup/cgroup.subtree_control", "+memory");

		if (e < 0)
			return e;
	}
	snprintf(r->group, sizeof(r->group), "%s/vigil-release.%d", top, getpid());
	if (mkdir(r->group, 0755) < 0)
		return -errno;
	snprintf(file, sizeof(file), "%s/%s", r->group, v2 ? "memory.max" : "memory.limit_in_bytes");
	snprintf(limit, sizeof(limit), "%lu", arg.size_bytes * 2);
	return file_write_at(AT_FDCWD, file, limit);
}

/* The group empties a moment after its last process was waited for; a guard may have made groups in it. */
static void group_remove(const char *group)
{
	uint64_t end = clock_mono_ns() + 5 * NS_PER_S;

	while (rmdir(group) < 0 && errno == EBUSY && clock_mono_ns() < end)
		pause_ns(10 * NS_PER_MS);
}

static int start_victim(struct round *r, char **argv, int argc)
{
	char *full[MAX_ARGS], prefill[32], procs[192];
	char *extra[] = {(char *)"--page", r->page_path, (char *)"--prefill", prefill, (char *)"--rate",
			 (char *)"200M",   NULL};

	if ((size_t)argc + ARRAY_SIZE(extra) > MAX_ARGS)
		return -E2BIG;
	snprintf(prefill, sizeof(prefill), "%lu", arg.size_bytes / 100 * 95);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", r->group);
	memcpy(full, argv, (size_t)argc * sizeof(*argv));
	memcpy(full + argc, extra, sizeof(extra));
	r->child = fork();
	if (r->child < 0)
		return -errno;
	if (r->child > 0)
		return 0;
	setpgid(0, 0);
	munlockall();
	setpriority(PRIO_PROCESS, 0, 0);
	if (file_write_at(AT_FDCWD, procs, "0") < 0)
		_exit(126);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(full[0], full);
	_exit(127);
}

static int wait_ready(struct round *r)
{
	uint64_t end = clock_mono_ns() + PATIENCE_NS;

	while (!atomic_load(&r->page->ready)) {
		if (waitpid(r->child, NULL, WNOHANG) != 0 || clock_mono_ns() > end)
			return -ETIMEDOUT;
		pause_ns(NS_PER_MS);
	}
	return 0;
}

static void end_victim(struct round *r, int pidfd)
{
	syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	if (!strcmp(arg.way, "reap"))
		while (syscall(SYS_process_mrelease, pidfd, 0) < 0) {
			r->reap_error = errno;
			if (errno != EAGAIN && errno != EINTR)
				break;
		}
}

static int watch(struct round *r, int pidfd)
{
	uint64_t end = clock_mono_ns() + PATIENCE_NS, used = 0;

	atomic_store(&r->page->go, 1);
	while (!r->freed_ns || !r->gone_ns) {
		struct pollfd p = {pidfd, POLLIN, 0};
		int e = meter_usage(&r->meter, &used);

		if (e < 0)
			return e;
		if (clock_mono_ns() > end)
			return -ETIMEDOUT;
		if (!r->crossed_ns && used > arg.size_bytes) {
			r->crossed_ns = clock_mono_ns();
			if (strcmp(arg.way, "guard"))
				end_victim(r, pidfd);
		}
		if (!r->freed_ns && r->crossed_ns && used < arg.size_bytes / 10)
			r->freed_ns = clock_mono_ns();
		if (!r->gone_ns && poll(&p, 1, 0) > 0)
			r->gone_ns = clock_mono_ns();
		if (r->gone_ns && !r->crossed_ns)
			return -ESRCH; /* ended below the line: the guard's threshold is not where it should be */
		pause_ns(NS_PER_MS / 2);
	}
	return 0;
}

static void set_hogs(struct round *r, bool on)
{
	for (uint64_t i = 0; i < arg.hogs; i++) {
		if (!on) {
			kill(r->hogs[i], SIGKILL);
			waitpid(r->hogs[i], NULL, 0);
			continue;
		}
		r->hogs[i] = fork();
		if (r->hogs[i] == 0)
			burn();
	}
}

static int measure(struct round *r, char **argv, int argc)
{
	cleanup(closep) int pidfd = -1;
	pid_t victim;
	int e = start_victim(r, argv, argc);

	if (e == 0)
		e = wait_ready(r);
	if (e < 0)
		return e;
	victim = atomic_load(&r->page->pid[0]);
	pidfd = (int)syscall(SYS_pidfd_open, victim, 0);
	if (pidfd < 0 || setpriority(PRIO_PROCESS, (id_t)victim, (int)arg.nice) < 0)
		return -errno;
	set_hogs(r, true);
	e = watch(r, pidfd);
	set_hogs(r, false);
	kill(victim, SIGKILL);
	return e;
}

static int round_run(struct round *r, char **argv, int argc, uint64_t n)
{
	int e = page_make(r->page_path, &r->page);

	if (e == 0)
		e = group_make(r);
	if (e == 0)
		e = meter_open(&r->meter, r->group);
	if (e == 0)
		e = measure(r, argv, argc);
	if (r->child > 0) {
		uint64_t end = clock_mono_ns() + 5 * NS_PER_S;

		while (waitpid(r->child, NULL, WNOHANG) == 0 && clock_mono_ns() < end)
			pause_ns(NS_PER_MS);
		kill(-r->child, SIGKILL);
	}
	group_remove(r->group);
	unlink(r->page_path);
	if (e < 0)
		return e;
	printf("{\"way\":\"%s\",\"round\":%lu,\"size_mib\":%lu,\"hogs\":%lu,\"nice\":%lu,\"cross_to_free_ms\":%.2f,"
	       "\"cross_to_gone_ms\":%.2f",
	       arg.way, n, arg.size_bytes / MIB, arg.hogs, arg.nice,
	       (double)(r->freed_ns - r->crossed_ns) / (double)NS_PER_MS,
	       (double)(r->gone_ns - r->crossed_ns) / (double)NS_PER_MS);
	if (r->reap_error)
		printf(",\"mrelease_error\":\"%s\"", strerrorname_np(r->reap_error));
	puts("}");
	fflush(stdout);
	return 0;
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"size", required_argument, NULL, 's'}, {"hogs", required_argument, NULL, 'h'},
		{"rounds", required_argument, NULL, 'r'}, {"nice", required_argument, NULL, 'n'},
		{"way", required_argument, NULL, 'w'}, {0},
	};
	struct fault f = {0};
	int c, r = 0;

	arg.hogs = 4 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	while (r == 0 && (c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 's')
			r = size_parse(optarg, &arg.size_bytes, &f);
		else if (c == 'h')
			r = span_u64(span_of(optarg), &arg.hogs);
		else if (c == 'r')
			r = span_u64(span_of(optarg), &arg.rounds);
		else if (c == 'n')
			r = span_u64(span_of(optarg), &arg.nice);
		else if (c == 'w')
			arg.way = optarg;
		else
			r = -EINVAL;
	}
	if (r < 0 || optind >= argc || !arg.way || arg.hogs > MAX_HOGS || arg.nice > 19)
		return -EINVAL;
	return !strcmp(arg.way, "kill") || !strcmp(arg.way, "reap") || !strcmp(arg.way, "guard") ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	int e = parse(argc, argv);

	if (e < 0) {
		fprintf(stderr, "release: wrong usage; release [--size BYTES] [--hogs N] [--rounds N] [--nice N] "
		                "--way kill|reap|guard -- HOG [ARG…]\n");
		return 2;
	}
	ignore(mlockall(MCL_CURRENT | MCL_FUTURE), "best effort");
	setpriority(PRIO_PROCESS, 0, -20);
	for (uint64_t i = 0; e == 0 && i < arg.rounds; i++) {
		static struct round r;

		r = (struct round){0};
		snprintf(r.page_path, sizeof(r.page_path), "/tmp/vigil-release.%d", getpid());
		e = round_run(&r, argv + optind, argc - optind, i + 1);
	}
	if (e < 0)
		fprintf(stderr, "release: %s: %s\n", arg.way, strerror(-e));
	return e < 0 ? 1 : 0;
}
