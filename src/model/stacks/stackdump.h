/*
 * All threads of some processes at one instant: what `vigil stack` prints,
 * what a kill report carries, what ranks are compared by.
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
};

enum dump_gil { DUMP_GIL_UNKNOWN, DUMP_GIL_HOLDS, DUMP_GIL_WAITS, DUMP_GIL_NOT };

struct dump_thread {
	pid_t tid; /* 0: it is not known which thread it is */
	char name[64];
	bool main;
	struct threadwait wait;
	char wait_kind[16]; /* wait.kind in a word: "lock" */
	char syscall[32]; /* wait.nr by its name; "" */
	enum dump_gil gil;
	bool has_python; /* it runs Python code */
	bool approximate; /* Python and native frames put together by best guess */
	bool cut; /* deeper than what is kept */
	bool incomplete; /* native frames further out were not found */
	char note[160]; /* why there are no frames, or only some; "" */
	struct dump_frame *frames; /* innermost first; owned */
	size_t n_frames;
};

struct dump_process {
	pid_t pid, ppid;
	int32_t rank; /* NO_RANK */
	char role[16];
	char name[64];
	char command[200];
	char state; /* of /proc/PID/stat */
	char python[64]; /* "3.11.2"; "" none found */
	char note[400]; /* why less is shown than could be; "" */
	struct dump_thread *threads; /* main first, then by tid; owned */
	size_t n_threads;
};

struct stackdump {
	int64_t captured_unix_ms;
	uint64_t took_ns, first_ns; /* all of it; until the first stack was there */
	bool wrong_possible; /* a running thread was read without stopping it and without a bracket */
	bool cut; /* a budget ended it: threads or processes are missing */
	struct dump_process *processes; /* owned */
	size_t n;
};

void stackdump_done(struct stackdump *d);
void dump_frame_done(struct dump_frame *f);
