/* Shared by the files that implement sense/wait/waitfacts.h. */
#pragma once

#include "sense/net/sockpeer.h"
#include "sense/proc/maps.h"
#include "sense/proc/mates.h"
#include "sense/proc/remote.h"
#include "sense/wait/fdholders.h"
#include "sense/wait/kinship.h"
#include "sense/wait/threadwait_parts.h"
#include "sense/wait/waitfacts.h"

/* Bytes of a link that are read where only its beginning is shown. */
#define FDLINK_SHOWN 256

/* A wanted process while it is read. */
struct waitproc {
	struct kin *kin; /* borrowed */
	struct fdtable fds;
	bool fds_read;
	struct remote remote;
	bool maps_tried, mounts_tried, ns_tried;
	struct maps maps;
	char *mounts; /* text of mountinfo; owned; NULL: not readable */
	size_t mounts_len;
	pid_t ns_pid; /* in its own pid namespace; 0: unknown */
};

/* A FIFO without a name. */
struct fifo_id {
	dev_t dev;
	uint64_t inode; /* 0: it is none */
};

/* What becomes of a fact after the pass over all descriptors. */
enum pend_kind {
	PEND_SOCKET,
	PEND_PIPE,
	PEND_EVENTFD,
	PEND_FUSE,
	PEND_FLOCK,
	PEND_QUEUE,
	PEND_TIMER,
	PEND_CHANGE,
	PEND_EPOLL, /* of no fact: whoever has a copy of it may let it watch something else */
	PEND_TERMINAL,
};
struct pend {
	enum pend_kind kind;
	uint32_t fact;
	struct fdobject own, peer; /* peer: sockets only */
	uint8_t access; /* pipes: what the holders do, O_RDONLY or O_WRONLY; file locks: enum fdinfo_lock */
	bool named; /* a FIFO: anybody may open it */
	struct fifo_id fifo; /* of a FIFO that nobody can open any more */
	bool pair; /* both ends of a unix socket were made together */
	pid_t pid; /* sockets, timers, terminals, file locks and changes of files: whose it is */
	int fd; /* sockets; changes of files: the descriptor that watches them */
	uint32_t nameless; /* file locks: lines that name no living process */
	uint32_t of_files; /* file locks: lines that are in the way of flock and OFD locks, its own file's too */
	uint32_t own_locks; /* file locks: how many of these its own file has */
	bool is_remote; /* file locks: another machine may hold it */
	bool blocks; /* sockets: the call itself waits, which an option of the socket may end */
	uint32_t thread; /* sockets: whose wait it is */
	/* Sockets: hashes of the two forms of the unix address that a blocked send names; [0] is 0: it names none. */
	uint64_t to_name[2];
};

/* Holders that were listed already. */
struct pend_memo {
	bool used, whole;
	struct fdobject of, with;
	int access;
	uint32_t first, n;
};

struct waitlook {
	const struct world *w;
	struct waitfacts *f;
	struct kinship kin;
	struct waitproc *proc; /* by pid; owned */
	size_t n_procs;
	struct sockpeer_table socks;
	bool socks_read;
	struct fdsearch search;
	struct pend *pend; /* owned */
	size_t n_pend, cap_pend;
	char *locks; /* text of /proc/locks; owned */
	size_t locks_len;
	bool locks_tried;
	struct pend_memo memo[1024]; /* by hash; a later one takes the place of an earlier one */
	struct mates_process *mates; /* by pid; owned; NULL: not read yet */
	size_t n_mates;
	size_t n_compared; /* pairs of descriptors */
	size_t n_fifos; /* whose users by other paths were searched for */
	size_t n_terminals; /* descriptors of terminals that were asked about */
	int error; /* -ENOMEM, kept until the end */
};

/* One blocked thread. */
struct waiting {
	struct waitlook *l;
	struct waitproc *p;
	struct waitfact_thread *t;
	const struct threadwait *tw;
	bool wchan_read;
	char wchan[64]; /* read on demand */
	uint32_t n_epolls; /* epoll descriptors read so far */
};

