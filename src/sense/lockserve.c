#include "sense/lockserve.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

static bool locks_answer(int proc_fd, int fd, const pid_t *pids, size_t n)
{
	char path[32], byte;
	for (size_t i = 0; i < n; i++) {
		TEXT_FORMAT(path, "%d/cmdline", (int)pids[i]);
		/* Who is gone or hidden holds nobody: the reader itself will be told. */
		int file = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (file >= 0) {
			ignore(read(file, &byte, 1), "that it came back is the answer");
			(void)close(file);
		}
		if (send(fd, &pids[i], sizeof(pids[i]), MSG_NOSIGNAL) < 0)
			return false;
	}
	return true;
}

/* Waits without sleeping until a counter has another value, or has come to it. */
static bool look_for(_Atomic uint32_t *counter, uint32_t value, bool is_wanted)
{
	const uint64_t until_ns = clock_mono_ns() + LOCKSERVE_LOOK_NS;
	do {
		for (int i = 0; i < 64; i++) {
			if ((atomic_load(counter) == value) == is_wanted)
				return true;
#if defined(__x86_64__)
			__builtin_ia32_pause();
#endif
		}
	} while (clock_mono_ns() < until_ns);
	return false;
}

bool lockserve_is_done(struct lockserve_room *r, uint32_t number)
{
	return look_for(&r->done, number, true);
}

/* False: who asks is gone. */
static bool memory_read(struct lockserve_room *r, int fd)
{
	const int32_t word = LOCKSERVE_MEMORY;
	struct iovec into = {r->bytes, sizeof(r->bytes)};
	const uint32_t number = atomic_load(&r->asked);
	ssize_t n = process_vm_readv(r->pid, &into, 1, r->from, MIN(r->n, (uint32_t)LOCKSERVE_PARTS), 0);
	r->got = n < 0 ? -errno : n;
	atomic_store(&r->done, number);
	return !atomic_exchange(&r->waits, 0) || send(fd, &word, sizeof(word), MSG_NOSIGNAL) >= 0;
}

/* Reads as long as one request follows the other. Whoever asks after `looks` is 0 sends a packet. */
static bool memory_answer(struct lockserve_room *r, int fd)
{
	for (;;) {
		atomic_store(&r->looks, 1);
		while (look_for(&r->asked, atomic_load(&r->done), false))
			if (!memory_read(r, fd))
				return false;
		atomic_store(&r->looks, 0);
		if (atomic_load(&r->asked) == atomic_load(&r->done))
			return true;
	}
}

void lockserve(const void *arg, int fd)
{
	const struct lockserve s = *(const struct lockserve *)arg;
	pid_t pids[LOCKSERVE_BATCH];
	for (ssize_t n; (n = recv(fd, pids, sizeof(pids), 0)) > 0;) {
		bool is_memory = (size_t)n >= sizeof(pids[0]) && pids[0] == LOCKSERVE_MEMORY;
		bool goes_on = is_memory ? s.room && memory_answer(s.room, fd)
					 : locks_answer(s.proc_fd, fd, pids, (size_t)n / sizeof(pids[0]));
		if (!goes_on)
			return;
	}
}
