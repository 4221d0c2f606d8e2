/*
 * The Python stacks of a process, read while it runs: it is never stopped, and nothing is written into it. One sample
 * of a thread costs one system call, two to four when its stack has just grown into new memory. A thread that has not
 * run since its stack was proved is not read at all: its schedstat shows that (pystack_still.c).
 *
 * A stack read from a running thread may be torn, so its innermost part is copied twice, in one call, around the
 * pointer to the newest frame; of a thread that has just moved, everything is. Data that is the same in both copies was
 * there at the instant in between. Where they differ, the frame below the difference was running in between, and the
 * stack up to there is that of another instant of the same call: after two more tries it is shown as such, and counted
 * in `shortened`. How a snapshot is taken: python/pystack_parts.h.
 *
 * Besides, each frame's code must be a code object, each instruction must lie in it, each frame must lie where its
 * owner has frames, no frame may come twice, and the chain must end where only a thread's outermost frame can. Frames
 * of the interpreter itself are proved like the others and left out. A frame that came while it was read is shown if it
 * has begun to run and stayed. A stack without proof is tried again, for 1.5 ms and at least 16 times, then dropped and
 * counted, not shown.
 *
 * tests/e2e/test_oracle.py enforces at most 0.01 % wrong and 0.5 % dropped stacks in programs that only call and
 * return; none of 1.5 million was wrong. In such programs a third to three quarters of the stacks are shortened, and
 * about 1 % show a frame other than the innermost on the line after its call: the call returned and was made again
 * between two reads (measured up to 3.13).
 *
 * Frames come innermost first.
 */
#pragma once

#include "sense/python/pycode.h"

enum {
	PYSTACK_TORN = 30, /* no consistent snapshot in many tries; counted as dropped */
	PYSTACK_STALE = 31, /* the thread has ended, or the list of threads has changed: list them again */
	PYSTACK_AWAY = 33, /* pystacks_read_by only: its source could not catch the thread */
	PYSTACK_OTHER = 32, /* after pystacks_ask_program_id only: the process runs another program now */
};

#define PYSTACK_FRAMES 4096 /* deeper stacks keep the innermost frames and are marked as cut */

enum {
	PYFRAME_ENTRY = 1, /* a C evaluation loop begins here: frames below are called from C */
	PYFRAME_GENERATOR = 2, /* the frame belongs to a generator or coroutine */
};

struct pyframe {
	uint64_t addr; /* of the frame itself: used to read locals */
	uint64_t code; /* address of the code object */
	uint64_t instr; /* see pycode_line */
	const struct pycode *known; /* resolved; never NULL in a proved stack */
	uint32_t flags; /* PYFRAME_* */
};

/* True: the function has this name, whatever class it is of, and its file's name contains that. */
bool pyframe_is(const struct pyframe *f, const char *name, const char *file);

struct pythread {
	uint64_t tstate;
	uint64_t interp_id; /* 0: the main interpreter */
	uint64_t interp; /* address of its state */
	uint64_t thread_id; /* threading.get_ident() */
	/* in our /proc, also when the process has a pid namespace of its own; 0: not found, or not certain */
	pid_t tid;
	uint64_t c_stack; /* an address on the C stack where it runs: the lower, the further in; 0: unknown */
};

enum pygil { PYGIL_UNKNOWN, PYGIL_HOLDS, PYGIL_WAITS, PYGIL_NOT, PYGIL_FREE_THREADED_RUNS };

struct pystack {
	struct pyframe *frames; /* borrowed until the next read of the same reader */
	size_t n;
	bool cut; /* deeper than PYSTACK_FRAMES */
	bool bracketed; /* proved to be of one instant (or the thread was stopped) */
	bool collecting; /* the interpreter's garbage collector was running */
	enum pygil gil;
};

struct pystack_stats {
	uint64_t samples, dropped, unproved, retries, walks; /* walks: slow walks, frame by frame */
	uint64_t still; /* of the samples: not read, because the thread had not run since the one before */
	/* shown up to a frame that was innermost at one instant of the read; frames further in had no proof */
	uint64_t shortened;
};

struct pystacks; /* reader of one process */

/* Borrows its arguments. */
struct pystacks *pystacks_new(const struct world *w, const struct pyrt *rt, struct remote *r, struct pycodes *codes);
struct pystacks *pystacks_free(struct pystacks *s);
static inline void pystacks_freep(struct pystacks **s)
{
	*s = pystacks_free(*s);
}
/*
 * Lists all Python thread states of all interpreters; a thread that runs code of several interpreters has several.
 * Borrowed until the next call. PYRT_NOT_YET, REMOTE_FAULT, WORLD_GONE. Bounded: a list with a cycle or more than
 * 100,000 threads ends with REMOTE_FAULT.
 */
int must_check pystacks_threads(struct pystacks *s, const struct pythread **ret, size_t *ret_n);
/*
 * True if this is the address of a word of the interpreter lock. A thread that waits for the lock sleeps on one
 * (futex); before 3.15 there is no other evidence, later the thread state has it. Always false for free-threaded
 * builds.
 */
bool pystacks_is_gil(const struct pystacks *s, uint64_t address);
/* The number of interpreters in the last list. */
size_t pystacks_interpreters(const struct pystacks *s);
/*
 * Reads one thread now. stopped: the caller has stopped it (ptrace, frozen group, SIGSTOP), so one snapshot is enough.
 * n 0: it runs no Python code.
 */
int must_check pystacks_read(struct pystacks *s, const struct pythread *t, bool stopped, struct pystack *ret);
/*
 * Sets the program id: a word of the process that differs in another program. Call it before the first read, if at all.
 * After pystacks_ask_program_id the next snapshot includes the word, in the same system call: it matches, or the read
 * ends with PYSTACK_OTHER. The request stays open while no snapshot succeeds or none is needed (a thread that has not
 * run).
 */
void pystacks_program_id(struct pystacks *s, uint64_t addr, uint64_t value);
void pystacks_ask_program_id(struct pystacks *s);
bool pystacks_program_id_is_open(const struct pystacks *s);
/* From now on each stack is read, also that of a thread that has not run since: for measurements and tests. */
void pystacks_read_anew(struct pystacks *s);
/*
 * As pystacks_read, with snapshots taken by another source, each of one instant, as of a thread that is interrupted.
 * PYSTACK_TORN: not in three tries; it is not counted, because the caller has other ways.
 */
struct pystack_source {
	/*
	 * Copies all ranges behind one another into `into`. *ret_bytes: as remote_readv counts. 0, PYSTACK_AWAY,
	 * WORLD_GONE.
	 */
	int (*copy)(void *ctx, const struct iovec *from, size_t n_from, void *into, size_t *ret_bytes);
	void *ctx;
};
int must_check pystacks_read_by(struct pystacks *s, const struct pythread *t, const struct pystack_source *by,
				struct pystack *ret);
struct pystack_stats pystacks_stats(const struct pystacks *s);
