/*
 * Eats memory in a chosen way and at a chosen speed, so that guards and
 * kernels have something to act on. See usage() for the ways.
 *
 * With --page FILE it writes its process ids into that page, fills what
 * --prefill asks for, says "ready" and waits for "go" (bench/src/page.h).
 */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "page.h"

#define MAX_THREADS 64
#define HUGE_BYTES (2 * MIB) /* x86_64, and aarch64 with pages of 4 KiB */
#define PAGE_STEP 4096
#define FILE_BLOCK (1 << 20)

enum way { WAY_ANON, WAY_SHM, WAY_TMPFS, WAY_FORK, WAY_READ, WAY_MMAP, WAY_DIRTY };
enum huge { HUGE_DEFAULT, HUGE_ON, HUGE_OFF };

static const char *const way_names[] = {"anon", "shm", "tmpfs", "fork", "read", "mmap", "dirty"};

static struct {
	enum way way;
	enum huge huge;
	uint64_t rate_bytes;    /* per second, all threads together; 0: as fast as it goes */
	uint64_t prefill_bytes; /* touched at full speed before "ready" */
	uint64_t max_bytes;     /* 0: until somebody stops it */
	uint64_t chunk_bytes;
	uint64_t eater_bytes;
	uint64_t hold_ns, seconds_ns;
	uint32_t threads;
	bool lock, trap_term;
	const char *dir, *name;
	struct page *page;
} arg = {
	.eater_bytes = 8 * MIB,
	.hold_ns = 3600 * NS_PER_S,
	.threads = 1,
	.dir = "/dev/shm",
};

static int usage(FILE *to)
{
	fputs("hog [OPTIONS]: eat memory\n"
	      "  --way anon    private memory (default)\n"
	      "        shm     shared anonymous memory\n"
	      "        tmpfs   an unnamed file written into --dir (default /dev/shm)\n"
	      "        fork    small eaters of --eater bytes, one after another, until --max in all\n"
	      "        read    read a file of --max bytes in --dir again and again: page cache only\n"
	      "        mmap    map such a file and touch all its pages again and again\n"
	      "        dirty   write such a file again and again, the disk lagging behind\n"
	      "  --threads N --rate BYTES/S --prefill BYTES --max BYTES --chunk BYTES --huge on|off --mlock "
	      "--trap-term\n"
	      "  --hold TIME   stay alive so long after --max (default 1h)\n"
	      "  --seconds TIME  read, mmap, dirty: how long to go on (default 10s)\n"
	      "  --name COMM   process name, to recognise it in the kernel's log\n"
	      "  --page FILE   publish processes there and wait there for the start\n",
	      to);
	return to == stdout ? 0 : 2;
}

static void pause_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static void keep_rate(uint64_t done_bytes, uint64_t rate_bytes, uint64_t start_ns)
{
	uint64_t due, now;

	if (!rate_bytes)
		return;
	due = start_ns + (uint64_t)((double)done_bytes / (double)rate_bytes * (double)NS_PER_S);
	now = clock_mono_ns();
	if (due > now)
		pause_ns(due - now);
}

/* The kernel gives a huge page only where a whole one, from a multiple of its size on, lies in the map. */
static unsigned char *map(uint64_t bytes, bool shared)
{
	int flags = MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE);
	uint64_t more = arg.huge == HUGE_ON ? HUGE_BYTES : 0;
	unsigned char *m = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (m == MAP_FAILED || !more)
		return m;
	uint64_t skip = (HUGE_BYTES - (uintptr_t)m % HUGE_BYTES) % HUGE_BYTES;
	if (skip)
		(void)munmap(m, skip);
	if (skip < more)
		(void)munmap(m + skip + bytes, more - skip);
	return m + skip;
}

/* One chunk of memory with every page touched; not zeros, which could be merged or compressed away. */
static int eat(uint64_t bytes, bool shared, uint64_t salt)
{
	unsigned char *m = map(bytes, shared);

	if (m == MAP_FAILED)
		return -errno;
	if (arg.huge != HUGE_DEFAULT && madvise(m, bytes, arg.huge == HUGE_ON ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) < 0)
		return -errno; /* EINVAL: a kernel without huge pages; the trial would measure something else */
	for (uint64_t i = 0; i < bytes; i += PAGE_STEP)
		*(volatile uint64_t *)(m + i) = i ^ salt ^ 0x5bd1e995;
	if (arg.lock && mlock(m, bytes) < 0)
		return -errno;
	if (arg.page)
		atomic_fetch_add(&arg.page->touched_bytes, bytes);
	return 0;
}

