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

struct lens_want {
	struct natives *natives; /* for native frames; NULL: Python only */
	bool native_without_python; /* native frames only when there is no Python to show */
	struct instant *instant; /* to catch threads that run; borrowed, may be NULL: they are stopped */
	bool patient; /* a thread that gets no processor is waited for longer: there is one look only */
};

struct lens_totals {
	struct pystack_stats python;
	struct stopper_stats pauses;
};

struct lens {
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
	uint64_t code; /* which files were mapped to be run when Python was looked for: lens_code_changed */
	struct native *native; /* NULL: not asked for, or denied */
	struct stopper *stopper; /* NULL: likewise */
	struct lens_want want;
	uint64_t mark, mark_addr; /* random bytes of the program that runs; see lens_changed */
	bool has_mark;
	uint64_t patience_us; /* how long a thread that runs is waited for */
	struct lens_totals before; /* of the programs that it was before */
	char note[400]; /* a sentence: what cannot be shown and why; "" */
};

/*
 * WORLD_GONE, WORLD_DENIED (the fault says which right is missing and what to
 * do). *ret is malloc'ed.
 */
int must_check lens_open(const struct world *w, pid_t pid, const struct lens_want *want, struct lens **ret,
			 struct fault *f);
struct lens *lens_close(struct lens *l);
/* What Python calls the thread, where the kernel does not know it; NULL: the kernel's name is as good. Borrowed until the next call. */
const char *lens_thread_name(struct lens *l, const struct pythread *t);
static inline void lens_closep(struct lens **l)
{
	*l = lens_close(*l);
}
/*
 * Nothing of a job or of process root (0: none) could be opened: WORLD_DENIED
 * when that process is there and can have no stack (a thread of the kernel, a
 * zombie), else WORLD_GONE; f says it.
 */
int lens_why_none(const struct world *w, pid_t root, struct fault *f);
/*
 * Is it another program by now (execve)? Then what is known of its memory would give wrong frames. One read: the kernel
 * gives each program random bytes of its own (AT_RANDOM in getauxval(3)).
 */
bool lens_changed(struct lens *l);
/*
 * The same without a read of its own: the next look at a Python thread takes those bytes along, and lens_found_changed
 * then tells. false: such a look could not.
 */
bool lens_ask_changed(struct lens *l);
struct lens_look;
bool lens_found_changed(struct lens *l, const struct lens_look *look);
/* Has code been loaded or unloaded since Python was looked for? Then there may be one by now. */
bool lens_code_changed(struct lens *l);
/* Has the thread ended through which it is seen? Others may live: it has to be opened anew then. */
bool lens_lost(const struct lens *l);
/* Looks for Python again, after an exec or a late start. Frames and texts borrowed so far are gone. */
void lens_again(struct lens *l);
/* What was counted since it was opened. */
void lens_count(const struct lens *l, struct lens_totals *ret);

/*
 * Its Python threads; borrowed until the next call. From then on a look at a thread includes what it runs in other
 * interpreters. As pystacks_threads.
 */
int must_check lens_python_threads(struct lens *l, const struct pythread **ret, size_t *ret_n);
/* The state to look at a thread by: the main interpreter's, else any; NULL: it has none. */
const struct pythread *lens_python_thread(const struct pythread *list, size_t n, pid_t tid);

#define LENS_INTERPS 8 /* that one thread is in at the same time; what is beyond is not shown */

/* What one thread was seen doing; frames borrowed until the next look through the same lens. */
struct lens_look {
	struct pystack python; /* n 0: none */
	struct lens_part {
		size_t end; /* in python.frames */
		uint64_t interp_id;
	} part[LENS_INTERPS + 1]; /* whose frames they are, innermost first */
	size_t n_parts;
	bool has_python; /* the thread was read as a Python thread */
	int python_result; /* 0, PYSTACK_*, … */
	struct unwind_trace *native; /* NULL: not taken */
	int native_result; /* 0, STOPPER_*, WORLD_*, 0 */
};
/* Native frames end where no way further out was found, before the thread's first function. */
bool lens_is_incomplete(const struct lens_look *look);
enum lens_still {
	LENS_RUNS,    /* or nothing is known */
	LENS_WAITS,   /* in a system call, for now */
	LENS_TOUCHY,  /* in one that would fail if it were stopped: it is not */
	LENS_STOPPED, /* stands still already: SIGSTOP */
	LENS_FROZEN, /* stands still and cannot be made to do anything: a frozen control group */
};
enum lens_still lens_still_of(enum wait_kind kind, int64_t syscall);
/* A thread that waits in this system call, with this first argument: is it the GIL that it waits for? */
bool lens_waits_for_gil(const struct lens *l, int64_t syscall, uint64_t argument);
/*
 * thread: its Python state, NULL if it has none. The result is 0 or
 * WORLD_GONE; the parts have their own.
 */
int must_check lens_look(struct lens *l, pid_t tid, const struct pythread *thread, enum lens_still still,
			 struct lens_look *ret);

/* One frame of the two put together. */
struct lens_frame {
	bool python;
	const struct pyframe *py; /* if python */
	uint64_t interp_id; /* if python; 0: the main interpreter */
	bool last_of_interp; /* the outermost frame of that interpreter's part */
	const struct unwind_frame *native; /* else */
};
/* *ret_approximate: the two did not quite fit. Borrowed like the look. */
int must_check lens_merge(struct lens *l, const struct lens_look *look, const struct lens_frame **ret, size_t *ret_n,
			  bool *ret_approximate);
/* Texts of a frame, borrowed for the lens' life. lines: also source lines of native frames (slow). */
void lens_frame_text(struct lens *l, const struct lens_frame *f, bool lines, struct frame *ret);
