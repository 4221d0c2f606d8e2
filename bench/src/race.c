/*
 * One trial of a race: a hog grows; who ends it, the guard or the kernel's own
 * killer, and how long after memory fell below the guard's threshold?
 *
 *   race [OPTIONS] -- HOG [ARG…]                       against nothing, or a guard that stands already
 *   race [OPTIONS] -- vigil run [ARG…] -- HOG [ARG…]   the guard starts the hog itself
 *   race [OPTIONS] --guard "COMMAND {pid}" -- HOG …    a guard for this trial alone, told the hog's pid
 *
 * race adds --page and --name at the end, as arguments of the hog, so HOG must
 * be bench's hog. The hog publishes its processes in the page, fills its prefill and
 * waits; the guard gets --warm ms to settle; then the hog is let go. Death is
 * read at the hog's own pidfds, not at the process race has started.
 *
 * Memory and kernel kills: of the group --memcg DIR, else of the machine
 * (bench/src/meter.h). The hog's name is unique to the trial, so the kernel
 * log's records can be told apart. One JSON object on one line; a value that
 * could not be measured is absent.
 */
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "meter.h"
#include "page.h"

#define MAX_ARGS 96

static struct {
	double free_ratio; /* the guard's threshold, as a share of memory left */
	const char *memcg, *guard, *label;
	uint64_t warm_ns, timeout_ns;
} arg = {.free_ratio = 0.10, .label = "", .warm_ns = 200 * NS_PER_MS, .timeout_ns = 60 * NS_PER_S};

struct trial {
	struct page *page;
	char page_path[64], name[16];
	pid_t child, guard; /* what race started itself */
	int pidfd[PAGE_PIDS];
	uint32_t n_open, n_dead;
	uint64_t go_ns, crossed_ns, grew_ns, touched_bytes, first_death_ns, last_death_ns, last_read_ns, max_gap_ns,
		min_available_bytes, recover_ns;
	uint64_t kills_before, kills_vmstat_before;
	bool timed_out, has_status;
	int status;
};

static void pause_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	nanosleep(&t, NULL);
}

static int fail(const char *what, int r)
{
	fprintf(stderr, "race: %s: %s\n", what, strerror(r < 0 ? -r : r));
	return 2;
}

/* --- processes ---------------------------------------------------------- */

