/*
 * The rule of Ray's memory monitor as a program of its own, to race against:
 * every 250 ms, when used / total > 0.95, SIGKILL one process and let it go
 * before looking again. Used is what Ray counts: of a container usage minus
 * file pages, of a machine MemTotal - MemAvailable.
 * (Ray: documentation "Out-Of-Memory Prevention", RAY_memory_monitor_refresh_ms,
 * RAY_memory_usage_threshold.)
 *
 *   rayloop [--memcg DIR] [--every TIME=250ms] [--threshold RATIO=0.95] [--policy newest|largest] PREFIX
 *
 * Its workers are the processes whose name starts with PREFIX; Ray knows its
 * own from its books. newest: last started. largest: most own bytes.
 */
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/base.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "meter.h"

static struct {
	const char *memcg, *prefix;
	uint64_t every_ns;
	double threshold_ratio;
	bool largest;
} arg = {.every_ns = 250 * NS_PER_MS, .threshold_ratio = 0.95};

struct worker {
	pid_t pid;
	uint64_t start_ticks, own_pages;
};

static void pause_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	nanosleep(&t, NULL);
}

/* The n-th word after the name in parentheses, which may itself hold blanks and brackets. */
static int stat_word(struct span text, unsigned n, uint64_t *ret)
{
	const char *end = span_rfind(text, ")");
	struct span word = {0}, rest;

	if (!end)
		return -EINVAL;
	rest = (struct span){end + 1, text.len - (size_t)(end + 1 - text.p)};
	for (unsigned i = 0; i < n; i++)
		if (!span_word(&rest, &word))
			return -EINVAL;
	return span_u64(word, ret);
}

static int worker_read(int proc, const char *pid, struct worker *ret)
{
	char path[300], text[2048];
	uint64_t number = 0, resident = 0, shared = 0;
	struct span rest, word;
	size_t n = 0;
	int r;

	snprintf(path, sizeof(path), "%s/stat", pid);
	r = file_read_at(proc, path, text, sizeof(text), &n);
	if (r < 0)
		return r;
	if (!span_starts(span_after((struct span){text, n}, "("), arg.prefix))
		return -ESRCH;
	r = stat_word((struct span){text, n}, 20, &ret->start_ticks); /* field 22 of stat, starttime */
	if (r == 0)
		r = span_u64(span_of(pid), &number);
	snprintf(path, sizeof(path), "%s/statm", pid);
	if (r == 0)
		r = file_read_at(proc, path, text, sizeof(text), &n);
	if (r < 0)
		return r;
	rest = (struct span){text, n};
	if (!span_word(&rest, &word) || !span_word(&rest, &word) || span_u64(word, &resident) < 0 ||
	    !span_word(&rest, &word) || span_u64(word, &shared) < 0)
		return -EINVAL;
	ret->pid = (pid_t)number;
	ret->own_pages = sub_floor(resident, shared);
	return 0;
}

static bool goes_before(const struct worker *a, const struct worker *b)
{
	return arg.largest ? a->own_pages > b->own_pages : a->start_ticks > b->start_ticks;
}

static bool choose(struct worker *ret)
{
	cleanup(closedirp) DIR *d = opendir("/proc");
	struct worker w = {0};
	struct dirent *e;
	bool found = false;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' || worker_read(dirfd(d), e->d_name, &w) < 0)
			continue;
		if (!found || goes_before(&w, ret))
			*ret = w;
		found = true;
	}
	return found;
}

static void end_one(double ratio)
{
	cleanup(closep) int fd = -1;
	struct worker w = {0};
	struct pollfd p;

	if (!choose(&w))
		return;
	fd = (int)syscall(SYS_pidfd_open, w.pid, 0);
	if (fd < 0)
		return;
	syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	fprintf(stderr, "rayloop: used %.4f of memory, over the threshold of %.4f: killed %d with %lu MiB of its own\n",
		ratio, arg.threshold_ratio, w.pid, w.own_pages * 4096 / MIB);
	p = (struct pollfd){fd, POLLIN, 0};
	while (poll(&p, 1, 5000) < 0 && errno == EINTR)
		;
}

static int loop(void)
{
	static struct meter m;
	uint64_t left = 0;
	int r = meter_open(&m, arg.memcg);

	while (r == 0) {
		r = meter_available(&m, &left);
		if (r == 0) {
			double ratio = 1 - (double)left / (double)m.total_bytes;

			if (ratio > arg.threshold_ratio)
				end_one(ratio);
			pause_ns(arg.every_ns);
		}
	}
	fprintf(stderr, "rayloop: cannot read memory: %s\n", strerror(-r));
	return 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"memcg", required_argument, NULL, 'm'},
		{"every", required_argument, NULL, 'e'},
		{"threshold", required_argument, NULL, 't'},
		{"policy", required_argument, NULL, 'p'},
		{0},
	};
	struct fault f = {0};
	int c, r = 0;

	while (r == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'm')
			arg.memcg = optarg;
		else if (c == 'e')
			r = duration_parse(optarg, &arg.every_ns, &f);
		else if (c == 't')
			r = ratio_parse(optarg, &arg.threshold_ratio, &f);
		else if (c == 'p')
			arg.largest = !strcmp(optarg, "largest");
		else
			r = -EINVAL;
	}
	if (r < 0 || optind + 1 != argc) {
		fprintf(stderr, "rayloop: wrong usage; rayloop [--memcg DIR] [--every TIME] [--threshold RATIO] "
		                "[--policy newest|largest] PREFIX\n");
		return 2;
	}
	arg.prefix = argv[optind];
	return loop();
}
