/*
 * A recording: how often each stack was seen, as a tree of prefixes, root
 * first. Lanes keep processes (ranks, workers) and threads apart; every node
 * belongs to one lane. What a sample weighs is for the recorder to say:
 * nanoseconds here, so that recordings of different rates compare.
 */
#pragma once

#include <sys/types.h>

#include "model/stacks/frame.h"
#include "sense/rank.h"

enum sample_state {
	SAMPLE_RUNNING, /* on a processor */
	SAMPLE_IDLE, /* waiting; the leaf says for what */
	SAMPLE_GIL_WAIT, /* wants the GIL */
	SAMPLE_STATE_MAX,
};

struct stack_lane {
	pid_t pid, tid; /* tid 0: threads of the process are not kept apart */
	int32_t rank; /* NO_RANK (-1) */
	char role[16]; /* "main", "loader", "" */
	char process[64]; /* "python train.py" */
	char thread[64]; /* "MainThread", "pt_autograd_0" */
};

struct stack_node {
	uint32_t parent; /* index; a lane's root points at itself */
	uint32_t lane;
	uint32_t frame; /* id in the frametab; UINT32_MAX for a lane's root */
	uint32_t first_child, next_sibling; /* 0: none (0 is a root, never a child) */
	uint64_t self_weight[SAMPLE_STATE_MAX]; /* ns or bytes: meta.unit */
	uint64_t self_samples[SAMPLE_STATE_MAX];
	uint64_t gil_weight; /* of self_weight: while holding the GIL */
};

/* What weights are: nanoseconds, or bytes in heap profiles. */
enum stack_unit { STACK_TIME, STACK_BYTES };

struct stackset_meta {
	enum stack_unit unit;
	uint64_t period_bytes; /* STACK_BYTES: mean distance of samples; 0: exact */
	char title[200];
	char node[80];
	int64_t start_unix_ms;
	uint64_t duration_ns;
	double rate_hz; /* asked for */
	double rate_got_hz;
	uint64_t samples; /* stacks kept */
	uint64_t dropped; /* could not be proved, left out */
	uint64_t unproved; /* kept, but without proof that it is of one instant */
	uint64_t late; /* wake-ups that came more than a period late */
	uint64_t merged, approximate; /* --native: Python and native matched; attached by best guess */
	uint64_t native_missing; /* --native: the thread did not stop in time; its Python frames are there */
	uint64_t incomplete; /* native frames further out were not found */
	uint64_t pause_ns_max, pause_ns_median, pause_ns_sum, pauses; /* median 0: not known */
	uint64_t pauses_caught; /* of the pauses: interrupted for as long as the copying took, not stopped */
	uint64_t shortened; /* kept up to a frame that stood; frames further in came or went while they were read */
	bool has_wrong_ratio;
	double moved_ratio; /* share of those kept in which the thread was seen to move while it was read */
	double wrong_ratio; /* at most so many of those kept are put together of two moments */
	bool native, idle, gil_only, interrupted;
	char missing[700]; /* a sentence or two: what is not shown and why; "" */
};

/*
 * What may be wrong of stacks in which the thread moved while it was read, at most. No recording can count that by itself:
 * these are the limits that tests/e2e/test_oracle.py holds all versions to, with programs that know their own stack
 * and do nothing but call and return. Stacks put together of two moments, and stacks with a caller on the line of an
 * earlier or later call.
 */
#define STACK_WRONG_OF_MOVED 1e-4
#define STACK_LINE_OF_MOVED 0.05

struct stackset; /* owns frames, lanes, nodes */

struct stackset *stackset_new(void);
struct stackset *stackset_free(struct stackset *s);
static inline void stackset_freep(struct stackset **s)
{
	*s = stackset_free(*s);
}
struct frametab *stackset_frames(struct stackset *s);
struct stackset_meta *stackset_meta(struct stackset *s);
const struct stackset_meta *stackset_meta_of(const struct stackset *s);
/* The lane of the same pid and tid, made when new; what else is said of it is the last that was given. */
int must_check stackset_lane(struct stackset *s, const struct stack_lane *lane, uint32_t *ret);
/* frames: ids, innermost FIRST (as read). Adds one sample, also to meta's samples. -ENOMEM. */
int must_check stackset_add(struct stackset *s, uint32_t lane, const uint32_t *frames, size_t n,
			    enum sample_state state, bool holds_gil, uint64_t weight);

/* Borrowed until something is added; nodes come after their parents, siblings in the order they were first seen. */
const struct stack_node *stackset_nodes(const struct stackset *s, size_t *ret_n);
const struct stack_lane *stackset_lanes(const struct stackset *s, size_t *ret_n);
const struct frame *stackset_frame(const struct stackset *s, uint32_t id);
/* Root of a lane in nodes. */
uint32_t stackset_root(const struct stackset *s, uint32_t lane);

/*
 * Which part of a recording is shown, and how: applied by every writer of
 * tell/flame_*.h through stackset_view, so that formats cannot disagree.
 */
enum stack_lanes { LANES_ALL, LANES_RANK, LANES_PROCESS, LANES_THREAD }; /* what the first level of the picture is */
struct stack_want {
	bool idle; /* also what waits; false: only what runs (but see stackset_view) */
	bool gil; /* only what holds the GIL */
	enum stack_lanes lanes;
	bool has_rank;
	int32_t rank; /* only this rank */
	bool lines; /* false: frames of one function are one, whatever the line; they have none then */
};
/*
 * A new set holding what is wanted, lanes turned into first-level note frames
 * ("rank 0", "rank 0 loader 812") of one lane. A recording in which nothing
 * held the GIL, if that is wanted, gives what ran (its gil_only is false then),
 * and one in which nothing ran its waiting picture, of which *ret_only_idle
 * says so: never an empty answer for a job that is there.
 * Samples that held the GIL are counted by their share of the time.
 */
int must_check stackset_view(const struct stackset *s, const struct stack_want *want, struct stackset **ret,
			     bool *ret_only_idle);
/*
 * What b adds to and lacks of a, by stack; see tell/stacks/flame.h for how it is
 * shown. Nodes of both, matched by names, lanes left out: two views whose
 * lanes are to be told apart have them as frames. The merged set's self values
 * are the sums of both.
 */
struct stack_diff_row { /* malloc'ed; one for each node of the merged set, in order */
	uint32_t node; /* in the merged set */
	uint64_t a_weight, b_weight; /* self */
	uint64_t a_samples, b_samples;
};
int must_check stackset_diff(const struct stackset *a, const struct stackset *b, struct stackset **ret_merged,
			     struct stack_diff_row **ret_rows, size_t *ret_n);
