/*
 * What the blocked threads of some processes wait for, and who could end each wait: facts of the kernel, without an
 * opinion. model/hang/waitgraph makes the graph of who waits for whom from two of these.
 *
 * Sources: /proc/PID/{stat,status,timers,fd,fdinfo,maps} and its task/TID/{stat,syscall,wchan,schedstat} (kernel:
 * filesystems/proc.rst), kcmp(2), /proc/locks, /proc/mounts, sock_diag(7) for both ends of TCP and unix sockets in each
 * network namespace of the processes, System V's tables, and the words of locks in the processes' memory
 * (sense/wait/threadwait_parts.h). Nothing is stopped, opened through /proc/PID/fd, or written.
 *
 * A wait is a list of alternatives, any of which ends it: one for a read, several for poll, select and epoll. Of each
 * alternative there are the holders: the processes, or threads, that could make it happen. `complete` says that the
 * list of holders is whole. It is not where a process could not be looked into, a descriptor may be on its way
 * between processes (SCM_RIGHTS), the other end is on another machine or in a namespace that cannot be entered, or
 * anybody may come (a listening socket, a FIFO by its name). An empty list that is complete means that nobody can.
 *
 * Time limits that are options of a socket are asked of a copy of it (sense/net/socklimit.h). Not seen are eventfds of
 * asynchronous I/O of a process that shares nothing else with the waiting one. When holders are complete: fdholders.h.
 *
 * All that is read may lie or change meanwhile: numbers are checked, links are never followed, and what does not fit is
 * left out with `complete` false.
 */
#pragma once

#include <sys/types.h>

#include "sense/proc/maps.h"
#include "sense/wait/threadwait.h"
#include "sense/world.h"

/* What one alternative waits for. */
enum waitfact_kind {
	WAITFACT_UNKNOWN, /* it could not be told; never complete */
	WAITFACT_CLOCK, /* a time: sleep, timerfd; it ends by itself */
	WAITFACT_TCP, /* a connection; holders: who has the other end */
	WAITFACT_CONNECT, /* a connection that is being made, or has lost what was sent */
	WAITFACT_LISTEN, /* a listening socket, TCP or unix: anybody may connect */
	WAITFACT_DATAGRAM, /* UDP and other sockets without a peer: anybody may send */
	/*
	 * A connected unix socket; holders as for TCP. Also a datagram to a name whose receiver does not read: the
	 * holders are who has that socket, never complete.
	 */
	WAITFACT_UNIX,
	WAITFACT_PIPE, /* holders: who has it open the other way; the waiting process itself may be one */
	WAITFACT_FIFO, /* open of a FIFO that nobody has open the other way */
	WAITFACT_EVENTFD, /* or a timerfd that is off, an inotify without files; holders: who has it, itself too */
	WAITFACT_CHILD, /* the end of a child process, or its SIGCHLD; holders: the children that would do */
	WAITFACT_THREAD, /* the end of a thread (pthread_join) */
	WAITFACT_LOCK, /* a lock whose owner can be read */
	WAITFACT_FUTEX, /* a lock, condition or semaphore without an owner; holder: the process itself, by any thread */
	WAITFACT_SHARED, /* the same in shared memory; holders: the wanted processes that map it; never complete */
	WAITFACT_FILE_LOCK, /* flock, POSIX and OFD locks */
	/* Of System V; holder, or `left`: the process that last changed it, if another one; never complete. */
	WAITFACT_SEMAPHORE,
	/*
	 * A message queue. POSIX: who has it open, complete where its name is gone. System V: who sent to it last (to
	 * write: received from it last); if that is the waiting process itself, who received last (sent last) as well;
	 * never complete.
	 */
	WAITFACT_MESSAGE,
	WAITFACT_SIGNAL, /* pause, sigsuspend, signalfd: whoever sends one */
	WAITFACT_STOPPED, /* state T: whoever sends SIGCONT */
	WAITFACT_TRACED, /* state t; holder: the tracer */
	WAITFACT_FROZEN, /* its control group is frozen */
	WAITFACT_STORAGE, /* a file system or block device; text has the mount and its server */
	WAITFACT_FUSE, /* a file system served by a process; holders: its daemon */
	/* Of files that inotify watches; holders: other wanted processes with one open to write; never complete. */
	WAITFACT_CHANGE,
	WAITFACT_TERMINAL, /* input by a person, or output to be taken; holders: wanted ones that should take it */
	WAITFACT_DEVICE, /* a GPU or another device */
	/* A channel, lock or the like of a Go program; holders: goroutines that come to it; never complete. */
	WAITFACT_OBJECT,
};

