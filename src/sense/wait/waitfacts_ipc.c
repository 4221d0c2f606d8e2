/* Locks of files, System V semaphores and messages, POSIX queues. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/wait/filelock.h"
#include "sense/wait/waitfacts_parts.h"

#define LOCKS_TEXT_MAX (16 * MIB)
/* Operations of one semop(2) that are looked at; the kernel's limit is 500. */
#define SEMAPHORE_OPS_MAX 500

/* ---- locks of files ---- */

struct span waitlook_locks(struct waitlook *l)
{
	if (!l->locks_tried && l->w->proc_fd >= 0 &&
	    file_slurp(l->w->proc_fd, "locks", LOCKS_TEXT_MAX, &l->locks, &l->locks_len) != 0)
		l->locks_len = 0;
	l->locks_tried = true;
	return (struct span){l->locks ? l->locks : "", l->locks_len};
}

static bool call_is_flock(const struct waiting *c)
{
	return c->tw->nr == SYS_flock;
}

void waitlook_link(struct waitlook *l, pid_t pid, int fd, char *dst, size_t cap)
{
	char link[FDLINK_SHOWN], path[40];
	TEXT_FORMAT(path, "%d/fd/%d", (int)pid, fd);
	const ssize_t n = readlinkat(l->w->proc_fd, path, link, sizeof(link));
	span_copy((struct span){link, n > 0 ? (size_t)n : 0}, dst, cap);
}

/* The lock that the call asks for; false if it is none. */
static bool lock_wanted(struct waiting *c, struct filelock *ret)
{
	struct flock l;
	*ret = (struct filelock){.type = FILELOCK_FLOCK, .end = UINT64_MAX, .pid = c->t->pid};
	if (call_is_flock(c)) {
		ret->write = !(c->tw->arg[1] & LOCK_SH);
		return true;
	}
	if (c->tw->nr != SYS_fcntl || (c->tw->arg[1] != F_SETLKW && c->tw->arg[1] != F_OFD_SETLKW))
		return false;
	ret->type = c->tw->arg[1] == F_OFD_SETLKW ? FILELOCK_OFD : FILELOCK_POSIX;
	ret->write = true;
	/* A range from the present position or the end of the file, or an unreadable one, counts as the whole file. */
	if (waiting_memory(c, c->tw->arg[2], &l, sizeof(l))) {
		ret->write = l.l_type != F_RDLCK;
		if (l.l_whence == SEEK_SET && l.l_start >= 0 && l.l_len >= 0) {
			ret->start = (uint64_t)l.l_start;
			if (l.l_len > 0)
				ret->end = add_cap(ret->start, (uint64_t)l.l_len - 1);
		}
	}
	return true;
}

/* Adds who is said to hold it; returns how many lines name nobody. *ret_of_files: lines of flock and OFD locks. */
static size_t lock_holders(struct waiting *c, struct waitfact *f, const struct filelock *wanted, size_t *ret_of_files)
{
	struct span text = waitlook_locks(c->l), line;
	struct filelock held;
	size_t nameless = 0;
	*ret_of_files = 0;
	while (span_line(&text, &line)) {
		if (filelock_parse(line, &held) != 0 || !filelock_blocks(&held, wanted))
			continue;
		*ret_of_files += held.type != FILELOCK_POSIX;
		const bool lives = held.pid > 0 && kinship_find(&c->l->kin, held.pid);
		f->inherited |= held.type == FILELOCK_FLOCK && held.pid > 0 && !lives;
		if (lives)
			waitfact_holder_add(c->l, f, held.pid, 0);
		else
			nameless++;
	}
	return nameless;
}