/* Adds an alternative to the thread; NULL: no room. The pointer is valid until the next one is added. */
struct waitfact *waitfact_add(struct waiting *c, enum waitfact_kind kind);
/* Adds a holder, once. Only to the alternative whose holders stand last. */
void waitfact_holder_add(struct waitlook *l, struct waitfact *fact, pid_t pid, pid_t tid);
/* The same where the process is known to be none of them yet. */
void waitfact_holder_append(struct waitlook *l, struct waitfact *fact, pid_t pid);
/* The last alternative is finished after the pass. */
void waitfact_pend(struct waitlook *l, const struct pend *p);
const char *waiting_wchan(struct waiting *c);
/* Reads memory of the process; false if it cannot be read or addr is 0. */
bool waiting_memory(struct waiting *c, uint64_t addr, void *into, size_t len);

/* Translates a pid of the process's own pid namespace; 0: unknown. */
pid_t waitproc_outer(struct waitlook *l, struct waitproc *p, pid_t inner);
const struct maps *waitproc_maps(struct waitlook *l, struct waitproc *p); /* NULL: not readable */
struct span waitproc_mounts(struct waitlook *l, struct waitproc *p);

/* waitfacts_limit.c: time limits of the call. */
void waiting_limit(struct waiting *c);
/* True if it waits until another process gives a lease up (F_SETLEASE); the kernel's limit of that is noted. */
bool waiting_lease(struct waiting *c);
/* Those that are options of sockets. After the holders are known. */
void waitlook_options(struct waitlook *l);
/* waitfacts_fd.c: a descriptor that is waited for, with the ways in which it is. */
void waiting_fd(struct waiting *c, int fd, bool to_read, bool to_write, int depth);
/* What a descriptor is, by its path below dir. inode 0: no FIFO, or one with a name. */
struct fifo_id waitlook_nameless_fifo(int dir, const char *path);
/* waitfacts_poll.c */
void waiting_poll(struct waiting *c);
void waiting_epoll(struct waiting *c, int fd, int depth);
/* waitfacts_futex.c */
void waiting_futex(struct waiting *c);
/* waitfacts_child.c */
void waiting_child(struct waiting *c);
void waiting_vfork(struct waiting *c);
void waiting_signal(struct waiting *c);
/* The children whose end a signalfd for these signals tells of. True: it tells of nothing else. */
bool waiting_signals(struct waiting *c, uint64_t set);
/* waitfacts_ipc.c: locks of files, System V, POSIX queues. */
void waiting_file_lock(struct waiting *c);
void waiting_semaphore(struct waiting *c);
void waiting_message(struct waiting *c);
void waiting_queue(struct waiting *c);
/* The lines of /proc/locks; empty: they cannot be read. */
struct span waitlook_locks(struct waitlook *l);
/* What a descriptor is, made printable: the name of its file; "": it was closed. */
void waitlook_link(struct waitlook *l, pid_t pid, int fd, char *dst, size_t cap);
/* waitfacts_file.c: file systems. fd -1: by the path of the call. */
void waiting_file(struct waiting *c, int fd);
/* True for a file of procfs, sysfs and the like, which can be polled. */
bool waiting_fd_is_kernels(struct waiting *c, int fd);
/*
 * A descriptor of inotify; and who could change what it watches, when the descriptors of all are known. True: it
 * watches nothing, as it was not told of anything yet, or all of it was removed. Then who has it could end the wait.
 */
void waiting_change(struct waiting *c, int fd);
bool waitlook_change(struct waitlook *l, const struct pend *p, struct waitfact *f);
/* waitfacts_call.c: all alternatives of one thread. */
void waiting_read(struct waiting *c);
/* waitfacts_finish.c: what needs the sockets and the pass over all descriptors. */
int must_check waitlook_finish(struct waitlook *l, uint64_t budget_ns);
/* waitfacts_polled.c: what threads that look again and again may look at. After waitlook_finish. */
void waitlook_polled(struct waitlook *l);
/* The device of a mount by its id, or by the longest mount point above a path. False: none. Pure. */
struct waitmount {
	uint32_t major, minor;
	struct span type, source;
};
bool waitmount_by_id(struct span mountinfo, uint64_t id, struct waitmount *ret);
bool waitmount_by_path(struct span mountinfo, struct span path, struct waitmount *ret);