/* Somebody who could end a wait. */
struct waitfact_holder {
	pid_t pid;
	pid_t tid; /* 0: any thread of it */
};

struct waitfact {
	enum waitfact_kind kind;
	bool to_write; /* waits for room: a full pipe or socket, a terminal that takes no output */
	bool hangup; /* a pipe that is polled for nothing: only that its other end is closed is told */
	bool complete; /* the holders are all that could end it */
	bool unheard; /* a socket that is watched for errors and its end alone: what comes is not read */
	bool unasked; /* a socket whose own time limits could not be asked; never complete */
	bool deaf; /* WAITFACT_CHILD of one: it ignores SIGTERM, so that a request to end has not reached it */
	bool of_programs, tells; /* WAITFACT_SIGNAL: all, or of a signalfd some, are such as programs send each other */
	bool inherited; /* WAITFACT_FILE_LOCK: who took it by flock(2) has ended; its holders have its descriptor */
	bool lock; /* WAITFACT_OBJECT: a mutex, which who has it gives back */
	bool accepted; /* WAITFACT_TCP: it came to a listening socket of this end's machine */
	bool apart; /* WAITFACT_FUTEX: other wanted processes map its memory, and cannot wake who waits (private) */
	bool owner; /* the only holder has to end it: it owns the lock, is the child, traces the thread */
	bool all; /* each holder has a lock of its own in the way: all of them have to let go */
	bool owner_gone; /* WAITFACT_LOCK: its owner is no thread any more; no holders. complete: since a fork */
	pid_t left; /* WAITFACT_SEMAPHORE: who changed it last, and has ended since; 0: none, or unknown */
	/*
	 * Identifies what is waited for, so that two threads can be seen to wait for one thing or for two ends of it:
	 * inode of the own end of sockets and of pipes, number of an eventfd, address of a futex, pid of a child.
	 */
	uint64_t id;
	/*
	 * Bytes in a socket of which the next ones are waited for (EPOLLET, EPOLLONESHOT), or in a System V queue, of
	 * other types than is asked for, where another process was the last to send.
	 */
	uint32_t unread;
	uint64_t received_bytes, sent_bytes; /* WAITFACT_TCP: all that has come, and arrived; 0: nothing, or unknown */
	uint16_t port; /* WAITFACT_LISTEN, TCP */
	uint64_t peer_id; /* inode of the other end of a TCP or unix connection on this machine; 0: none, or unknown */
	uint64_t door; /* the listening socket that has not accepted the other end yet, of these holders; 0: none */
	/* WAITFACT_MESSAGE of System V, to be received: the type that is asked for, as msgrcv(2) takes it. */
	int64_t message_type;
	uint32_t first_holder, n_holders; /* in waitfacts.holder */
	/* "tcp 10.0.0.3:4000 -> 10.0.0.7:29500", "pipe 4711", "/data/x.lock"; other users' names are made printable */
	char text[120];
};

