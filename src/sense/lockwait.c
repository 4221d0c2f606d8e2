#include "sense/lockwait.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign_helper.h"

static const uint64_t answer_ns = 100 * NS_PER_MS;
static const uint64_t fresh_ns = NS_PER_S, survey_fresh_ns = 4 * NS_PER_S;
static const uint64_t first_hold_ns = 5 * NS_PER_S;
static const uint64_t longest_hold_ns = 60 * NS_PER_S;

#define PLACES LOCKWAIT_KNOWN /* a process has two; of others with one place the one that was asked last is known */

struct lock_known {
	pid_t pid;
	bool stands;
	uint64_t until_ns;
	uint64_t hold_ns; /* how long it was left alone last; 0: it has answered */
	uint64_t asked_ns;
	int waiting; /* pidfd of the helper that waits for this lock, plus 1; 0: none */
};

static _Thread_local pid_t hurried; /* the process whose loop this thread is */
static _Thread_local struct lock_known *known; /* PLACES of them; pages that nobody needs are never touched */

void lockwait_begin(void)
{
	if (!known)
		known = calloc(PLACES, sizeof(*known));
	hurried = known ? getpid() : 0;
}

#define BATCH 512 /* processes that are asked about in one packet */

static _Thread_local struct foreign_server asker = {-1, -1, -1};
static _Thread_local pid_t asker_of; /* the process whose helper it is */
static _Thread_local pid_t listed;   /* the helper that others know as none of the job; 0: none needs to be */

/* In the helper: each number that comes is sent back when that process has let go of a byte. */
static void lock_serve(const void *arg, int fd)
{
	const int proc_fd = *(const int *)arg;
	pid_t pids[BATCH];
	char path[32], byte;
	for (ssize_t n; (n = recv(fd, pids, sizeof(pids), 0)) > 0;)
		for (size_t i = 0; i < (size_t)n / sizeof(*pids); i++) {
			TEXT_FORMAT(path, "%d/cmdline", (int)pids[i]);
			/* Who is gone or hidden holds nobody: the reader itself will be told. */
			int file = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
			if (file >= 0) {
				ignore(read(file, &byte, 1), "that it came back is the answer");
				(void)close(file);
			}
			if (send(fd, &pids[i], sizeof(pids[i]), MSG_NOSIGNAL) < 0)
				return;
		}
}

/* False: no helper is to be had. */
static bool asker_ready(int proc_fd)
{
	if (asker.fd >= 0 && asker_of == getpid())
		return true;
	if (asker.fd >= 0) { /* our parent's, seen after a fork */
		closep(&asker.fd);
		closep(&asker.pidfd);
	}
	asker_of = getpid();
	return foreign_server_start(lock_serve, &proc_fd, proc_fd, &asker) == 0;
}

enum lock_answer { LOCK_STANDS, LOCK_UNASKED };

/* A helper that nobody has in a list would be taken for a process of the job if it stayed. */
static void asker_rest(void)
{
	if (listed && asker.pid != listed)
		foreign_server_end(&asker);
}

/*
 * How many at the front have answered; *ret: what is known of the one after them, if there is one. *ret_waiting: of one
 * that stands, the pidfd of the helper that waits for it, or -1.
 */
