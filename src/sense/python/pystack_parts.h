/*
 * The inside of pystack: shared by its files only.
 *
 * Each thread has a plan: the ranges of memory where its stack is expected. A snapshot is one execution of the plan, in
 * one system call, in this order:
 *
 *	outer   hot: the data stack
 *	first   frames elsewhere (loose), then the newest chunks of the data stack
 *	middle  the rest of the stack
 *	pins    the pointer to the newest frame, the thread state
 *	second  the ranges of `first`: data stack, then loose
 *	third   hot: the data stack (before 3.11: the loose frames)
 *
 * Data that is the same in `first` and `second` has not changed in between, so the stack found from the pins was there
 * at the instant of the pins. A frame of the data stack that loose ones lead to must be unchanged from `outer` to
 * `third`, longer than they are: else they may be those of another call from the same place. Where a frame differs, the
 * frame below it was running at some instant in between, and the stack up to there is that instant's.
 */
#pragma once

#include "sense/python/pyload.h"
#include "sense/python/pystack.h"
#include "sense/python/pystack_still.h"

#define PLAN_CHUNKS 96 /* chunks of the data stack; 16 KiB each, unless a frame is larger */
#define PLAN_BYTES_MAX (2 * MIB) /* of one snapshot */
#define PLAN_LOOSE_MAX (PYSTACK_FRAMES + 512) /* frames outside of the data stack */
#define PLAN_CFRAMES 32 /* 3.11: every running generator has one */
#define CHUNK_HEAD_BYTES 24 /* struct _stack_chunk before data[] */
#define STATE_AFTER_LASTI 12 /* 3.8, 3.9: f_executing; 3.10: f_state; f_lineno and f_iblock are between */
#define SEEN_MAX (PYSTACK_FRAMES * 2) /* at most one shim per frame */
#define NOT_COPIED UINT32_MAX
#define STOOD_ROUNDS 32 /* stacks in a row that did not change while they were read: the thread waits */
#define FRAME_BYTES_MAX 512 /* the part of a frame that is read */
#define LISTED_BYTES_MAX 512 /* the part of a thread state that the list is made of */
#define THREAD_BYTES_MAX 4096 /* the part of a thread state that a sample needs */

enum {
	SNAPSHOT_SHORT = 40, /* a range is not mapped any more; the plan has been corrected */
	WALK_UNKNOWN = 41, /* the chain leads to memory that is not in the snapshot */
	WALK_TORN = 42,
};

struct chunk {
	uint64_t addr, previous;
	uint32_t used_bytes; /* expected, head included */
	uint32_t size_bytes;
	uint32_t first_from; /* the first copy begins here */
	uint32_t copied_bytes; /* both copies end here */
	uint32_t outer, first, second, third; /* offsets of the copies in the snapshot */
};

/* A frame that is not on the data stack: of a generator, of the C stack (3.12+), or any frame before 3.11. */
struct loose {
	uint64_t addr;
	uint32_t first, second, third; /* offsets in the snapshot of its bytes from frame_lo on */
	uint32_t used_round; /* the last round whose stack had it */
	uint32_t walk; /* the last walk that met it: a second time is a cycle */
};

struct plan {
	struct still still;
	uint64_t tstate, interp;
	uint64_t thread_id; /* a different one means another thread */
	uint64_t cframes[PLAN_CFRAMES]; /* newest first; 3.11, 3.12 */
	uint32_t cframe_rounds[PLAN_CFRAMES]; /* the rounds in which the thread last used them */
	size_t n_cframes;
	struct chunk left_chunk; /* a newest chunk that was left and may come back; addr 0: none */
	uint64_t wanted; /* a chunk that a snapshot led to and the plan lacked; 0: none */
	struct chunk chunks[PLAN_CHUNKS]; /* newest first */
	size_t n_chunks;
	bool more_chunks; /* there are older ones than fit */
	struct loose *loose; /* in the order of the last stack, innermost first; then spares */
	uint32_t left_below_bytes; /* used bytes of the chunk below left_chunk */
	size_t n_loose, cap_loose;
	uint32_t *slots; /* hash table of loose by address: index + 1 */
	size_t n_slots;
	uint32_t round; /* counts samples */
	uint32_t walk;
	uint64_t usual_ns; /* usual time of a snapshot */
	uint64_t outermost; /* code of the outermost frame of the last stack; 0: none */
	size_t usual_ranges; /* n_from when usual_ns was first set */
	uint32_t peak_bytes, peak_next_bytes; /* recent peak use of the newest chunk */
	uint32_t hot_until; /* up to this round everything is copied, and the innermost part three times */
	bool built, built_hot;
	bool known, base_with_cframe; /* chunks hold as they were read; the base is copied with the C frame */
	bool has_held; /* it held the GIL at some time: then garbage collection is read too */
	uint64_t base; /* the outermost frame of all, the interpreter's own on the C stack; 0: none, or the only one */
	uint32_t stood; /* number of stacks in a row that were the same in both copies */
	bool no_extra;
	struct iovec *from;
	uint8_t *kinds;
	uint32_t *which;
	size_t n_from, cap_from;
	size_t bytes;
	uint32_t thread_at, cframe_at[PLAN_CFRAMES], gil_at, collecting_at, program_id_at; /* offsets in the snapshot */
};

