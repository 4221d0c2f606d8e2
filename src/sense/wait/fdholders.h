/*
 * Which processes have a pipe, a socket, an eventfd or a file open: one pass over the links in /proc/PID/fd (kernel:
 * filesystems/proc.rst). All descriptors of the wanted processes are listed; of the other processes only those that
 * somebody waits for, near relatives first, within a budget of time. Nothing is opened through the links.
 *
 * When the list of holders is whole. The ends of unnamed pipes and socketpairs, eventfds, and both ends of a
 * connection reach another process only by fork, by SCM_RIGHTS, or by pidfd_getfd(2) and /proc/PID/fd, which take a
 * tracer's rights. Where every process could be listed, the list is whole unless a descriptor is on its way in a unix
 * socket (fdinfo: scm_fds). Threads with descriptors of their own (unshare(2)) are listed too, as is what a ring of
 * io_uring keeps, which needs no descriptor (fdinfo: UserFiles).
 *
 * An ordinary user cannot list the processes of others, nor can anybody those outside a pid namespace. An object is
 * then "sealed" if each of its topmost holders (those whose parent does not hold it) has a parent that was listed, is
 * not the first process, and does not hold the object: what a process inherits from further up its parent had to have
 * as well. Not sealed is it if a process that could not be listed descends from that parent, is one of the wanted, or
 * has started after it in the same session or control group, or if a holder has a unix socket to a process that was
 * not found, and could have handed the object over. Three ways out are not seen: a parent that inherited the object,
 * gave it on and closed it itself; an unlisted process with a tracer's rights that took it; and files that a ring keeps
 * registered whose own descriptor was closed, so nothing that a process with another ring holds is called whole.
 */
#pragma once

#include <sys/types.h>

#include "sense/net/fdtarget.h"
#include "sense/net/sockpeer.h"
#include "sense/proc/fdinfo.h"
#include "sense/wait/kinship.h"
#include "sense/world.h"

enum fd_special { FD_PLAIN, FD_DEV_FUSE, FD_RING, FD_DEVICE, FD_TERMINALS };

struct fdentry {
	int fd;
	uint8_t kind; /* enum fd_kind */
	uint8_t special; /* enum fd_special */
	uint64_t number; /* inode of pipes and sockets; hash of the link of files */
};

/* The descriptors of one process, by their number. */
struct fdtable {
	pid_t pid;
	char info_dir[40]; /* "812/fdinfo" */
	struct fdentry *entry; /* owned */
	size_t n, cap;
	bool cut; /* it has more than were read */
};
/*
 * leader_ended: its main thread is a zombie, so its files are seen through another thread. WORLD_GONE, WORLD_DENIED;
 * -ENOMEM.
 */
int must_check fdtable_read(const struct world *w, pid_t pid, bool leader_ended, struct fdtable *ret);
void fdtable_done(struct fdtable *t);
const struct fdentry *fdtable_find(const struct fdtable *t, int fd); /* NULL: no such descriptor */
/* Reads the fdinfo of one descriptor. WORLD_GONE, WORLD_DENIED. */
int must_check fdtable_info(const struct world *w, const struct fdtable *t, int fd, struct fdinfo *ret);

enum fdobject_class { FDOBJECT_NONE, FDOBJECT_PIPE, FDOBJECT_SOCKET, FDOBJECT_EVENTFD, FDOBJECT_FUSE, FDOBJECT_FILE };
struct fdobject {
	enum fdobject_class class;
	uint64_t number; /* inode, id of an eventfd, minor number of a FUSE file system, hash of the link of a file */
};

struct fdheld {
	struct fdobject object;
	pid_t pid;
	uint8_t access; /* O_RDONLY … of pipes; the union of several descriptors, as O_RDWR */
	uint8_t locks; /* files: enum fdinfo_lock of the locks that its descriptors hold */
	uint32_t n_locks; /* files: how many FLOCK and OFD locks these are; a descriptor that was copied counts again */
};

/* Of a process that is not wanted: what the kernel gives no number (timers, inotify, epoll). */
struct fdloose {
	pid_t pid;
	int fd;
	uint8_t kind; /* enum fd_kind */
};

struct fdsearch {
	struct fdobject *key; /* what is searched; sorted by fdsearch_run; owned */
	size_t n_keys, cap_keys;
	uint64_t *suspect; /* unix sockets that may carry descriptors; owned */
	size_t n_suspects, cap_suspects;
	struct fdheld *held; /* by object and pid; owned */
	size_t n_held, cap_held;
	pid_t *denied; /* processes that could not be listed; owned */
	size_t n_denied, cap_denied;
	pid_t *ring; /* processes with an io_uring, ascending; owned */
	size_t n_rings, cap_rings;
	struct fdloose *loose; /* owned */
	size_t n_loose, cap_loose;
	size_t n_descriptors; /* that were looked at */
	bool cut; /* out of time or room: nothing is whole */
	bool in_flight; /* a descriptor is on its way between processes */
	bool registered, registered_events; /* a ring of any process keeps what is not known, and eventfds */
	bool suspect_unknown; /* a socket that may carry descriptors was found in no process */
};
void fdsearch_done(struct fdsearch *s);
/* Adds something to search for. -ENOMEM. */
int must_check fdsearch_want(struct fdsearch *s, struct fdobject o);
/* Adds the unix sockets of the table that may carry descriptors. -ENOMEM. */
int must_check fdsearch_suspect(struct fdsearch *s, const struct sockpeer_table *t);
/* Searches the tables of the wanted processes, then all other processes until until_ns. -ENOMEM. */
int must_check fdsearch_run(const struct world *w, struct kinship *k, const struct fdtable *table, size_t n_tables,
			    uint64_t until_ns, struct fdsearch *s);
/* The processes that have it; NULL and 0: none. */
const struct fdheld *fdsearch_holders(const struct fdsearch *s, struct fdobject o, size_t *ret_n);
/* True if the holders of these objects (the ends of one thing) are all there are. At least one has a holder. */
bool fdsearch_is_whole(const struct world *w, const struct fdsearch *s, struct kinship *k, const struct fdobject *o,
		       size_t n);