struct waitfact_thread {
	pid_t pid, tid;
	bool runs; /* on a processor, or ready */
	bool ended; /* a zombie */
	bool readable; /* its system call could be read; else its only alternative is UNKNOWN */
	bool timed; /* the call has a time limit */
	uint64_t limit_ns; /* how long the call waits at most, from its beginning; 0: unknown */
	uint64_t left_ns; /* of that limit, for a call that names the end of its wait; 0: unknown, or over */
	uint64_t runs_so_far; /* how often it was given a processor (schedstat): another number means that it ran */
	uint64_t ran_ns; /* processor time until then (schedstat); 0: unknown */
	uint64_t start_ticks; /* since boot: a thread number may be used again */
	uint64_t user_ticks, system_ticks;
	char name[16]; /* as it calls itself: not printable in all cases */
	int64_t nr; /* system call; -1: none */
	uint64_t arg0; /* its first argument */
	uint64_t sp, pc; /* in the program, of a thread in a call; 0: unknown */
	uint64_t goroutine; /* the number of the goroutine that stands here (model/hang/gowaits); 0: it is a thread */
	enum wait_kind wait; /* as threadwait.h says */
	bool cut; /* it has more alternatives than were read; then never complete */
	uint32_t first, n; /* in waitfacts.fact; n 0 where it runs or has ended */
	/*
	 * Of a main thread that sleeps for a second or so: what it may be looking at again and again, in
	 * waitfacts.fact; of one of few that run, the memory alone. Memory that others may write (WAITFACT_SHARED;
	 * holders: the other wanted processes that map it so), and files that it has open and that another process has
	 * locked for writing (WAITFACT_FILE_LOCK; holders: who has the lock; who started this process is left out, as
	 * it may have handed the file on). None of them is an alternative of its wait, and none is complete.
	 */
	uint32_t first_polled, n_polled;
};

struct waitfact_process {
	pid_t pid, ppid;
	uint64_t start_ticks;
	uint64_t cpu_ticks; /* processor time so far, with that of children that were waited for */
	char state;
	bool readable; /* descriptors could be read */
	bool wanted; /* one of the processes that were asked for; its threads are listed */
	bool has_timers, alarm_unknown; /* timers, or an alarm, signal it; waitalarms could not ask about alarms */
	uint64_t handled; /* signals with a handler: bit n - 1 of signal n; 0: none, or unknown */
	bool has_exit; /* a zombie whose end could be read */
	int exit_status; /* as waitpid(2) has it */
	char name[16]; /* made printable */
	uint32_t first_thread, n_threads; /* in waitfacts.thread */
};

/* A goroutine that comes to a connection, for which another one of its process waits. */
struct waitfact_hand {
	uint64_t id; /* as in struct waitfact */
	pid_t pid, tid; /* tid 0: which one does is not known */
};

struct waitfacts {
	struct waitfact_process *process; /* by pid; the wanted ones, and those that hold something; owned */
	size_t n_processes, cap_processes;
	struct waitfact_thread *thread; /* of the wanted processes, by process, main first; owned */
	size_t n_threads, cap_threads;
	struct waitfact *fact; /* owned */
	size_t n_facts, cap_facts;
	struct waitfact_holder *holder; /* owned */
	size_t n_holders, cap_holders;
	struct waitfact_hand *hand; /* of Go programs alone; by id; owned */
	size_t n_hands, cap_hands;
	uint64_t taken_ns; /* world's monotonic clock, at the end */
	uint64_t took_ns;
	uint32_t unreadable; /* processes of the machine whose descriptors could not be read */
	bool out_of_time; /* the budget ended before all processes were searched: no descriptor's list is complete */
	bool cut; /* a limit was reached: processes, threads or descriptors are missing, and nothing is complete */
};

/*
 * Reads the facts of these processes, and of children of theirs that have begun after the youngest of them: who made
 * the list could not know those. Processes that end meanwhile are left out; what may not be read is marked.
 * budget_ns bounds the search for holders among processes that were not asked for (0: 100 ms). -ENOMEM; WORLD_ABSENT
 * without /proc.
 */
int must_check waitfacts_read(const struct world *w, const pid_t *pids, size_t n, uint64_t budget_ns,
			      struct waitfacts *ret);
void waitfacts_done(struct waitfacts *f);
const char *waitfact_kind_name(enum waitfact_kind k); /* "tcp", "file lock" */
const struct waitfact_process *waitfacts_process(const struct waitfacts *f, pid_t pid); /* NULL: not in there */
const struct waitfact_thread *waitfacts_thread(const struct waitfacts *f, pid_t pid, pid_t tid); /* NULL */
/* The id of a WAITFACT_SHARED: of the word at this address of a process that maps the row. */
uint64_t waitfacts_shared_id(const struct map_row *row, uint64_t addr);
