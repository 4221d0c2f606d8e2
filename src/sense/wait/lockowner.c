/*
 * A wrong owner is worse than no owner: an owner is reported only if it is a living thread, and a lock is reported as
 * inherited over fork only with proof. Of a mutex in shared memory whose owner is no thread of this machine is said
 * that the owner may have ended.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "sense/proc/proc.h"
#include "sense/wait/threadwait_parts.h"

/* glibc: a mutex is 0 free, 1 taken, 2 taken and waited for. */
#define MUTEX_CONTENDED 2
/* Bits of __kind that glibc uses: type, robust, PI, PP, shared, elision. */
#define MUTEX_KIND_BITS UINT32_C(0x3ff)
#define MUTEX_KIND_SHARED UINT32_C(0x80)
#define MUTEX_KIND_ROBUST UINT32_C(0x10)
#define MUTEX_KIND_TYPE UINT32_C(0x3)
#define MUTEX_TYPE_RECURSIVE 1
/* pid_max of 64-bit kernels */
#define TID_MAX (INT32_C(4) << 20)
/* Threads read at most to translate a number of a nested pid namespace. */
#define TRANSLATE_MAX 1024

enum mutex_word { MUTEX_LOCK, MUTEX_COUNT, MUTEX_OWNER, MUTEX_NUSERS, MUTEX_KIND, MUTEX_SPINS, MUTEX_LIST };

bool mutex_is_plausible(const uint32_t word[10])
{
	const bool recursive = (word[MUTEX_KIND] & MUTEX_KIND_TYPE) == MUTEX_TYPE_RECURSIVE;
	if (word[MUTEX_LOCK] != MUTEX_CONTENDED || word[MUTEX_OWNER] == 0 || word[MUTEX_OWNER] > TID_MAX)
		return false;
	if (word[MUTEX_KIND] & ~MUTEX_KIND_BITS)
		return false;
	if (recursive ? word[MUTEX_COUNT] == 0 || word[MUTEX_COUNT] > UINT16_MAX : word[MUTEX_COUNT] != 0)
		return false;
	return word[MUTEX_NUSERS] > 0 && word[MUTEX_NUSERS] <= UINT16_MAX;
}

static bool lockowner_exists(const struct world *w, const char *path)
{
	struct stat st;
	return fstatat(w->proc_fd, path, &st, 0) == 0;
}

static bool task_exists(const struct world *w, pid_t pid, pid_t tid)
{
	char path[48];
	TEXT_FORMAT(path, "%d/task/%d", pid, tid);
	return lockowner_exists(w, path);
}

/* The pid inside the innermost pid namespace of the process; 0 if it cannot be read. */
static pid_t inner_pid(const struct world *w, pid_t pid)
{
	struct proc_status s;
	return proc_status_read(w, pid, &s) == 0 ? s.ns_pid : 0;
}

/* Translates a tid of the namespace of the process to the tid in our /proc; 0: no such thread. */
static pid_t thread_of(const struct world *w, pid_t pid, pid_t inner)
{
	pid_t own = inner_pid(w, pid);
	if (own == 0)
		return 0;
	if (own == pid)
		return task_exists(w, pid, inner) ? inner : 0;
	cleanup(freep) pid_t *tids = NULL;
	size_t n;
	if (threads_read(w, pid, &tids, &n) != 0)
		return 0;
	for (size_t i = 0; i < MIN(n, (size_t)TRANSLATE_MAX); i++)
		if (inner_pid(w, tids[i]) == inner)
			return tids[i];
	return 0;
}

/* True if every thread can be read, so that a missing thread is certain. */
static bool threads_are_known(const struct world *w, pid_t pid)
{
	cleanup(freep) pid_t *tids = NULL;
	size_t n;
	pid_t own = inner_pid(w, pid);
	if (own == 0 || threads_read(w, pid, &tids, &n) != 0)
		return false;
	return own == pid || n <= TRANSLATE_MAX;
}

/*
 * For an owner that is no thread of this process. A thread of the parent, from which the memory was copied, is proof of
 * a fork. If that thread has ended, its number must be between the pids of the parent and of this process, in a plain
 * mutex of glibc with plausible fields.
 */
static bool inherited_over_fork(const struct world *w, pid_t pid, const uint32_t word[10], pid_t *ret_holder)
{
	struct proc_stat stat;
	const pid_t owner = (pid_t)word[MUTEX_OWNER];
	if (proc_stat_read(w, pid, &stat) != 0 || stat.ppid <= 0)
		return false;
	const pid_t holder = thread_of(w, stat.ppid, owner);
	if (holder != 0) {
		*ret_holder = holder; /* as our /proc calls it */
		return true;
	}
	for (size_t i = MUTEX_SPINS; i < 10; i++)
		if (word[i] != 0)
			return false;
	const pid_t own = inner_pid(w, pid), parent = inner_pid(w, stat.ppid);
	return word[MUTEX_KIND] == 0 && word[MUTEX_NUSERS] == 1 && parent > 1 && parent < owner && owner < own;
}

