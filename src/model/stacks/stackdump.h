/*
 * The stacks of all threads of some processes at one instant. `vigil stack` prints it, a kill report contains it, and
 * ranks are compared by it. A dump owns its processes, threads, frames and locals; free it with stackdump_done.
 */
#pragma once

#include <sys/types.h>

#include "model/stacks/frame.h"
#include "sense/wait/threadwait.h"

struct dump_local {
	char *name, *value; /* owned */
	bool is_arg;
};

struct dump_frame {
	enum frame_kind kind;
	char *name, *file, *module; /* owned; file and module may be NULL */
	int32_t line;
	uint64_t interp_id; /* Python: 0 is the main interpreter */
	struct dump_local *locals; /* owned */
	size_t n_locals;
	/* Hash of what it computes with: a Python frame's variables, the registers of a running thread; 0: not read. */
	uint64_t state;
	bool clocked; /* of a Python frame whose variables were read: one of them is a time near now */
};

enum dump_gil { DUMP_GIL_UNKNOWN, DUMP_GIL_HOLDS, DUMP_GIL_WAITS, DUMP_GIL_NOT };

struct dump_thread {
	pid_t tid; /* 0: unknown */
	char name[64];
	bool main;
	struct threadwait wait;
	char wait_kind[16]; /* name of wait.kind: "lock" */
	char syscall[32]; /* name of wait.nr; "": unknown */
	enum dump_gil gil;
	bool has_python; /* it runs Python code */
	bool approximate; /* Python and native frames were combined by best guess */
	bool cut; /* the stack is deeper than the limit; the outermost frames are missing */
	bool incomplete; /* native frames further out were not found */
	bool roams; /* it was in a call of other ranks, and met elsewhere right after: it makes many of them */
	char note[160]; /* why frames are missing; "": none are */
	struct dump_frame *frames; /* innermost first; owned */
	size_t n_frames;
};

/* A task of an event loop in Python (asyncio). */
struct dump_task {
	char *name; /* owned */
	pid_t tid; /* the thread that runs its loop; 0: unknown */
	bool ready; /* it runs, or will as soon as its loop comes to it */
	bool moved; /* it changed while it was read; it has no frames */
	bool timed; /* what it awaits has a time limit */
	char awaits[200]; /* "Queue.get", "task 'b'"; "": nothing */
	int fd; /* descriptor that it waits for; -1: none, or unknown */
	uint32_t *by; /* tasks that await it, by their position; owned */
	size_t n_by;
	struct dump_frame *frames; /* innermost first; owned */
	size_t n_frames;
};

/* Goroutines of a program made by Go that stand in the same place. */
struct dump_goroutines {
	char state[16]; /* "waits", "runs" */
	char wait[40]; /* "chan receive"; "": it does not wait */
	uint64_t *ids; /* the first DUMP_GOROUTINE_IDS of them, as listed; owned */
	size_t n_ids, cap_ids;
	uint64_t n;
	bool runtime; /* the runtime's own: collector, finalizers */
	bool cut; /* there are more frames, further out */
	struct dump_frame *frames; /* innermost first; owned */
	size_t n_frames;
};

#define DUMP_GOROUTINE_IDS 100

struct dump_process {
	pid_t pid, ppid;
	bool has_who; /* the next two, as of before its stacks were read */
	uint64_t start_ticks;
	uid_t uid; /* the user whose files it may read (sense/proc/procfile) */
	int32_t rank; /* NO_RANK */
	char role[16];
	char name[64];
	char command[200];
	char actor[64]; /* the name that a program gave this actor of Ray; "": none, or not asked for */
	char state; /* state letter of /proc/PID/stat */
	char python[64]; /* "3.11.2"; "": no interpreter found */
	bool denied; /* it may not be looked into; note has the reason */
	bool stands; /* it keeps its memory lock, so nothing of it could be read */
	char note[400]; /* why something could not be shown; "": all is */
	struct dump_thread *threads; /* main first, then by tid; owned */
	size_t n_threads;
	struct dump_task *tasks; /* owned */
	size_t n_tasks;
	bool tasks_cut; /* there are more */
	char go[32]; /* "go1.26.8"; "": its program was not made by Go */
	struct dump_goroutines *goroutines; /* owned */
	size_t n_goroutines; /* groups */
	uint64_t n_unread; /* goroutines beyond those that are read */
};

struct stackdump {
	int64_t captured_unix_ms;
	uint64_t took_ns, first_ns; /* duration of the whole dump, and until its first stack */
	bool wrong_possible; /* a running thread was read without stopping it and without a check for changes */
	bool cut; /* a limit of time or size was reached: threads or processes are missing */
	struct dump_process *processes; /* owned */
	size_t n;
};

void stackdump_done(struct stackdump *d);
void dump_frame_done(struct dump_frame *f);
