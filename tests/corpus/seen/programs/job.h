/* Launcher of ranks and a star of TCP sockets for the C programs. */
#ifndef JOB_H
#define JOB_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank = -1, world = 1;
static int links[16];
static pid_t job_pids[32];
static int job_count;

static inline void role(const char *name, int pid)
{
	char line[80];
	const char *p = getenv("CORPUS_ROLES");
	if (!p) return;
	int fd = open(p, O_WRONLY | O_APPEND | O_CREAT, 0644);
	int n = snprintf(line, sizeof line, "%s %d\n", name, pid ? pid : (int)getpid());
	if (write(fd, line, n) < 0) perror("roles");
	close(fd);
}

static inline void nap(double s)
{
	struct timespec t = {(time_t)s, (long)((s - (time_t)s) * 1e9)};
	while (nanosleep(&t, &t) && errno == EINTR) ;
}

static inline double secs(double x)
{
	const char *s = getenv("CORPUS_SCALE");
	return s ? x * atof(s) : x;
}

static inline void step(int i)
{
	printf("step %d loss %.3f\n", i, 2.0 / (1 + i));
	fflush(stdout);
}

static void job_clean(void)
{
	char b[64];
	for (int i = 0; i < job_count; i++) kill(job_pids[i], SIGKILL);
	shm_unlink(getenv("JOB_SHM"));
	snprintf(b, sizeof b, "%s.hook", getenv("JOB_SHM"));
	shm_unlink(b);
}

static void job_end(int sig)
{
	(void)sig;
	job_clean();
	_exit(143);
}

/* A helper started by the launcher before the ranks. */
static inline pid_t job_helper(const char *name, void (*fn)(void))
{
	pid_t p = fork();
	if (p == 0) {
		signal(SIGTERM, SIG_DFL);
		role(name, 0);
		fn();
		_exit(0);
	}
	job_pids[job_count++] = p;
	return p;
}

/* In the launcher: starts n ranks and never returns. In a rank: returns. */
static inline void job_start(char **argv, int n, void (*setup)(void))
{
	char b[32];
	if (getenv("RANK")) {
		rank = atoi(getenv("RANK"));
		world = atoi(getenv("WORLD_SIZE"));
		snprintf(b, sizeof b, "rank%d", rank);
		role(b, 0);
		return;
	}
	role("launcher", 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(s, (void *)&a, sizeof a) || getsockname(s, (void *)&a, &len)) exit(1);
	close(s);
	snprintf(b, sizeof b, "%d", ntohs(a.sin_port));
	setenv("MASTER_PORT", b, 1);
	snprintf(b, sizeof b, "/job%d", (int)getpid());
	setenv("JOB_SHM", b, 1);
	signal(SIGTERM, job_end);
	signal(SIGINT, job_end);
	if (setup) setup();
	pid_t first = 0;
	for (int r = 0; r < n; r++) {
		snprintf(b, sizeof b, "%d", r);
		setenv("RANK", b, 1);
		setenv("LOCAL_RANK", b, 1);
		snprintf(b, sizeof b, "%d", n);
		setenv("WORLD_SIZE", b, 1);
		pid_t p = fork();
		if (p == 0) { execv("/proc/self/exe", argv); _exit(127); }
		job_pids[job_count++] = p;
		if (!first) first = p;
	}
	int left = n, bad = 0, st;
	while (left) {
		pid_t p = wait(&st);
		for (int i = job_count - n; i < job_count; i++) if (job_pids[i] == p) left--;
		if (st) { bad = 1; break; }
	}
	job_clean();
	exit(bad);
}

static inline void *job_shm(size_t n)
{
	int fd = shm_open(getenv("JOB_SHM"), O_RDWR | O_CREAT, 0600);
	if (ftruncate(fd, n)) exit(1);
	void *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p;
}

static inline void star_join(void)
{
	int one = 1;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(atoi(getenv("MASTER_PORT")))};
	if (rank == 0) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
		if (bind(s, (void *)&a, sizeof a) || listen(s, 16)) exit(1);
		for (int i = 1; i < world; i++) {
			int c = accept(s, 0, 0), r;
			if (recv(c, &r, sizeof r, MSG_WAITALL) != sizeof r) exit(1);
			links[r] = c;
		}
		close(s);
		return;
	}
	for (;;) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(s, (void *)&a, sizeof a)) { links[0] = s; break; }
		close(s);
		nap(0.05);
	}
	if (send(links[0], &rank, sizeof rank, 0) < 0) exit(1);
}

static inline double star_sum(double x)
{
	double y;
	if (rank) {
		if (send(links[0], &x, sizeof x, 0) < 0 || recv(links[0], &x, sizeof x, MSG_WAITALL) != sizeof x) exit(1);
		return x;
	}
	for (int r = 1; r < world; r++) {
		if (recv(links[r], &y, sizeof y, MSG_WAITALL) != sizeof y) exit(1);
		x += y;
	}
	for (int r = 1; r < world; r++) if (send(links[r], &x, sizeof x, 0) < 0) exit(1);
	return x;
}

static void *job_beat(void *p)
{
	for (;;) nap(1);
	return p;
}

static inline void services(int k)
{
	pthread_t t;
	while (k-- > 0) pthread_create(&t, 0, job_beat, 0);
}
#endif
