#include "sense/lockwait.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign_helper.h"
#include "base/text.h"
#include "sense/lockserve.h"

static const uint64_t answer_ns = 100 * NS_PER_MS;
static const uint64_t memory_ns = 500 * NS_PER_MS; /* a page may have to come from a disk */
/* A server of files may answer each time just before it is given up: so much of slow reads in so long is the most. */
static const uint64_t slow_ns = 20 * NS_PER_MS, slow_most_ns = 2 * NS_PER_S, slow_within_ns = 10 * NS_PER_S;
static const uint64_t fresh_ns = NS_PER_S, survey_fresh_ns = 4 * NS_PER_S;
static const uint64_t first_hold_ns = 5 * NS_PER_S;
static const uint64_t longest_hold_ns = 60 * NS_PER_S;

#define PLACES LOCKWAIT_KNOWN /* a process has two; of others with one place the one that was asked last is known */

enum lock_whose { LOCK_UNKNOWN, LOCK_OURS, LOCK_OTHERS };

struct lock_known {
	pid_t pid;
	bool stands;
	bool shown, left_out; /* what a command says of it (lockwait_shown) */
	enum lock_whose whose; /* as of the last answer */
	uint64_t until_ns;
	uint64_t hold_ns; /* how long it was left alone last; 0: it has answered */
	uint64_t asked_ns;
	uint64_t slow_since_ns, slow_sum_ns; /* reads of its memory that took long */
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

static _Thread_local struct foreign_server asker = {-1, -1, -1};
static _Thread_local pid_t asker_of; /* the process whose helper it is */
static _Thread_local struct lockserve_room *room; /* shared with it */

/* Each helper has a room of its own: one that was left may still write into its. */
static void room_make(void)
{
	if (room)
		(void)munmap(room, sizeof(*room));
	void *p = mmap(NULL, sizeof(*room), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	room = p == MAP_FAILED ? NULL : p;
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
	room_make();
	const struct lockserve arg = {proc_fd, room};
	return foreign_server_start(lockserve, &arg, proc_fd, &asker) == 0;
}

enum lock_answer { LOCK_STANDS, LOCK_UNASKED, LOCK_DONE };

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

bool lockwait_hurries(void)
{
	return hurried != 0 && hurried == getpid();
}

static bool is_hurried(int proc_fd)
{
	return proc_fd >= 0 && lockwait_hurries();
}

static void lock_note(struct lock_known *k, bool stands, uint64_t counts_ns)
{
	k->asked_ns = clock_mono_ns();
	k->hold_ns = !stands ? 0 : k->hold_ns == 0 ? first_hold_ns : MIN(2 * k->hold_ns, longest_hold_ns);
	k->stands = stands;
	k->whose = LOCK_UNKNOWN;
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

static void all_end(void (*server_end)(struct foreign_server *s))
{
	for (size_t i = 0; known && i < PLACES; i++)
		if (known[i].waiting)
			lock_waiting_set(&known[i], -1);
	free(known);
	known = NULL;
	hurried = 0;
	if (asker_of == getpid())
		server_end(&asker);
	if (room)
		(void)munmap(room, sizeof(*room));
	room = NULL;
}

void lockwait_end(void)
{
	all_end(foreign_server_end);
}

void lockwait_drop(void)
{
	all_end(foreign_server_drop);
}

/* ---- memory ---- */

static bool same_mounts(int proc_fd, pid_t pid)
{
	struct stat its, ours;
	char path[32];
	TEXT_FORMAT(path, "%d/ns/mnt", (int)pid);
	return fstatat(proc_fd, path, &its, 0) == 0 && fstatat(proc_fd, "self/ns/mnt", &ours, 0) == 0 &&
	       its.st_ino == ours.st_ino && its.st_dev == ours.st_dev;
}

/* With all its ids our user's, and in no container: it could do us no harm that its user could not do anyway. */
static bool lockwait_is_ours(int proc_fd, pid_t pid)
{
	char path[32], text[4096];
	struct span field, word;
	size_t len = 0, n = 0;
	uint64_t id;
	TEXT_FORMAT(path, "%d/status", (int)pid);
	if (file_read_at(proc_fd, path, text, sizeof(text), &len) != 0 ||
	    text_field((struct span){text, len}, "Uid", &field) < 0)
		return false;
	for (; span_word(&field, &word); n++)
		if (span_u64(word, &id) < 0 || id != geteuid())
			return false;
	return n > 0 && same_mounts(proc_fd, pid);
}

bool lockwait_reads(int proc_fd, pid_t pid)
{
	if (!is_hurried(proc_fd) || pid <= 0 || pid == hurried)
		return false;
	struct lock_known *k = lock_place(pid);
	if (k->whose == LOCK_UNKNOWN)
		k->whose = lockwait_is_ours(proc_fd, pid) ? LOCK_OURS : LOCK_OTHERS;
	return k->whose == LOCK_OTHERS;
}

/* How far one has come in a list of parts. */
struct parts {
	const struct iovec *v;
	size_t n, i, used;
};

/* Takes parts of at most `most` bytes. Returns their bytes. */
static size_t parts_take(struct parts *p, size_t most, struct iovec *ret, uint32_t *ret_n)
{
	size_t bytes = 0;
	*ret_n = 0;
	while (p->i < p->n && bytes < most) {
		size_t len = MIN(p->v[p->i].iov_len - p->used, most - bytes);
		uintptr_t at = (uintptr_t)p->v[p->i].iov_base + p->used; /* an address of theirs, 0 as well */
		ret[(*ret_n)++] = (struct iovec){(void *)at, len}; // NOLINT(performance-no-int-to-ptr)
		bytes += len;
		p->used += len;
		if (p->used == p->v[p->i].iov_len) {
			p->i++;
			p->used = 0;
		}
	}
	return bytes;
}

static size_t parts_bytes(const struct iovec *v, size_t n)
{
	size_t bytes = 0;
	for (size_t i = 0; i < n; i++)
		bytes += v[i].iov_len;
	return bytes;
}

/* Copies what lies in the room to the next parts. */
static void parts_fill(struct parts *p, size_t len)
{
	struct iovec to[LOCKSERVE_PARTS];
	uint32_t n;
	const char *from = room->bytes;
	(void)parts_take(p, len, to, &n);
	for (uint32_t i = 0; i < n; i++) {
		memcpy(to[i].iov_base, from, to[i].iov_len);
		from += to[i].iov_len;
	}
}

/* What one that answers, but always late, is given. */
static void slow_count(struct lock_known *k, uint64_t took_ns)
{
	uint64_t now_ns = clock_mono_ns();
	if (took_ns < slow_ns)
		return;
	if (now_ns - k->slow_since_ns > slow_within_ns) {
		k->slow_since_ns = now_ns;
		k->slow_sum_ns = 0;
	}
	k->slow_sum_ns += took_ns;
	if (k->slow_sum_ns > slow_most_ns)
		lock_note(k, true, 0);
}

/* What has been asked is done. LOCK_UNASKED: the helper is gone. */
static enum lock_answer room_await(uint32_t number)
{
	int32_t word;
	if (lockserve_is_done(room, number))
		return LOCK_DONE;
	atomic_store(&room->waits, 1);
	/* It may have come in between; then either the wish is still there, or a packet is on its way. */
	if (atomic_load(&room->done) == number && atomic_exchange(&room->waits, 0))
		return LOCK_DONE;
	if (!foreign_server_answers(&asker, memory_ns))
		return LOCK_STANDS;
	return recv(asker.fd, &word, sizeof(word), MSG_DONTWAIT) == sizeof(word) ? LOCK_DONE : LOCK_UNASKED;
}

/* Reads into the room what has been put there; as process_vm_readv. */
static ssize_t room_read(pid_t pid)
{
	const int32_t word = LOCKSERVE_MEMORY;
	const uint32_t number = atomic_fetch_add(&room->asked, 1) + 1;
	const uint64_t began_ns = clock_mono_ns();
	struct lock_known *k = lock_place(pid);
	enum lock_answer answer = LOCK_UNASKED;
	if (atomic_load(&room->looks) || send(asker.fd, &word, sizeof(word), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		answer = room_await(number);
	if (answer == LOCK_DONE) {
		slow_count(k, clock_mono_ns() - began_ns);
		return (ssize_t)MIN(room->got, (int64_t)LOCKSERVE_BYTES);
	}
	cleanup(closep) int waiting = foreign_server_leave(&asker);
	if (answer == LOCK_UNASKED)
		return -EAGAIN; /* somebody has killed it */
	lock_note(k, true, 0);
	lock_waiting_set(k, take_fd(&waiting));
	return -ETIMEDOUT;
}

ssize_t lockwait_readv(int proc_fd, pid_t pid, const struct iovec *into, size_t n_into, const struct iovec *from,
		       size_t n_from)
{
	struct parts theirs = {.v = from, .n = n_from}, ours = {.v = into, .n = n_into};
	size_t left = parts_bytes(into, n_into), done = 0;
	bool again = false;
	if (n_into > LOCKSERVE_PARTS || n_from > LOCKSERVE_PARTS)
		return -EINVAL;
	for (;;) {
		struct parts at = theirs;
		if (!asker_ready(proc_fd) || !room)
			return -ETIMEDOUT;
		size_t asked =
			parts_take(&theirs, MIN(left, (size_t)LOCKSERVE_BYTES), room->from, &room->n);
		room->pid = pid;
		ssize_t n = asked > 0 ? room_read(pid) : 0;
		if (n == -EAGAIN && !again) {
			again = true;
			theirs = at;
			continue;
		}
		if (n < 0)
			return done > 0 ? (ssize_t)done : n == -EAGAIN ? -ETIMEDOUT : n;
		parts_fill(&ours, (size_t)n);
		done += (size_t)n;
		left -= (size_t)n;
		if (asked == 0 || (size_t)n < asked)
			return (ssize_t)done;
	}
}

static void survey(int proc_fd, const pid_t *pids, size_t n)
{
	unsigned killed = 0;
	while (n > 0) {
		enum lock_answer answer;
		int waiting;
		size_t asked = MIN(n, (size_t)LOCKSERVE_BATCH);
		size_t free = batch_ask(proc_fd, pids, asked, &answer, &waiting);
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
	ignore(asker_ready(proc_fd), "the first question makes it");
}

pid_t lockwait_helper(void)
{
	return asker_of == getpid() ? MAX(asker.pid, 0) : 0;
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

void lockwait_shown(pid_t pid, bool shown)
{
	if (!known || !lockwait_hurries() || pid <= 0)
		return;
	struct lock_known *k = lock_place(pid);
	if (shown)
		k->shown = true;
	else
		k->left_out = true;
}

size_t lockwait_standing(pid_t *dst, size_t cap)
{
	size_t n = 0;
	for (size_t i = 0; known && i < PLACES; i++)
		if (known[i].stands && (known[i].shown || !known[i].left_out)) {
			if (n < cap)
				dst[n] = known[i].pid;
			n++;
		}
	return n;
}
