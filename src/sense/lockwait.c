#include "sense/lockwait.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign_helper.h"

static const uint64_t answer_ns = 100 * NS_PER_MS;
static const uint64_t fresh_ns = NS_PER_S;
static const uint64_t first_hold_ns = 5 * NS_PER_S;
static const uint64_t longest_hold_ns = 60 * NS_PER_S;

#define PLACES 256 /* a process has two; of others with the same place the one that was asked last is known */

struct lock_known {
	pid_t pid;
	bool stands;
	uint64_t until_ns;
	uint64_t hold_ns; /* how long it was left alone last; 0: it has answered */
	uint64_t asked_ns;
};

static _Thread_local pid_t hurried; /* the process whose loop this thread is */
static _Thread_local struct lock_known known[PLACES];

void lockwait_begin(void)
{
	hurried = getpid();
}

struct lock_question {
	int proc_fd;
	pid_t pid;
};

static int lock_take(const void *arg, int *ret_fd)
{
	const struct lock_question *q = arg;
	char path[32], byte;
	(void)ret_fd;
	TEXT_FORMAT(path, "%d/cmdline", (int)q->pid);
	int fd = openat(q->proc_fd, path, O_RDONLY | O_CLOEXEC);
	/* Who is gone or hidden holds nobody: the reader itself will be told. */
	if (fd >= 0 && read(fd, &byte, 1) < 0)
		return 0;
	return 0;
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
	*k = (struct lock_known){.pid = pid};
	return k;
}

int lockwait_ask(int proc_fd, pid_t pid)
{
	if (hurried == 0 || proc_fd < 0 || pid <= 0 || hurried != getpid() || pid == hurried)
		return 0;
	struct lock_known *k = lock_place(pid);
	uint64_t now_ns = clock_mono_ns();
	if (now_ns < k->until_ns)
		return k->stands ? -ETIMEDOUT : 0;
	const struct lock_question q = {proc_fd, pid};
	int none = -1;
	/* Without a helper (no process is left to be had) it is asked as before. */
	bool stands = foreign_in_helper(lock_take, &q, proc_fd, answer_ns, &none) == -ETIMEDOUT;
	closep(&none);
	k->asked_ns = clock_mono_ns();
	k->hold_ns = !stands ? 0 : k->hold_ns == 0 ? first_hold_ns : MIN(2 * k->hold_ns, longest_hold_ns);
	k->stands = stands;
	k->until_ns = k->asked_ns + (stands ? k->hold_ns : fresh_ns);
	return stands ? -ETIMEDOUT : 0;
}