void waiting_file_lock(struct waiting *c)
{
	struct filelock wanted;
	struct fdinfo info;
	struct waitmount m;
	const int fd = (int)MIN(c->tw->arg[0], (uint64_t)INT32_MAX);
	const struct fdentry *e = fdtable_find(&c->p->fds, fd);
	struct waitfact *f = waitfact_add(c, WAITFACT_FILE_LOCK);
	if (!f)
		return;
	waitlook_link(c->l, c->t->pid, fd, f->text, sizeof(f->text));
	if (!e || !lock_wanted(c, &wanted) || fdtable_info(c->l->w, &c->p->fds, fd, &info) != 0 ||
	    !(info.has & FDINFO_INODE) || !(info.has & FDINFO_MOUNT) ||
	    !waitmount_by_id(waitproc_mounts(c->l, c->p), info.mount_id, &m))
		return;
	wanted.major = m.major;
	wanted.minor = m.minor;
	wanted.inode = info.inode;
	f->id = info.inode;
	size_t of_files;
	const size_t nameless = lock_holders(c, f, &wanted, &of_files);
	/* A lock of a remote file may be held by another machine. */
	const bool is_remote = mount_is_remote(m.type);
	f->complete = !is_remote && f->n_holders > 0 && nameless == 0;
	f->owner = f->n_holders == 1 && nameless == 0;
	f->all = of_files == 0 && f->n_holders > 0; /* POSIX locks are of processes */
	if (wanted.type == FILELOCK_POSIX && nameless == 0)
		return;
	/* flock and OFD locks stay while any process has the descriptor that took them: the pass finds those. */
	waitfact_pend(c->l,
		      &(struct pend){.kind = PEND_FLOCK,
				     .own = {FDOBJECT_FILE, e->number},
				     .pid = c->t->pid,
				     .access = wanted.type == FILELOCK_FLOCK ? FDINFO_LOCK_FLOCK : FDINFO_LOCK_OFD,
				     .nameless = (uint32_t)MIN(nameless, (size_t)UINT32_MAX),
				     .of_files = (uint32_t)MIN(of_files, (size_t)UINT32_MAX),
				     .own_locks = info.n_own,
				     .is_remote = is_remote});
}

/* ---- System V ---- */

static bool ipc_is_ours(const struct waitlook *l, pid_t pid)
{
	char path[40];
	struct stat ours, theirs;
	TEXT_FORMAT(path, "%d/ns/ipc", (int)pid);
	return !l->w->recorded && fstatat(l->w->proc_fd, "self/ns/ipc", &ours, 0) == 0 &&
	       fstatat(l->w->proc_fd, path, &theirs, 0) == 0 && ours.st_ino == theirs.st_ino &&
	       ours.st_dev == theirs.st_dev;
}

/* The operation that may not be done now: the first that takes more than there is, or waits for 0. */
static int blocked_operation(struct waiting *c, int set, struct sembuf *ret)
{
	struct sembuf op[SEMAPHORE_OPS_MAX];
	const uint64_t n = c->tw->arg[2];
	if (n == 0 || n > ARRAY_SIZE(op) || !waiting_memory(c, c->tw->arg[1], op, (size_t)n * sizeof(op[0])))
		return -ENOENT;
	for (size_t i = 0; i < n; i++) {
		const int value = semctl(set, op[i].sem_num, GETVAL);
		if (value >= 0 && (op[i].sem_op == 0 ? value != 0 : value + op[i].sem_op < 0)) {
			*ret = op[i];
			return 0;
		}
	}
	return -ENOENT;
}

/* Who took what is missing had it to the end of its life: it is 0 now, and the last change made it so. */
static void taken_by_one_that_left(struct waiting *c, struct waitfact *f, int set, const struct sembuf *op, pid_t pid)
{
	char path[24], was[sizeof(f->text)];
	struct stat st;
	TEXT_FORMAT(path, "%d", (int)pid);
	if (op->sem_op >= 0 || semctl(set, op->sem_num, GETVAL) != 0 ||
	    fstatat(c->l->w->proc_fd, path, &st, 0) == 0 || errno != ENOENT)
		return;
	f->left = pid;
	TEXT_COPY(was, f->text);
	TEXT_FORMAT(f->text, "%s, taken last by process %d, which has ended", was, (int)pid);
}

void waiting_semaphore(struct waiting *c)
{
	struct sembuf op;
	const int set = (int)c->tw->arg[0];
	struct waitfact *f = waitfact_add(c, WAITFACT_SEMAPHORE);
	if (!f)
		return;
	f->id = (uint32_t)set;
	TEXT_FORMAT(f->text, "System V semaphore of set %d", set);
	if (!ipc_is_ours(c->l, c->t->pid) || blocked_operation(c, set, &op) != 0)
		return;
	const int pid = semctl(set, op.sem_num, GETPID);
	TEXT_FORMAT(f->text, "System V semaphore %u of set %d", op.sem_num, set);
	/* Taking from a semaphore counts as well, so what the waiter did last says nothing of who should add to it. */
	if (pid <= 0 || pid == c->t->pid)
		return;
	if (kinship_find(&c->l->kin, pid))
		waitfact_holder_add(c->l, f, pid, 0);
	else
		taken_by_one_that_left(c, f, set, &op, pid);
}