static int pidfd_of(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void become_ordinary(void)
{
	munlockall();
	setpriority(PRIO_PROCESS, 0, 0);
	/* errors are fine: where race could not lower the value it need not be raised again */
	ignore(file_write_at(AT_FDCWD, "/proc/self/oom_score_adj", "0"), "best effort");
}

static int join_group(void)
{
	cleanup(closep) int d = open(arg.memcg, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return d < 0 ? -errno : file_write_at(d, "cgroup.procs", "0");
}

/* Into the group whose memory is measured; race itself stays outside, where the killer cannot reach it. */
static pid_t start(char *const *argv)
{
	pid_t p = fork();

	if (p != 0)
		return p;
	setpgid(0, 0);
	become_ordinary();
	if (arg.memcg && join_group() < 0)
		_exit(126);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout carries the result and nothing else */
	execvp(argv[0], argv);
	_exit(127);
}

static pid_t start_guard(pid_t hog)
{
	char pid[16], command[1024];
	const char *at = strstr(arg.guard, "{pid}");
	char *argv[] = {(char *)"sh", (char *)"-c", command, NULL};

	snprintf(pid, sizeof(pid), "%d", hog);
	snprintf(command, sizeof(command), "exec %.*s%s%s", at ? (int)(at - arg.guard) : (int)strlen(arg.guard),
		 arg.guard, at ? pid : "", at ? at + strlen("{pid}") : "");
	return start(argv);
}

/* Opens pidfds for processes published since the last call. */
static void follow(struct trial *t)
{
	uint32_t n = page_count(t->page);

	for (uint32_t i = t->n_open; i < n; i++) {
		pid_t p = atomic_load(&t->page->pid[i]);

		if (p == 0)
			break; /* its slot is taken but not filled in yet */
		t->pidfd[i] = pidfd_of(p); /* -1: dead already, which count_dead sees */
		t->n_open = i + 1;
	}
}

static void count_dead(struct trial *t)
{
	for (uint32_t i = t->n_dead; i < t->n_open; i++) {
		struct pollfd p = {t->pidfd[i], POLLIN, 0};

		if (t->pidfd[i] >= 0 && poll(&p, 1, 0) <= 0)
			continue;
		if (t->pidfd[i] >= 0)
			close(t->pidfd[i]);
		t->pidfd[i] = t->pidfd[t->n_dead];
		t->pidfd[t->n_dead++] = -1;
		t->last_death_ns = clock_mono_ns();
		if (t->first_death_ns == 0)
			t->first_death_ns = t->last_death_ns;
	}
}

static bool all_dead(const struct trial *t)
{
	return t->n_open > 0 && t->n_dead == t->n_open && t->n_open == page_count(t->page);
}

/* --- the trial ---------------------------------------------------------- */

static int hog_arguments(struct trial *t, char **argv, int argc, char **ret_argv)
{
	char *extra[] = {(char *)"--page", t->page_path, (char *)"--name", t->name, NULL};

	if (argc + 5 > MAX_ARGS)
		return -E2BIG;
	memcpy(ret_argv, argv, (size_t)argc * sizeof(*argv));
	memcpy(ret_argv + argc, extra, sizeof(extra));
	return 0;
}

static bool ended(struct trial *t)
{
	t->has_status = t->has_status || waitpid(t->child, &t->status, WNOHANG) == t->child;
	return t->has_status;
}

static int wait_ready(struct trial *t)
{
	uint64_t end = clock_mono_ns() + t->last_read_ns;

	while (!atomic_load(&t->page->ready)) {
		if (ended(t) || clock_mono_ns() > end)
			return -ETIMEDOUT;
		pause_ns(NS_PER_MS);
	}
	return 0;
}

static void look(struct trial *t, struct meter *m, uint64_t threshold_bytes)
{
	uint64_t bytes = 0, now = clock_mono_ns();

	uint64_t touched = atomic_load(&t->page->touched_bytes);

	t->max_gap_ns = MAX(t->max_gap_ns, now - t->last_read_ns);
	t->last_read_ns = now;
	if (touched != t->touched_bytes) {
		t->touched_bytes = touched;
		t->grew_ns = now;
	}
	if (meter_available(m, &bytes) < 0)
		return;
	t->min_available_bytes = MIN(t->min_available_bytes, bytes);
	if (t->crossed_ns == 0 && bytes < threshold_bytes)
		t->crossed_ns = clock_mono_ns();
}

static void watch(struct trial *t, struct meter *m, uint64_t threshold_bytes)
{
	uint64_t end;

	t->min_available_bytes = m->total_bytes;
	t->go_ns = t->last_read_ns = clock_mono_ns();
	end = t->go_ns + arg.timeout_ns;
	atomic_store(&t->page->go, 1);
	for (;;) {
		follow(t);
		count_dead(t);
		if (all_dead(t) || atomic_load(&t->page->done))
			return;
		look(t, m, threshold_bytes);
		if (clock_mono_ns() > end) {
			t->timed_out = true;
			return;
		}
		pause_ns(NS_PER_MS / 2);
	}
}

static void wait_recovered(struct trial *t, struct meter *m, uint64_t threshold_bytes)
{
	uint64_t from = t->last_death_ns ? t->last_death_ns : clock_mono_ns(), bytes = 0;

	while (clock_mono_ns() - from < 5 * NS_PER_S) {
		if (meter_available(m, &bytes) == 0 && bytes > threshold_bytes) {
			t->recover_ns = MAX(clock_mono_ns() - from, 1);
			return;
		}
		pause_ns(NS_PER_MS);
	}
}

/* Everything that was started is ended; first kindly, for a guard that writes its report. */
static void clean_up(struct trial *t)
{
	uint64_t end = clock_mono_ns() + 5 * NS_PER_S;

	if (t->guard > 0)
		kill(t->guard, SIGTERM);
	if (t->timed_out || atomic_load(&t->page->done))
		for (uint32_t i = t->n_dead; i < t->n_open; i++)
			if (t->pidfd[i] >= 0)
				syscall(SYS_pidfd_send_signal, t->pidfd[i], SIGKILL, NULL, 0);
	while (!ended(t) && clock_mono_ns() < end)
		pause_ns(NS_PER_MS);
	if (!t->has_status) {
		kill(-t->child, SIGKILL);
		t->has_status = waitpid(t->child, &t->status, 0) == t->child;
	}
	if (t->guard > 0) {
		while (waitpid(t->guard, NULL, WNOHANG) == 0 && clock_mono_ns() < end)
			pause_ns(NS_PER_MS);
		kill(-t->guard, SIGKILL);
	}
	unlink(t->page_path);
}

static void put_ms(const char *key, bool known, uint64_t from_ns, uint64_t to_ns)
{
	if (known)
		printf(",\"%s\":%.2f", key, ((double)to_ns - (double)from_ns) / (double)NS_PER_MS);
}

static void print_result(struct trial *t, struct meter *m, double wait_ms)
{
	uint64_t counted = sub_floor(meter_kills_counted(m), t->kills_before), logged = meter_kills_logged(m, t->name);
	uint64_t kills = MAX(counted, logged);
	bool done = atomic_load(&t->page->done) != 0;
	bool died = t->n_dead > 0 && !t->timed_out;

	printf("{%s%s\"won\":%s,\"kernel_kills\":%lu,\"died\":%s,\"finished\":%s,\"timed_out\":%s", arg.label,
	       *arg.label ? "," : "", kills == 0 && !t->timed_out && (died || done) ? "true" : "false", kills,
	       died ? "true" : "false", done ? "true" : "false", t->timed_out ? "true" : "false");
	put_ms("ran_ms", t->last_death_ns != 0, t->go_ns, t->last_death_ns);
	put_ms("cross_ms", t->crossed_ns != 0, t->go_ns, t->crossed_ns);
	put_ms("cross_to_death_ms", t->crossed_ns && t->first_death_ns, t->crossed_ns, t->first_death_ns);
	put_ms("cross_to_last_death_ms", t->crossed_ns && t->last_death_ns, t->crossed_ns, t->last_death_ns);
	/* the hog's last progress seen: it may have been frozen, or have stood in a full group, long before it died */
	put_ms("cross_to_stop_ms", t->crossed_ns && t->grew_ns > t->crossed_ns, t->crossed_ns, t->grew_ns);
	put_ms("recover_ms", t->recover_ns != 0, 0, t->recover_ns);
	put_ms("max_gap_ms", true, 0, t->max_gap_ns);
	if (t->has_status)
		printf(",\"signal\":%d,\"exit\":%d", WIFSIGNALED(t->status) ? WTERMSIG(t->status) : 0,
		       WIFEXITED(t->status) ? WEXITSTATUS(t->status) : -1);
	printf(",\"processes\":%u,\"dead\":%u,\"total_mib\":%lu,\"min_available_mib\":%lu,\"touched_mib\":%lu,"
	       "\"prefill_ms\":%.0f}\n",
	       page_count(t->page), t->n_dead, m->total_bytes / MIB, t->min_available_bytes / MIB,
	       (uint64_t)atomic_load(&t->page->touched_bytes) / MIB, wait_ms);
}

static int run(struct trial *t, struct meter *m, int argc, char **argv)
{
	char *hog_argv[MAX_ARGS];
	uint64_t threshold = (uint64_t)((double)m->total_bytes * arg.free_ratio), began = clock_mono_ns();
	int r = hog_arguments(t, argv, argc, hog_argv);

	if (r < 0)
		return r;
	t->kills_before = meter_kills_counted(m);
	t->child = start(hog_argv);
	if (t->child < 0)
		return -errno;
	t->last_read_ns = arg.timeout_ns;
	r = wait_ready(t);
	if (r < 0) {
		t->timed_out = true;
		clean_up(t);
		return r;
	}
	follow(t);
	if (arg.guard)
		t->guard = start_guard(atomic_load(&t->page->pid[0]));
	pause_ns(arg.warm_ns); /* no guard says when it has settled; what is measured starts at "go" */
	watch(t, m, threshold);
	wait_recovered(t, m, threshold);
	clean_up(t);
	print_result(t, m, (double)(t->go_ns - began) / (double)NS_PER_MS);
	return 0;
}

static int take_option(int c, const char *v, struct fault *f)
{
	switch (c) {
	case 'f':
		return ratio_parse(v, &arg.free_ratio, f);
	case 'm':
		arg.memcg = v;
		return 0;
	case 'g':
		arg.guard = v;
		return 0;
	case 'l':
		arg.label = v;
		return 0;
	case 'w':
		return duration_parse(v, &arg.warm_ns, f);
	case 't':
		return duration_parse(v, &arg.timeout_ns, f);
	default:
		return -EINVAL;
	}
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"free", required_argument, NULL, 'f'},  {"memcg", required_argument, NULL, 'm'},
		{"guard", required_argument, NULL, 'g'}, {"label", required_argument, NULL, 'l'},
		{"warm", required_argument, NULL, 'w'},  {"timeout", required_argument, NULL, 't'},
		{0},
	};
	struct fault f = {0};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1)
		if (c == '?' || take_option(c, optarg, &f) != 0) {
			fprintf(stderr, "race: wrong option; race [--free RATIO] [--memcg DIR] [--guard COMMAND] "
					"[--label JSON] "
					"[--warm TIME] [--timeout TIME] -- COMMAND…\n");
			return -EINVAL;
		}
	return optind < argc ? 0 : -EINVAL;
}

