/*
 * One process looked into: its memory, its Python if it has one, and its
 * native frames when asked for. Opened once and used for many samples.
 *
 * Not being Python is no failure, nor is a Python whose layout is not known:
 * what there is is shown, and `note` says what is missing and why.
 */
#pragma once

#include "base/fault.h"
#include "model/stacks/frame.h"
#include "sense/native/stopper.h"
#include "sense/python/pystack.h"
#include "sense/wait/threadwait.h"

struct procview_want {
	struct natives *natives; /* for native frames; NULL: Python only */
	bool native_without_python; /* native frames only when there is no Python to show */
	struct instant *instant; /* to catch threads that run; borrowed, may be NULL: they are stopped */
	bool patient; /* a thread that gets no processor is waited for longer: there is one look only */
};

struct procview_totals {
	struct pystack_stats python;
	struct stopper_stats pauses;
};

struct procview {
	const struct world *w;
	pid_t pid;
	pid_t via; /* the thread through which its memory, maps and files are seen: the main one, unless that has ended */
	uint64_t start_ticks;
	struct remote remote;
	bool has_python;
	struct pyrt rt;
	struct pycodes *codes; /* NULL without Python */
	struct pystacks *stacks; /* NULL without Python */
	struct pythread *others; /* states of other interpreters whose thread is known, the innermost first; owned */
	size_t n_others;
	struct pyname *names; /* that Python has for its threads, as of names_ns; owned */
	size_t n_names;
	uint64_t names_ns; /* 0: not read yet */
	bool has_interps; /* more than the main one: who runs what is asked anew at each look */
	bool python_later; /* there may be one soon: it has not started, or the process has not exec'ed yet */
	uint64_t code; /* which files were mapped to be run when Python was looked for: procview_code_changed */
	struct native *native; /* NULL: not asked for, or denied */
	struct stopper *stopper; /* NULL: likewise */
	struct procview_want want;
	uint64_t mark, mark_addr; /* random bytes of the program that runs; see procview_changed */
	bool has_mark;
	uint64_t patience_us; /* how long a thread that runs is waited for */
	struct procview_totals before; /* of the programs that it was before */
	char note[400]; /* a sentence: what cannot be shown and why; "" */
};

/*
 * WORLD_GONE, WORLD_DENIED (the fault says which right is missing and what to
 * do). *ret is malloc'ed.
 */
int must_check procview_open(const struct world *w, pid_t pid, const struct procview_want *want, struct procview **ret,
			     struct fault *f);
struct procview *procview_close(struct procview *l);
/* What Python calls the thread, where the kernel does not know it; NULL: the kernel's name is as good. Borrowed until the next call. */
const char *procview_thread_name(struct procview *l, const struct pythread *t);
static inline void procview_closep(struct procview **l)
{
	*l = procview_close(*l);
}
/*
 * Nothing of a job or of process root (0: none) could be opened: WORLD_DENIED
 * when that process is there and can have no stack (a thread of the kernel, a
 * zombie), else WORLD_GONE; f says it.
 */
int procview_why_none(const struct world *w, pid_t root, struct fault *f);
/*
 * Is it another program by now (execve)? Then what is known of its memory would give wrong frames. One read: the kernel
 * gives each program random bytes of its own (AT_RANDOM in getauxval(3)).
 */
bool procview_changed(struct procview *l);
/*
 * The same without a read of its own: the next look at a Python thread takes those bytes along, and procview_found_changed
 * then tells. false: such a look could not.
 */
bool procview_ask_changed(struct procview *l);
struct procview_look;
bool procview_found_changed(struct procview *l, const struct procview_look *look);
/* Has code been loaded or unloaded since Python was looked for? Then there may be one by now. */
bool procview_code_changed(struct procview *l);
/* Has the thread ended through which it is seen? Others may live: it has to be opened anew then. */
bool procview_lost(const struct procview *l);
/* Looks for Python again, after an exec or a late start. Frames and texts borrowed so far are gone. */
void procview_again(struct procview *l);
/* What was counted since it was opened. */
void procview_count(const struct procview *l, struct procview_totals *ret);

/*
 * Its Python threads; borrowed until the next call. From then on a look at a thread includes what it runs in other
 * interpreters. As pystacks_threads.
 */
int must_check procview_python_threads(struct procview *l, const struct pythread **ret, size_t *ret_n);
/* The state to look at a thread by: the main interpreter's, else any; NULL: it has none. */
const struct pythread *procview_python_thread(const struct pythread *list, size_t n, pid_t tid);

#define PROCVIEW_INTERPS 8 /* that one thread is in at the same time; what is beyond is not shown */

/* What one thread was seen doing; frames borrowed until the next look through the same view. */
struct procview_look {
	struct pystack python; /* n 0: none */
	struct procview_part {
		size_t end; /* in python.frames */
		uint64_t interp_id;
	} part[PROCVIEW_INTERPS + 1]; /* whose frames they are, innermost first */
	size_t n_parts;
	bool has_python; /* the thread was read as a Python thread */
	int python_result; /* 0, PYSTACK_*, … */
	struct unwind_trace *native; /* NULL: not taken */
	int native_result; /* 0, STOPPER_*, WORLD_*, 0 */
};
/* Native frames end where no way further out was found, before the thread's first function. */
bool procview_is_incomplete(const struct procview_look *look);
enum procview_still {
	PROCVIEW_RUNS, /* or nothing is known */
	PROCVIEW_WAITS, /* in a system call, for now */
	PROCVIEW_TOUCHY, /* in one that would fail if it were stopped: it is not */
	PROCVIEW_STOPPED, /* stands still already: SIGSTOP */
	PROCVIEW_FROZEN, /* stands still and cannot be made to do anything: a frozen control group */
};
enum procview_still procview_still_of(enum wait_kind kind, int64_t syscall);
/* A thread that waits in this system call, with this first argument: is it the GIL that it waits for? */
bool procview_waits_for_gil(const struct procview *l, int64_t syscall, uint64_t argument);
/*
 * thread: its Python state, NULL if it has none. The result is 0 or
 * WORLD_GONE; the parts have their own.
 */
int must_check procview_look(struct procview *l, pid_t tid, const struct pythread *thread, enum procview_still still,
			     struct procview_look *ret);

/* One frame of the two put together. */
struct procview_frame {
	bool python;
	const struct pyframe *py; /* if python */
	uint64_t interp_id; /* if python; 0: the main interpreter */
	bool last_of_interp; /* the outermost frame of that interpreter's part */
	const struct unwind_frame *native; /* else */
};
/* *ret_approximate: the two did not quite fit. Borrowed like the look. */
int must_check procview_merge(struct procview *l, const struct procview_look *look, const struct procview_frame **ret,
			      size_t *ret_n, bool *ret_approximate);
/* Texts of a frame, borrowed for the view' life. lines: also source lines of native frames (slow). */
void procview_frame_text(struct procview *l, const struct procview_frame *f, bool lines, struct frame *ret);
