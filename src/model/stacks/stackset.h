/*
 * A recording: the number of samples of each stack, as a tree of prefixes with the outermost frame at the root. Lanes
 * separate processes (ranks, workers) and threads; every node belongs to one lane. The recorder gives the weight of a
 * sample in nanoseconds, so that recordings of different rates can be compared, or in bytes (enum stack_unit).
 */
#pragma once

#include <sys/types.h>

#include "model/stacks/frame.h"
#include "sense/rank.h"

enum sample_state {
	SAMPLE_RUNNING, /* on a processor */
	SAMPLE_IDLE, /* waiting; the innermost frame names the cause */
	SAMPLE_GIL_WAIT, /* waiting for the GIL */
	SAMPLE_STATE_MAX,
};

struct stack_lane {
	pid_t pid, tid; /* tid 0: one lane for all threads of the process */
	int32_t rank; /* NO_RANK: none */
	char role[16]; /* "main", "loader"; "": unknown */
	char process[64]; /* "python train.py" */
	char thread[64]; /* "MainThread", "pt_autograd_0" */
};

struct stack_node {
	uint32_t parent; /* index; that of a lane's root is its own */
	uint32_t lane;
	uint32_t frame; /* id in the frametab; UINT32_MAX for a lane's root */
	uint32_t first_child, next_sibling; /* 0: none (node 0 is a root, never a child) */
	uint64_t self_weight[SAMPLE_STATE_MAX]; /* ns or bytes, see meta.unit */
	uint64_t self_samples[SAMPLE_STATE_MAX];
	uint64_t gil_weight; /* the part of self_weight during which the thread held the GIL */
};

/* Unit of weights: nanoseconds, or bytes in heap profiles. */
enum stack_unit { STACK_TIME, STACK_BYTES };

struct stackset_meta {
	enum stack_unit unit;
	uint64_t period_bytes; /* STACK_BYTES: mean bytes between samples; 0: every allocation was counted */
	char title[200];
	char node[80];
	int64_t start_unix_ms;
	uint64_t duration_ns;
	double rate_hz; /* requested */
	double rate_got_hz; /* reached */
	uint64_t samples; /* stacks kept */
	uint64_t dropped; /* stacks left out because they may mix two moments */
	uint64_t unproved; /* stacks kept without proof that they are of one moment */
	uint64_t late; /* wake-ups more than a period late */
	uint64_t merged, approximate; /* --native: Python and native frames matched exactly; matched by best guess */
	uint64_t native_missing; /* --native: the thread did not stop in time; only its Python frames are kept */
	uint64_t incomplete; /* native frames further out were not found */
	uint64_t pause_ns_max, pause_ns_median, pause_ns_sum, pauses; /* median 0: unknown */
	uint64_t pauses_caught; /* pauses in which the thread was interrupted for the time of the copy, not stopped */
	uint64_t shortened; /* stacks without their inner frames, which changed while they were read */
	bool has_wrong_ratio;
	double moved_ratio; /* ratio of kept stacks whose thread moved while it was read */
	double wrong_ratio; /* upper limit of the ratio of kept stacks that mix two moments */
	bool native, idle, gil_only, interrupted;
	bool subject_denied; /* the very process that was asked for may not be read: all is of its descendants */
	char missing[700]; /* a sentence or two on data that is not shown, and why; "": all is */
};

/*
 * Upper limits of the ratio of wrong stacks among those whose thread moved while it was read: stacks that mix two
 * moments, and stacks with a caller on the line of an earlier or later call. A recording cannot count these itself;
 * the limits are verified for all versions by tests/e2e/test_oracle.py, with programs that know their own stack and
 * only call and return.
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
/* The lane of this pid and tid, added if it is new. Its other fields are replaced by those given. -ENOMEM. */
int must_check stackset_lane(struct stackset *s, const struct stack_lane *lane, uint32_t *ret);
/* Adds one sample, also to meta.samples. frames: frametab ids, innermost first. -ENOMEM. */
int must_check stackset_add(struct stackset *s, uint32_t lane, const uint32_t *frames, size_t n,
			    enum sample_state state, bool holds_gil, uint64_t weight);

/*
 * Valid until the next change of the set. Nodes come after their parents, siblings in the order of their first
 * sample.
 */
const struct stack_node *stackset_nodes(const struct stackset *s, size_t *ret_n);
const struct stack_lane *stackset_lanes(const struct stackset *s, size_t *ret_n);
const struct frame *stackset_frame(const struct stackset *s, uint32_t id);
/* Index of the lane's root node. */
uint32_t stackset_root(const struct stackset *s, uint32_t lane);

/*
 * The part of a recording to show. All writers of tell/stacks/flame*.h apply it through stackset_view, so that all
 * formats show the same.
 */
enum stack_lanes { LANES_ALL, LANES_RANK, LANES_PROCESS, LANES_THREAD }; /* the first level of the tree */
struct stack_want {
	bool idle; /* also waiting samples; false: only running ones (but see stackset_view) */
	bool gil; /* only samples that hold the GIL */
	enum stack_lanes lanes;
	bool has_rank;
	int32_t rank; /* only this rank */
	bool lines; /* false: frames of one function are combined and lose their lines */
	bool keep_lanes; /* the result has the lanes of the recording, and `lanes` is not looked at */
	bool note_widened; /* a wish that was widened is noted in a frame of the first level */
};
/*
 * A new set with the wanted part. Its lanes become note frames of the first level ("rank 0", "rank 0 loader 812") of a
 * single lane. So that the result is not empty, a wish that selects nothing is widened: without samples that held the
 * GIL, it has the running samples, and meta.gil_only is false; without running samples, it has the waiting ones, and
 * *ret_only_idle is true. The number of samples that held the GIL is estimated from their ratio of the weight. The
 * caller frees *ret. -ENOMEM.
 */
int must_check stackset_view(const struct stackset *s, const struct stack_want *want, struct stackset **ret,
			     bool *ret_only_idle);
/*
 * The difference of two recordings by stack (tell/stacks/flame.h shows it). The merged set has the nodes of both,
 * matched by frame, with the sums of their self values; rows has the values of each. Lanes are ignored: to keep them
 * apart, pass views with lanes as frames. The caller frees both results. -ENOMEM.
 */
struct stack_diff_row { /* malloc'ed; one for each node of the merged set, in order */
	uint32_t node; /* in the merged set */
	uint64_t a_weight, b_weight; /* self */
	uint64_t a_samples, b_samples;
};
int must_check stackset_diff(const struct stackset *a, const struct stackset *b, struct stackset **ret_merged,
			     struct stack_diff_row **ret_rows, size_t *ret_n);
