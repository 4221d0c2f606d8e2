/*
 * A view of one process: its memory, its Python if it has one, and its native frames where they are asked for. Opened
 * once and used for many samples.
 *
 * A process without Python, or with a Python of unknown layout, is no error: the rest is shown, and `note` says what is
 * missing and why.
 */
#pragma once

#include "base/fault.h"
#include "model/stacks/frame.h"
#include "sense/native/stopper.h"
#include "sense/python/pystack.h"
#include "sense/wait/threadwait.h"

struct procview_want {
	struct natives *natives; /* for native frames; NULL: Python only */
	bool native_without_python; /* native frames only where there is no Python to show */
	/* interrupts threads that run, to copy their state; borrowed; NULL: threads are stopped instead */
	struct instant *instant;
	/* So long is waited for a thread that gets no processor, where few samples are taken; 0: little, as many are */
	uint64_t patience_us;
};

struct procview_totals {
	struct pystack_stats python;
	struct stopper_stats pauses;
};

struct procview {
	const struct world *w;
	pid_t pid;
	pid_t via; /* thread through which memory, maps and files are read: the main one, unless it has ended */
	uint64_t start_ticks;
	struct remote remote;
	bool has_python;
	struct pyrt rt;
	struct pycodes *codes; /* NULL without Python */
	struct pystacks *stacks; /* NULL without Python */
	struct pythread *others; /* states in other interpreters whose thread is known, innermost first; owned */
	size_t n_others;
	struct pyname *names; /* Python's names of its threads, read at names_ns; owned */
	size_t n_names;
	uint64_t names_ns; /* 0: not read yet */
	bool has_interps; /* more than the main interpreter: the list of states is read again with each sample */
	bool python_later; /* there may be one soon: it has not started yet, or the process has not called exec yet */
	uint64_t code; /* hash of the mapped code when Python was searched; see procview_code_changed */
	struct native *native; /* NULL: not asked for, or denied */
	struct stopper *stopper; /* NULL: as above */
	struct procview_want want;
	/* random bytes of the program that runs, and their address; see procview_changed */
	uint64_t program_id, program_id_addr;
	bool has_program_id;
	uint64_t patience_us; /* most time to wait for a thread that runs */
	struct procview_totals before; /* totals of the programs that the process ran before */
	char note[400]; /* a sentence: what cannot be shown and why; "": nothing is missing */
};

/*
 * WORLD_GONE, WORLD_DENIED (the fault names the missing right and the remedy), -errno. *ret is malloc'ed; free it with
 * procview_close.
 */
int must_check procview_open(const struct world *w, pid_t pid, const struct procview_want *want, struct procview **ret,
			     struct fault *f);
struct procview *procview_close(struct procview *l);
/*
 * Python's name of a thread, where the kernel does not have it; NULL: use the kernel's name. Borrowed until the next
 * call.
 */
const char *procview_thread_name(struct procview *l, const struct pythread *t);
static inline void procview_closep(struct procview **l)
{
	*l = procview_close(*l);
}
/*
 * Explains why no process of a job, or of process root (0: none), could be opened: WORLD_DENIED where that process
 * exists but has no stack (a kernel thread, a zombie), else WORLD_GONE. The fault has the sentence.
 */
int procview_why_none(const struct world *w, pid_t root, struct fault *f);
/*
 * True: the process runs another program by now (execve), and what is known of its memory would give wrong frames.
 * Costs one read: the kernel gives each program random bytes of its own (AT_RANDOM in getauxval(3)).
 */
bool procview_changed(struct procview *l);
/*
 * Makes the next sample of a Python thread read those bytes as well, which saves the read; procview_found_changed then
 * reports the result. False: no such sample is possible.
 */
bool procview_ask_changed(struct procview *l);
struct procview_sample;
bool procview_found_changed(struct procview *l, const struct procview_sample *sample);
/* True: code was loaded or unloaded since Python was searched, so there may be a Python by now. */
bool procview_code_changed(struct procview *l);
/* True: the thread through which the process is read has ended. Others may live; open the process again. */
bool procview_lost(const struct procview *l);
/* Searches Python again, after an exec or a late start. Frames and texts borrowed so far become invalid. */
void procview_again(struct procview *l);
/* Totals since the view was opened. */
void procview_count(const struct procview *l, struct procview_totals *ret);

/*
 * The Python threads; borrowed until the next call. After it, samples of a thread include what it runs in other
 * interpreters. Errors as pystacks_threads.
 */
int must_check procview_python_threads(struct procview *l, const struct pythread **ret, size_t *ret_n);
/* The state to sample a thread by: the main interpreter's, else any; NULL: it has none. */
const struct pythread *procview_python_thread(const struct pythread *list, size_t n, pid_t tid);

#define PROCVIEW_INTERPS 8 /* most interpreters that are shown of one thread */

/* One sample of a thread; frames are borrowed until the next sample through any view. */
struct procview_sample {
	struct pystack python; /* n is 0: none */
	struct procview_part {
		size_t end; /* index in python.frames after the last frame of the part */
		uint64_t interp_id;
	} part[PROCVIEW_INTERPS + 1]; /* interpreters whose frames they are, innermost first */
	size_t n_parts;
	bool has_python; /* the thread was read as a Python thread */
	int python_result; /* 0, PYSTACK_*, REMOTE_*, WORLD_* or -errno */
	struct unwind_trace *native; /* NULL: not taken */
	uint64_t native_state; /* unwind_state() of a thread that was stopped in its run; 0: not known */
	int native_result; /* 0, STOPPER_* or WORLD_* */
};
/* True: unwinding found no caller although the frame is not the thread's first function. */
bool procview_is_incomplete(const struct procview_sample *sample);
enum procview_still {
	PROCVIEW_RUNS, /* or its state is unknown */
	PROCVIEW_WAITS, /* in a system call, for now */
	PROCVIEW_TOUCHY, /* in a system call that would fail if the thread were stopped, so it is not */
	PROCVIEW_STOPPED, /* stopped already, by SIGSTOP */
	PROCVIEW_FROZEN, /* in a frozen control group: stands still and cannot be made to do anything */
};
enum procview_still procview_still_of(enum wait_kind kind, int64_t syscall);
/* True: a thread that waits in this system call with this first argument waits for the GIL. */
bool procview_waits_for_gil(const struct procview *l, int64_t syscall, uint64_t argument);
/*
 * Takes a sample of a thread. thread: its Python state, NULL if it has none. 0 or WORLD_GONE; python_result and
 * native_result have the results of the two parts.
 */
int must_check procview_sample(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
			       struct procview_sample *ret);

/* One frame of the merged stack. */
struct procview_frame {
	bool python;
	const struct pyframe *py; /* if python */
	uint64_t interp_id; /* if python; 0: the main interpreter */
	bool last_of_interp; /* outermost frame of its interpreter's part */
	const struct unwind_frame *native; /* if not python */
};
/*
 * Merges Python and native frames. *ret_approximate: the two do not fit exactly. *ret is borrowed until the next merge
 * through any view.
 */
int must_check procview_merge(struct procview *l, const struct procview_sample *sample,
			      const struct procview_frame **ret, size_t *ret_n, bool *ret_approximate);
/* Texts of a frame, borrowed for the life of the view. lines: find source lines of native frames too (slow). */
void procview_frame_text(struct procview *l, const struct procview_frame *f, bool lines, struct frame *ret);
