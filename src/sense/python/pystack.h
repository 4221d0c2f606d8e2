/*
 * The Python stacks of a process, read while it runs: never stopped, nothing
 * written into it. One sample of a thread costs one system call, two to four
 * when its stack has just moved to where it was not before. A thread that the
 * kernel has not given a processor since its stack was proved is not read at
 * all: its schedstat says so (pystack_still.c).
 *
 * A stack read from a running thread may be torn, so its innermost part is
 * copied twice, in one call, around the pointer to the newest frame; of a
 * thread that has just moved, everything is. What is the same in both copies was
 * there at the instant in between. Where they differ, the frame below the
 * difference was running in between, and the stack up to there is that of
 * another instant of the same call: after two more tries it is shown as that,
 * and counted in `shortened`. How a picture is taken: python/pystack_parts.h.
 *
 * Besides, each frame's code must be a code object, each instruction lie in
 * it, each frame lie where its owner has frames, none come twice, and the chain
 * end where only a thread's outermost frame can. Frames of the interpreter
 * itself are proved like the others and left out. A frame that came while it
 * was read is shown if it has begun to run and stayed. What cannot be proved is
 * tried again, for 1.5 ms and at least 16 times, then dropped and counted,
 * not shown.
 *
 * tests/e2e/test_oracle.py holds this to 0.01 % wrong and 0.5 % dropped, in
 * programs that do nothing but call and return; none of 1.5 million was wrong.
 * In such programs a third to three quarters of the stacks are shortened, and
 * about 1 % show a frame other than the innermost on the line after its call:
 * the call returned and was made again between two looks (measured up to 3.13).
 *
 * Frames come innermost first.
 */
#pragma once

#include "sense/python/pycode.h"

enum {
	PYSTACK_TORN = 30, /* no consistent picture in many tries; counted as dropped */
	PYSTACK_STALE = 31, /* the thread has ended, or the list of threads has changed: list them again */
	PYSTACK_AWAY = 33, /* pystacks_read_by only: its camera met nobody */
	PYSTACK_OTHER = 32, /* pystacks_ask_program_id only: it is another program by now */
};

#define PYSTACK_FRAMES 4096 /* deeper stacks keep the innermost ones and are marked as cut */

enum {
	PYFRAME_ENTRY = 1, /* a C evaluation loop begins here: frames below are called from C */
	PYFRAME_GENERATOR = 2, /* lives in a generator or coroutine */
};

struct pyframe {
	uint64_t addr; /* of the frame itself: for locals */
	uint64_t code; /* address of the code object */
	uint64_t instr; /* see pycode_line */
	const struct pycode *known; /* resolved; never NULL in a proved stack */
	uint32_t flags; /* PYFRAME_* */
};

struct pythread {
	uint64_t tstate;
	uint64_t interp_id; /* 0: the main interpreter */
	uint64_t interp; /* address of its state */
	uint64_t thread_id; /* threading.get_ident() */
	pid_t tid; /* as /proc numbers it, also when the process has its own numbers; 0: not found, or not sure */
	uint64_t c_stack; /* an address on the C stack where it runs: the lower, the further in; 0: not known */
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
	uint64_t samples, dropped, unproved, retries, walks; /* walks: the slow path, frame by frame */
	uint64_t still; /* of the samples: not read, since the thread had not run since the one before */
	uint64_t shortened; /* shown up to a frame that was innermost at one instant of the read: more had no proof */
};

struct pystacks; /* reader of one process */

/* Borrows rt, r and codes for its life. */
struct pystacks *pystacks_new(const struct world *w, const struct pyrt *rt, struct remote *r, struct pycodes *codes);
struct pystacks *pystacks_free(struct pystacks *s);
static inline void pystacks_freep(struct pystacks **s)
{
	*s = pystacks_free(*s);
}
/*
 * All thread states; a thread that runs code of other interpreters has several.
 * All threads that have a Python thread state, of all interpreters; borrowed
 * until the next call. PYRT_NOT_YET, REMOTE_FAULT, WORLD_GONE. Bounded: a list
 * that runs in a circle or past 100,000 threads ends with REMOTE_FAULT.
 */
int must_check pystacks_threads(struct pystacks *s, const struct pythread **ret, size_t *ret_n);
/*
 * Is this the address of a word of the interpreter lock? Who waits for it sleeps on one (futex), which is the only way to
 * tell before 3.15, where the thread state says it. Not for free-threaded ones.
 */
bool pystacks_is_gil(const struct pystacks *s, uint64_t address);
/* How many interpreters the last list was of. */
size_t pystacks_interpreters(const struct pystacks *s);
/*
 * One thread now. stopped: the caller has stopped it (ptrace, frozen group,
 * SIGSTOP), so one picture is enough. n 0: it runs no Python code.
 */
int must_check pystacks_read(struct pystacks *s, const struct pythread *t, bool stopped, struct pystack *ret);
/*
 * A word of the process that is another one in another program. Before the first read, if at all. Once asked for, the next
 * picture has it, in the same system call: it is then proved, or PYSTACK_OTHER. It stays open while no picture was taken,
 * for want of need (a thread that stood still) or in vain.
 */
void pystacks_program_id(struct pystacks *s, uint64_t addr, uint64_t value);
void pystacks_ask_program_id(struct pystacks *s);
bool pystacks_program_id_is_open(const struct pystacks *s);
/* From now on each stack is read, also of a thread that has not run since: for measuring and for tests. */
void pystacks_read_anew(struct pystacks *s);
/*
 * pystacks_read by pictures that somebody else takes, all of one instant, as of a thread that is interrupted for it.
 * PYSTACK_TORN: not in some tries; it is not counted, as there are other ways.
 */
struct pystack_source {
	/* All pieces into one room, one behind the other. *ret_bytes: as remote_readv. 0, PYSTACK_AWAY, WORLD_GONE. */
	int (*copy)(void *ctx, const struct iovec *from, size_t n_from, void *into, size_t *ret_bytes);
	void *ctx;
};
int must_check pystacks_read_by(struct pystacks *s, const struct pythread *t, const struct pystack_source *by,
				struct pystack *ret);
struct pystack_stats pystacks_stats(const struct pystacks *s);