static void mutex_owner(const struct world *w, pid_t pid, const uint32_t word[10], bool shared_call,
			struct lock_owner *o)
{
	char path[24];
	const pid_t owner = (pid_t)word[MUTEX_OWNER];
	pid_t here = thread_of(w, pid, owner);
	if (here != 0) {
		*o = (struct lock_owner){.shape = LOCK_MUTEX, .tid = here};
		return;
	}
	if (!threads_are_known(w, pid))
		return;
	if (shared_call && (word[MUTEX_KIND] & MUTEX_KIND_SHARED)) {
		TEXT_FORMAT(path, "%d", owner);
		if (inner_pid(w, pid) != pid)
			return; /* the number may be one of another namespace */
		*o = (struct lock_owner){.shape = LOCK_MUTEX, .tid = owner};
		o->elsewhere = lockowner_exists(w, path);
		o->gone_maybe = !o->elsewhere;
		return;
	}
	*o = (struct lock_owner){.shape = LOCK_MUTEX, .tid = owner};
	o->gone = inherited_over_fork(w, pid, word, &o->tid);
	o->gone_maybe = !o->gone;
}

/*
 * Any lock may have a small number in its word, and threads have small ones in a pid namespace: Rust's read-write lock
 * counts its readers there, with the bit that says that somebody waits. A mutex of glibc has its owner twice.
 */
static bool is_robust_mutex(struct remote *r, uint64_t addr, pid_t owner)
{
	uint32_t word[MUTEX_KIND + 1];
	return remote_read(r, addr, word, sizeof(word)) == 0 && word[MUTEX_OWNER] == (uint32_t)owner &&
	       (word[MUTEX_KIND] & MUTEX_KIND_ROBUST) && !(word[MUTEX_KIND] & ~MUTEX_KIND_BITS);
}

/* True of the word of a thread of glibc that has its number until it ends: pthread_join(3) waits there. */
static bool is_id_of_thread(struct remote *r, uint64_t addr, pid_t named)
{
#ifdef __x86_64__
	const uint64_t head_bytes = 720; /* struct pthread: its own address is in its first and its third word */
	uint64_t head[3];
	(void)named;
	return addr > head_bytes && remote_read(r, addr - head_bytes, head, sizeof(head)) == 0 &&
	       head[0] == addr - head_bytes && head[2] == addr - head_bytes;
#else
	/* So small a number is none outside of a pid namespace. */
	const pid_t reserved = 300;
	(void)r;
	(void)addr;
	return named > reserved;
#endif
}

void lock_owner_read(const struct world *w, pid_t pid, pid_t tid, const struct threadwait *t, struct remote *r,
		     struct lock_owner *ret)
{
	const uint32_t op = (uint32_t)t->arg[1] & (uint32_t)FUTEX_CMD_MASK, val = (uint32_t)t->arg[2];
	const bool shared_call = !(t->arg[1] & FUTEX_PRIVATE_FLAG);
	uint32_t word[10] = {};
	*ret = (struct lock_owner){};
	if (strcmp(syscall_name(t->nr), "futex") != 0 || remote_read(r, t->arg[0], word, sizeof(word[0])) != 0)
		return;
	const pid_t named = (pid_t)(word[0] & FUTEX_TID_MASK);
	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2) {
		pid_t here = thread_of(w, pid, named);
		if (here != 0)
			*ret = (struct lock_owner){.shape = LOCK_TID, .tid = here};
		return;
	}
	if ((op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET) || word[0] != val)
		return;
	if (word[0] == MUTEX_CONTENDED) {
		if (remote_read(r, t->arg[0], word, sizeof(word)) == 0 && word[0] == val && mutex_is_plausible(word))
			mutex_owner(w, pid, word, shared_call, ret);
		return;
	}
	/* The other shapes hold a tid in the word: a contended robust lock, or a joined thread. */
	if (named <= 0 || !(word[0] & FUTEX_WAITERS ? is_robust_mutex(r, t->arg[0], named)
						    : shared_call && is_id_of_thread(r, t->arg[0], named)))
		return;
	pid_t here = thread_of(w, pid, named);
	if (here != 0 && here != tid)
		*ret = (struct lock_owner){.shape = word[0] & FUTEX_WAITERS ? LOCK_TID : LOCK_JOIN, .tid = here};
}