static void *eater_thread(void *result)
{
	uint64_t limit = arg.max_bytes ? arg.max_bytes / arg.threads : UINT64_MAX;
	uint64_t done = 0, start = clock_mono_ns();
	int r = 0;

	while (r == 0 && done < limit) {
		r = eat(arg.chunk_bytes, arg.way == WAY_SHM, done);
		done += arg.chunk_bytes;
		keep_rate(done, arg.rate_bytes / arg.threads, start);
	}
	*(int *)result = r;
	return NULL;
}

static int run_threads(void)
{
	pthread_t t[MAX_THREADS];
	int result[MAX_THREADS] = {0}, r = 0;

	for (uint32_t i = 0; i < arg.threads; i++) {
		int e = pthread_create(&t[i], NULL, eater_thread, &result[i]);

		if (e)
			return -e;
	}
	for (uint32_t i = 0; i < arg.threads; i++) {
		pthread_join(t[i], NULL);
		if (r == 0)
			r = result[i];
	}
	return r;
}

/* The file has no name, so that its memory goes when its owner does. */
static int open_unnamed(const char *dir, int *ret_fd)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

static int write_file(int fd, uint64_t bytes, uint64_t rate_bytes)
{
	static unsigned char block[FILE_BLOCK];
	uint64_t start = clock_mono_ns();

	memset(block, 0x5b, sizeof(block));
	for (uint64_t done = 0; done < bytes;) {
		ssize_t n = pwrite(fd, block, sizeof(block), (off_t)done);

		if (n < 0)
			return -errno;
		done += (uint64_t)n;
		if (arg.page)
			atomic_fetch_add(&arg.page->touched_bytes, (uint64_t)n);
		keep_rate(done, rate_bytes, start);
	}
	return 0;
}

static int run_tmpfs(void)
{
	int fd = -1, r = open_unnamed(arg.dir, &fd); /* stays open to the end: it is the memory */

	if (r == 0)
		r = write_file(fd, arg.max_bytes ? arg.max_bytes : UINT64_MAX, arg.rate_bytes);
	return r == -ENOSPC ? 0 : r; /* a full tmpfs is as far as this way goes */
}

static void small_eater(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (arg.page)
		page_add(arg.page, getpid());
	for (uint64_t done = 0; done < arg.eater_bytes; done += arg.chunk_bytes)
		if (eat(arg.chunk_bytes, false, done) < 0)
			_exit(3);
	for (;;)
		pause();
}

static int run_fork(void)
{
	uint64_t max = arg.max_bytes ? arg.max_bytes : UINT64_MAX, start = clock_mono_ns();

	signal(SIGCHLD, SIG_IGN);
	for (uint64_t done = 0; done < max; done += arg.eater_bytes) {
		pid_t p = fork();

		if (p < 0 && errno != EAGAIN && errno != ENOMEM)
			return -errno;
		if (p == 0)
			small_eater();
		keep_rate(done, arg.rate_bytes ? arg.rate_bytes : 1024 * MIB, start);
	}
	return 0;
}

static int read_through(int fd, uint64_t bytes)
{
	static unsigned char block[FILE_BLOCK];

	for (uint64_t done = 0; done < bytes;) {
		ssize_t n = pread(fd, block, sizeof(block), (off_t)done);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		done += (uint64_t)n;
	}
	return 0;
}

static int map_through(int fd, uint64_t bytes)
{
	unsigned char *m = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	unsigned sum = 0;

	if (m == MAP_FAILED)
		return -errno;
	for (uint64_t i = 0; i < bytes; i += PAGE_STEP)
		sum += *(volatile unsigned char *)(m + i);
	munmap(m, bytes);
	return sum ? 0 : -EIO; /* the file is never all zeros */
}

/* The innocent: busy with files only, whatever the meters say. */
static int run_files(void)
{
	uint64_t end = clock_mono_ns() + (arg.seconds_ns ? arg.seconds_ns : 10 * NS_PER_S);
	cleanup(closep) int fd = -1;
	int r = open_unnamed(arg.dir, &fd);

	if (r == 0)
		r = write_file(fd, arg.max_bytes, arg.rate_bytes);
	while (r == 0 && clock_mono_ns() < end) {
		if (arg.way == WAY_READ)
			r = read_through(fd, arg.max_bytes);
		else if (arg.way == WAY_MMAP)
			r = map_through(fd, arg.max_bytes);
		else
			r = write_file(fd, arg.max_bytes, arg.rate_bytes);
	}
	return r;
}

static int wait_for_go(void)
{
	int r = 0;

	for (uint64_t done = 0; r == 0 && done < arg.prefill_bytes; done += arg.chunk_bytes)
		r = eat(arg.chunk_bytes, arg.way == WAY_SHM, done);
	if (r < 0 || !arg.page)
		return r;
	atomic_store(&arg.page->ready, 1);
	while (!atomic_load(&arg.page->go))
		pause_ns(NS_PER_MS / 2);
	return 0;
}