static size_t batch_ask(int proc_fd, const pid_t *pids, size_t n, enum lock_answer *ret, int *ret_waiting)
{
	size_t i = 0;
	*ret = LOCK_UNASKED;
	*ret_waiting = -1;
	if (!asker_ready(proc_fd))
		return 0;
	if (send(asker.fd, pids, n * sizeof(*pids), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		foreign_server_end(&asker); /* somebody has killed it */
		return 0;
	}
	for (; i < n; i++) {
		pid_t back = 0;
		bool answered = foreign_server_answers(&asker, answer_ns);
		if (answered && recv(asker.fd, &back, sizeof(back), MSG_DONTWAIT) == sizeof(back))
			continue;
		*ret = answered ? LOCK_UNASKED : LOCK_STANDS;
		*ret_waiting = foreign_server_leave(&asker);
		return i;
	}
	asker_rest();
	return n;
}

static void lock_waiting_set(struct lock_known *k, int pidfd)
{
	int old = k->waiting - 1;
	closep(&old);
	k->waiting = pidfd + 1;
}

/* True: the helper that asked last still waits, so that another one need not. */
static bool lock_waits(struct lock_known *k)
{
	struct pollfd p = {.fd = k->waiting - 1, .events = POLLIN};
	if (k->waiting == 0)
		return false;
	if (poll(&p, 1, 0) == 0)
		return true;
	lock_waiting_set(k, -1);
	return false;
}

/* The place of this process; a number that was used again is asked as the one before was. */
static struct lock_known *lock_place(pid_t pid)
{
	struct lock_known *a = &known[(size_t)pid % PLACES], *b = &known[((size_t)pid * 31 + 7) % PLACES];
	if (a->pid == pid)
		return a;
	if (b->pid == pid)
		return b;
	/* one that stands is kept as long as there is another */
	struct lock_known *k = a->stands && (!b->stands || b->asked_ns < a->asked_ns) ? b : a;
	lock_waiting_set(k, -1);
	*k = (struct lock_known){.pid = pid};
	return k;
}

static bool is_hurried(int proc_fd)
{
	return hurried != 0 && proc_fd >= 0 && hurried == getpid();
}

static void lock_note(struct lock_known *k, bool stands, uint64_t counts_ns)
{
	k->asked_ns = clock_mono_ns();
	k->hold_ns = !stands ? 0 : k->hold_ns == 0 ? first_hold_ns : MIN(2 * k->hold_ns, longest_hold_ns);
	k->stands = stands;
	k->until_ns = k->asked_ns + (stands ? k->hold_ns : counts_ns);
}

int lockwait_ask(int proc_fd, pid_t pid)
{
	if (!is_hurried(proc_fd) || pid <= 0 || pid == hurried)
		return 0;
	struct lock_known *k = lock_place(pid);
	uint64_t now_ns = clock_mono_ns();
	if (now_ns < k->until_ns)
		return k->stands ? -ETIMEDOUT : 0;
	if (lock_waits(k)) {
		lock_note(k, true, 0);
		return -ETIMEDOUT;
	}
	enum lock_answer answer;
	int waiting;
	size_t free = batch_ask(proc_fd, &pid, 1, &answer, &waiting);
	if (free == 0 && answer == LOCK_UNASKED) { /* its helper was killed, perhaps */
		closep(&waiting);
		free = batch_ask(proc_fd, &pid, 1, &answer, &waiting);
	}
	/* Without a helper (no process is left to be had) it is asked as before. */
	bool stands = free == 0 && answer == LOCK_STANDS;
	lock_note(k, stands, fresh_ns);
	lock_waiting_set(k, waiting);
	return stands ? -ETIMEDOUT : 0;
}

static void survey(int proc_fd, const pid_t *pids, size_t n)
{
	unsigned killed = 0;
	while (n > 0) {
		enum lock_answer answer;
		int waiting;
		size_t asked = MIN(n, (size_t)BATCH), free = batch_ask(proc_fd, pids, asked, &answer, &waiting);
		for (size_t i = 0; i < free; i++)
			lock_note(lock_place(pids[i]), false, survey_fresh_ns);
		if (free < asked && answer == LOCK_STANDS) {
			struct lock_known *k = lock_place(pids[free++]);
			lock_note(k, true, survey_fresh_ns);
			lock_waiting_set(k, take_fd(&waiting));
		}
		closep(&waiting);
		if (free == 0 && killed++ > 0)
			return; /* each is asked when it is read */
		pids += free;
		n -= free;
	}
}

void lockwait_start(int proc_fd)
{
	if (asker_ready(proc_fd))
		listed = asker.pid;
}

pid_t lockwait_helper(void)
{
	if (asker_of != getpid())
		return 0;
	return listed ? listed : MAX(asker.pid, 0);
}

void lockwait_survey(int proc_fd, const pid_t *pids, size_t n)
{
	if (!is_hurried(proc_fd) || n == 0)
		return;
	cleanup(freep) pid_t *ask = calloc(n, sizeof(*ask));
	size_t n_ask = 0;
	if (!ask)
		return; /* each is asked when it is read */
	/* Oneself, and those that are left alone for a while, are not asked. */
	const uint64_t now_ns = clock_mono_ns();
	for (size_t i = 0; i < n; i++)
		if (pids[i] > 0 && pids[i] != hurried && now_ns >= lock_place(pids[i])->until_ns &&
		    !lock_waits(lock_place(pids[i])))
			ask[n_ask++] = pids[i];
	survey(proc_fd, ask, n_ask);
}

size_t lockwait_standing(pid_t *dst, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; known && i < PLACES; i++)
		if (known[i].stands) {
			if (n < cap)
				dst[n] = known[i].pid;
			n++;
		}
	return n;
}