/* What the kernel tells of a queue: the bytes that lie in it, who sent to it last, who received from it last. */
struct message_queue {
	uint64_t bytes;
	pid_t sent, received;
};

/* "key msqid perms cbytes qnum lspid lrpid …". False: no such queue. */
static bool message_queue_read(const struct world *w, uint32_t queue, struct message_queue *ret)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	struct span line, word;
	if (file_slurp(w->proc_fd, "sysvipc/msg", MIB, &text, &len) != 0)
		return false;
	for (struct span rest = {text, len}; span_line(&rest, &line);) {
		uint64_t column[7] = {};
		size_t i = 0;
		for (; i < ARRAY_SIZE(column) && span_word(&line, &word); i++)
			if (i > 0 && span_u64(word, &column[i]) < 0)
				break;
		if (i < ARRAY_SIZE(column) || column[1] != queue)
			continue;
		ret->bytes = column[3];
		ret->sent = column[5] <= INT32_MAX ? (pid_t)column[5] : 0;
		ret->received = column[6] <= INT32_MAX ? (pid_t)column[6] : 0;
		return true;
	}
	return false;
}

void waiting_message(struct waiting *c)
{
	struct waitfact *f = waitfact_add(c, WAITFACT_MESSAGE);
	struct message_queue q;
	if (!f)
		return;
	const uint32_t queue = (uint32_t)c->tw->arg[0];
	f->id = (uint64_t)queue + 1; /* the first queue is number 0 */
	f->to_write = c->tw->nr == SYS_msgsnd;
	f->message_type = f->to_write ? 0 : (int64_t)c->tw->arg[3];
	TEXT_FORMAT(f->text, "System V messages, queue %d", (int)queue);
	if (!ipc_is_ours(c->l, c->t->pid) || !message_queue_read(c->l->w, queue, &q))
		return;
	const pid_t one = f->to_write ? q.received : q.sent, other = f->to_write ? q.sent : q.received;
	if (one > 0 && kinship_find(&c->l->kin, one))
		waitfact_holder_add(c->l, f, one, 0);
	if (one == c->t->pid && other > 0 && other != one && kinship_find(&c->l->kin, other))
		waitfact_holder_add(c->l, f, other, 0);
	/* What lies there is of another type than it asks for. What it sent itself is not for it. */
	if (!f->to_write && q.sent > 0 && q.sent != c->t->pid)
		f->unread = (uint32_t)MIN(q.bytes, (uint64_t)UINT32_MAX);
}

/* True if its name has been taken away, so that nobody can open it any more. A job that names one so fools itself. */
static bool has_no_name(const char *link)
{
	static const char mark[] = " (deleted)";
	const size_t len = strlen(link), tail = sizeof(mark) - 1;
	return len > tail && strcmp(link + len - tail, mark) == 0;
}

/* A queue of mq_overview(7): whoever has it open; others may open it by its name. */
void waiting_queue(struct waiting *c)
{
	char name[FDLINK_SHOWN];
	const int fd = (int)MIN(c->tw->arg[0], (uint64_t)INT32_MAX);
	const struct fdentry *e = fdtable_find(&c->p->fds, fd);
	struct waitfact *f = waitfact_add(c, WAITFACT_MESSAGE);
	if (!f)
		return;
	f->to_write = c->tw->nr == SYS_mq_timedsend;
	waitlook_link(c->l, c->t->pid, fd, name, sizeof(name));
	TEXT_FORMAT(f->text, "message queue %s", name);
	if (!e || e->kind != FD_FILE)
		return;
	f->id = e->number;
	waitfact_pend(c->l, &(struct pend){.kind = PEND_QUEUE,
					   .own = {FDOBJECT_FILE, e->number},
					   .named = !has_no_name(name)});
}
