/*
 * Compares the positions (epoch and step) that the ranks print. Ranks that stand still in different epochs, or of
 * which some have ended with 0 while others go on, got uneven shares of the data.
 *
 * Its input is lines. It keeps the last position of each rank, the fewest steps between two of its lines, and the
 * highest step of a finished epoch. Pure; fixed size; no pointers.
 */
#pragma once

#include "sense/rank.h"
#include "sense/framework/progress.h"

#define RANKPACE_RANKS 256

struct rankpace_rank {
	int32_t rank;
	bool has_epoch, has_step;
	double epoch;
	uint64_t step, total; /* total: steps of an epoch; 0: unknown */
	uint64_t stride; /* fewest steps between two of its lines; 0: unknown */
	uint32_t line_bytes; /* of its last line */
	bool at_once; /* its lines are written without a buffer, as progress bars are */
	uint64_t longest; /* highest step of a finished epoch */
	uint64_t n_lines;
	bool ended;
	int32_t exit_code;
};

struct rankpace {
	struct rankpace_rank of[RANKPACE_RANKS];
	size_t n, n_dropped;
};

/* Adds a line with progress, of `bytes` bytes. stream_rank: rank whose log it is; NO_RANK if several ranks write it. */
void rankpace_line(struct rankpace *p, const struct progress_line *l, int32_t stream_rank, size_t bytes);
void rankpace_ended(struct rankpace *p, int32_t rank, int32_t exit_code);
/* True if the step or epoch of any rank has grown. */
bool rankpace_steps(const struct rankpace *p);
/* Records that the rank is alive, whether or not it prints. */
void rankpace_there(struct rankpace *p, int32_t rank);
/* Marks all ranks as not ended; positions stay. */
void rankpace_revive(struct rankpace *p);

enum rankpace_kind {
	RANKPACE_EVEN, /* no difference, or not enough is known */
	RANKPACE_EPOCHS, /* different epochs */
	RANKPACE_STEPS, /* one epoch, but further apart than buffered output explains */
	RANKPACE_ENDED_EARLY, /* some ended with 0, others have not ended */
};

#define RANKPACE_LISTED 64

struct rankpace_finding {
	enum rankpace_kind kind;
	uint64_t spread; /* epochs, steps, or ranks that ended */
	int32_t ranks[RANKPACE_LISTED]; /* the smaller group */
	size_t n_ranks;
	char text[200]; /* "epoch 48: 1 2 5; epoch 49: 0 3 4 6 7" */
};

void rankpace_compare(const struct rankpace *p, struct rankpace_finding *ret);
/* "epoch_spread 1 ranks=1,2,5: …" for the source "counter" of the rule book; "" if even. */
void rankpace_line_format(const struct rankpace_finding *f, char *dst, size_t cap);