/* The values of the pins. */
struct pins {
	uint64_t frame; /* newest frame; 0: no Python code */
	uint64_t base_frame; /* 3.15 */
	uint64_t chunk, chunk_top;
	bool bad_cframe; /* the C frame is none of the plan's */
};

struct seen {
	uint64_t addr, previous, code, instr;
	const char *other; /* the same frame in the other copy, from frame_lo on; NULL: copied once */
	const char *third, *outer;
	uint32_t tlbc;
	uint8_t flags; /* PYFRAME_* */
	bool shim; /* a frame of the interpreter itself (3.12+): proved like others, not shown */
	bool fresh; /* came after the first copies: may be incomplete */
	bool changed; /* running in one of the copies only */
};

struct interp {
	uint64_t addr, id, gil; /* gil: address of its state; 0: not known */
	uint64_t next, threads_head, tlbc_generation, code_generation;
};

struct listed { /* per entry of the thread list: fields that must be unchanged for the list to hold */
	uint64_t next, thread_id;
	int64_t native_id;
	uint32_t interp;
};

struct tlbc {
	uint64_t code, base;
	uint32_t index;
};
#define TLBC_SLOTS 1024

struct pystacks {
	const struct world *world;
	const struct pyrt *rt;
	struct remote *r;
	struct pycodes *codes;
	const struct pystack_source *source; /* takes the snapshots; NULL: memory is read */
	struct pystack_stats stats;
	/* Ranges of the structures that are read. */
	uint32_t thread_lo, thread_hi, listed_lo, listed_hi, frame_lo, frame_hi;
	uint32_t gil_lo, gil_bytes; /* of the GIL's state; 0 bytes: the thread state has it, or there is none */
	bool usable, anew; /* offsets exist and are small; schedstat is not used */
	bool program_id_open; /* the next snapshot checks the id */
	uint64_t program_id_addr, program_id; /* pystacks_program_id; 0: none */
	bool has_chunks, has_cframe, has_shims, has_tlbc;

	struct interp *interps;
	size_t n_interps;
	struct pythread *threads;
	struct listed *listed;
	size_t n_threads, cap_threads;
	int32_t tid_offset; /* in the C library's struct pthread; -1: not found yet */

	struct plan **plans; /* sorted by tstate */
	size_t n_plans;

	char *snapshot;
	size_t snapshot_cap;
	struct seen *seen; /* SEEN_MAX */
	size_t n_seen, n_shims;
	size_t innermost_loose; /* index in seen: frames below it have to be unchanged for longer */
	bool seen_cut;
	struct pyframe *frames; /* PYSTACK_FRAMES */
	uint64_t *chain; /* PLAN_LOOSE_MAX: loose frames of the stack being learnt */
	size_t n_chain;
	struct tlbc *tlbc; /* free-threaded only */
};

/* ---- pystack_plan.c ---- */
/* Finds the chunks of the data stack; drops earlier expectations. PYSTACK_STALE, WORLD_GONE. */
int must_check plan_look_up(struct pystacks *s, struct plan *p);
/* Takes one snapshot. SNAPSHOT_SHORT, PYSTACK_STALE, WORLD_GONE. */
int must_check plan_take(struct pystacks *s, struct plan *p, struct pins *ret);
/* A frame was at this offset in a chunk of the data stack: the next snapshot will include it. */
void plan_reach(const struct pystacks *s, struct plan *p, size_t chunk, uint32_t at);
/* Puts addr at the end of the list of loose frames. -ENOMEM; -E2BIG: too many. */
int must_check plan_add_loose(struct plan *p, uint64_t addr);
struct loose *plan_find_loose(const struct plan *p, uint64_t addr);
struct plan *plan_free(struct plan *p);

/* ---- pystack_walk.c ---- */
/* Walks the chain in the second copies, or (early) in the first ones, into s->seen. WALK_UNKNOWN, WALK_TORN. */
int must_check walk_snapshot(struct pystacks *s, struct plan *p, const struct pins *pins, bool early);
/* Follows the chain, reading frames that are not in the snapshot, to learn which loose frames there are. */
int must_check walk_learn(struct pystacks *s, struct plan *p, const struct pins *pins);
/* Finds the first frame of s->seen from which on the stack was there at one instant; false: unknown. */
bool walk_prove(struct pystacks *s, bool early, size_t *ret_first);

/* Before 3.11 frames that have returned have no caller: finds a stack ending in a frame that ran meanwhile. */
bool walk_ran(struct pystacks *s, struct plan *p, size_t *ret_first);

/* ---- pystack_threads.c ---- */
/* True if the list still holds. One scattered read. */
bool threads_same(struct pystacks *s);
int must_check threads_list(struct pystacks *s);
