/*
 * What is known of a thread's wait beside the kernel's facts: the holder of a lock that stores none, a wait that nobody
 * can end, the ranks that a collective waits for, who usually ended such waits. Made by whoever can read it
 * (agent/inspect/pywaits of Python's locks, pyasync of the tasks of an event loop, model/hang/wakehint of earlier
 * wakes, model/hang/waitmissing of collectives), used by model/hang/waitgraph. Plain data.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum waithint_kind {
	WAITHINT_OWNER, /* owner_tid of owner_pid holds what it waits for */
	WAITHINT_NOBODY, /* nothing else refers to what it waits for: nobody can wake it */
	WAITHINT_RANK, /* rank has to come: one hint for each rank that is needed */
	WAITHINT_FACT, /* of the facts of the thread the one with this id is meant: one hint for each */
	WAITHINT_TEXT, /* no more than what it waits for, in words */
	WAITHINT_USUAL, /* owner_tid of owner_pid usually ended such a wait; owner_tid 0: it has ended */
	/* The key of a store that it waits for, in words; who sets it is told by by_rank alone, one hint for each */
	WAITHINT_KEY,
	WAITHINT_PLACE, /* no more than where it stands: "train.py:40 in step"; may be beside another hint */
	/*
	 * The answer to a call of another process, over a connection of its own process that another thread of it
	 * reads. It wakes up now and then, and goes on waiting.
	 */
	WAITHINT_CALL,
	/* It waits for requests or work, so it ends the wait of nobody: a server's main thread, a pool's worker. */
	WAITHINT_IDLE,
	/* Something that its own process has to bring, for a request of another; none of its connections brings it. */
	WAITHINT_WITHIN,
	WAITHINT_RETRY, /* no more than what did not work, in words: it sleeps, and will try again */
	WAITHINT_HANDLER, /* it works on the call of another process, whatever it waits for; beside another hint */
	/*
	 * owner_pid has a task of a pool of its process: one hint for each such worker, of a main thread that does not
	 * wait for a result. Whether it looks for one now and then is not known.
	 */
	WAITHINT_TASK,
	WAITHINT_HAND, /* it has the connection `id` in hand, of a process with several threads; beside another hint */
	/*
	 * owner_tid of owner_pid makes a result that it waits for; owner_pid 0: who does is not known, or nobody yet.
	 * It wakes up now and then, and goes on waiting.
	 */
	WAITHINT_RESULT,
	/*
	 * It stands where all other ranks do, and has called that with another text than all of them (owner_text);
	 * beside another hint
	 */
	WAITHINT_ODD,
	/*
	 * Of a call that is a stream of messages: a handler waits for the next one, any other thread brings them;
	 * beside another hint
	 */
	WAITHINT_STREAM,
	/* It makes no system call but its sleeps, so it looks at memory alone, if at anything; beside another hint */
	WAITHINT_SLEEPS,
	/* No more than the call in which it meets other ranks, in words; which of them have not come is not known. */
	WAITHINT_MEETS,
	WAITHINT_CLOSED, /* of any one thread of the job: none of it took in anything of others for some seconds */
};

struct waithint {
	enum waithint_kind kind;
	pid_t pid, tid; /* the thread that waits */
	pid_t owner_pid, owner_tid; /* of RETRY: the process whether which is there it asks again and again; 0: none */
	int32_t rank;
	uint64_t id; /* as in struct waitfact */
	bool proof; /* read from the object itself, twice the same; false: likely */
	bool one_of; /* any of several such hints may be the one, so each is only possible */
	bool by_rank; /* of KEY: `rank` sets it, or has to come before another one does */
	bool counted; /* of RANK: the collective library's own counters say so, so that it waits even while it runs */
	bool by_number; /* of ODD: the two texts differ in their numbers alone */
	bool root; /* of ODD: it is whose data a collective is about; by_number: this rank alone has it otherwise */
	bool by_last; /* of KEY: the last of all ranks to come sets it */
	bool exists; /* of RETRY: it wants to make a file or folder that is there already */
	bool caught; /* of RETRY: it sleeps while it handles an error of its own */
	bool held; /* of RETRY: a process that is none of the job's has the lock that it tries */
	/* How long ago one that exists was last changed, or the folder of one that is missing was made; 0: unknown. */
	uint64_t old_ns;
	bool missing; /* of RETRY: it looks for a file or folder that is not there */
	/* Of RETRY: likewise, and others that differ by a number alone are there: asked for too, or the rank's own. */
	bool others_there;
	/*
	 * Of RETRY that looks for a file: other processes of the job have made such files, which differ in their
	 * numbers at most, and nobody else has, on a disk that this machine alone writes; owner_text says who. And:
	 * nobody but the job has made anything in that folder, or somebody has.
	 */
	bool own_kind, own_folder, others_folder;
	/*
	 * Of RETRY that asks for a file which is there: a process of the job has made it and has ended badly, and
	 * nobody but who makes such a file has removed one so far; owner_text says who.
	 */
	bool orphan;
	bool behind; /* of RETRY: it reads a file on from behind its end, as that was made shorter */
	/* Of RETRY that looks for a missing file: how long ago the link was made that points to it; 0: it is none */
	uint64_t link_old_ns;
	uint64_t limit_ns; /* of CALL: for how long it waits at most, from its beginning; 0: without end, or unknown */
	uint64_t left_ns; /* of CALL: for how long it still waits at most; 0: likewise */
	bool lost; /* of NOBODY: a result that was asked for and is lost, so that no server idles in this wait */
	bool shows; /* of IDLE: it shows now and then how far others are, as a bar of progress does, and nothing else */
	bool asks; /* of CLOSED: but for what its processes have told each other over connections meanwhile */
	bool lock; /* it waits for a lock of its own process, which whoever has it gives back */
	/* It waits at a barrier for so many, as which of them it came, from 1 on; parties 0: at none, or unknown. */
	uint32_t parties, place;
	char text[160]; /* "queue.Queue.get at data.py:25"; "": none */
	char owner_text[120]; /* where the owner took it: "with lock at train.py:31 in save"; "": unknown */
};