static int pick_way(const char *name, enum way *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(way_names); i++)
		if (!strcmp(name, way_names[i])) {
			*ret = (enum way)i;
			return 0;
		}
	return -EINVAL;
}

static int take_option(int c, const char *v, struct fault *f)
{
	uint64_t n = 0;
	int r = 0;

	switch (c) {
	case 'w':
		return pick_way(v, &arg.way);
	case 'r':
		return size_parse(v, &arg.rate_bytes, f);
	case 'p':
		return size_parse(v, &arg.prefill_bytes, f);
	case 'm':
		return size_parse(v, &arg.max_bytes, f);
	case 'c':
		return size_parse(v, &arg.chunk_bytes, f);
	case 'e':
		return size_parse(v, &arg.eater_bytes, f);
	case 'o':
		return duration_parse(v, &arg.hold_ns, f);
	case 's':
		return duration_parse(v, &arg.seconds_ns, f);
	case 't':
		r = span_u64(span_of(v), &n);
		arg.threads = (uint32_t)n;
		return r < 0 || n < 1 || n > MAX_THREADS ? -EINVAL : 0;
	case 'u':
		arg.huge = !strcmp(v, "on") ? HUGE_ON : !strcmp(v, "off") ? HUGE_OFF : HUGE_DEFAULT;
		return 0;
	case 'P':
		return page_map(v, &arg.page);
	case 'd':
		arg.dir = v;
		return 0;
	case 'n':
		arg.name = v;
		return 0;
	case 'L':
		arg.lock = true;
		return 0;
	case 'T':
		arg.trap_term = true;
		return 0;
	default:
		return -EINVAL;
	}
}

static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"way", required_argument, NULL, 'w'},     {"rate", required_argument, NULL, 'r'},
		{"prefill", required_argument, NULL, 'p'}, {"max", required_argument, NULL, 'm'},
		{"chunk", required_argument, NULL, 'c'},   {"eater", required_argument, NULL, 'e'},
		{"hold", required_argument, NULL, 'o'},    {"seconds", required_argument, NULL, 's'},
		{"threads", required_argument, NULL, 't'}, {"huge", required_argument, NULL, 'u'},
		{"page", required_argument, NULL, 'P'},    {"dir", required_argument, NULL, 'd'},
		{"name", required_argument, NULL, 'n'},    {"mlock", no_argument, NULL, 'L'},
		{"trap-term", no_argument, NULL, 'T'},     {"help", no_argument, NULL, 'h'},
		{0},
	};
	struct fault f = {0};
	int c, r;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h')
			exit(usage(stdout));
		if (c == '?')
			return usage(stderr);
		r = take_option(c, optarg, &f);
		if (r != 0) {
			fprintf(stderr, "hog: %s: %s\n", optarg ? optarg : argv[optind - 1],
				strerror(r < 0 ? -r : EINVAL));
			return 2;
		}
	}
	if (optind < argc)
		return usage(stderr);
	if (arg.chunk_bytes == 0)
		arg.chunk_bytes = arg.huge == HUGE_ON ? 2 * HUGE_BYTES : MIB;
	if (arg.way >= WAY_READ && !arg.max_bytes) {
		fprintf(stderr, "hog: --way %s needs --max, the size of its file\n", way_names[arg.way]);
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int r = parse(argc, argv);

	if (r != 0)
		return r;
	/* Should the kernel win, it takes the hog and not the box around it: the next trial needs that. */
	int adj = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (adj >= 0) {
		ignore(write(adj, "500", 3), "raising is always permitted");
		close(adj);
	}
	if (arg.name)
		prctl(PR_SET_NAME, arg.name);
	if (arg.trap_term)
		signal(SIGTERM, SIG_IGN);
	if (arg.page)
		page_add(arg.page, getpid());
	r = wait_for_go();
	if (r == 0 && arg.way <= WAY_SHM)
		r = run_threads();
	else if (r == 0 && arg.way == WAY_TMPFS)
		r = run_tmpfs();
	else if (r == 0 && arg.way == WAY_FORK)
		r = run_fork();
	else if (r == 0)
		r = run_files();
	if (r < 0) {
		fprintf(stderr, "hog: %s: %s\n", way_names[arg.way], strerror(-r));
		return 3;
	}
	if (arg.page)
		atomic_store(&arg.page->done, 1);
	if (arg.way <= WAY_TMPFS)
		pause_ns(arg.hold_ns);
	return 0;
}