static void note_signal(int number)
{
	ignore(number, "only to be woken up, not ended");
}

int main(int argc, char **argv)
{
	static struct meter m;
	static struct trial t;
	int r = parse(argc, argv);

	if (r < 0)
		return 2;
	snprintf(t.page_path, sizeof(t.page_path), "/tmp/vigil-race.%d", getpid());
	snprintf(t.name, sizeof(t.name), "hog-%08x", (unsigned)(clock_mono_ns() / NS_PER_US));
	r = page_make(t.page_path, &t.page);
	if (r < 0)
		return fail(t.page_path, r);
	r = meter_open(&m, arg.memcg);
	if (r < 0)
		return fail(arg.memcg ? arg.memcg : "meminfo", r);
	/* The referee must see everything: locked, first in the queue, last to be killed, each where permitted. */
	ignore(mlockall(MCL_CURRENT | MCL_FUTURE), "best effort");
	setpriority(PRIO_PROCESS, 0, -20);
	ignore(file_write_at(AT_FDCWD, "/proc/self/oom_score_adj", "-1000"), "best effort");
	/* Nor by a guard that ends the wrong one; unlike SIG_IGN a handler does not outlive exec in the hog. */
	signal(SIGTERM, note_signal);
	r = run(&t, &m, argc - optind, argv + optind);
	return r < 0 ? fail("trial", r) : 0;
}
