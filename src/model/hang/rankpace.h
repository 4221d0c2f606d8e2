/*
 * Where each rank is, by what it prints: epochs and steps of all ranks side
 * by side. Ranks of one job that stand still in different epochs, or of which
 * some have ended well while others go on, got uneven shares of the data.
 *
 * Fed with lines; keeps the last position of each rank, its usual distance
 * between two of its lines, and the most steps that an epoch had. Pure, fixed
 * size, no pointers.
 */
#pragma once

#include "sense/rank.h"
#include "sense/framework/progress.h"

#define RANKPACE_RANKS 256

struct rankpace_rank {
	int32_t rank;
	bool has_epoch, has_step;
	double epoch;
	uint64_t step, total; /* total 0 unknown: steps of an epoch */
	uint64_t stride; /* the fewest steps between two of its lines; 0 unknown */
	uint32_t line_bytes; /* of its last line */
	bool at_once; /* progress bars are written when they change, other lines may wait in a buffer */
	uint64_t longest; /* the highest step of an epoch that it left behind */
	uint64_t n_lines;
	bool ended;
	int32_t exit_code;
};

struct rankpace {
	struct rankpace_rank of[RANKPACE_RANKS];
	size_t n, n_dropped;
};

/* A line of so many bytes that told of progress; stream_rank: whose log it is, NO_RANK when several write it. */
void rankpace_line(struct rankpace *p, const struct progress_line *l, int32_t stream_rank, size_t bytes);
void rankpace_ended(struct rankpace *p, int32_t rank, int32_t exit_code);
/* Has any rank's step or epoch grown? */
bool rankpace_steps(const struct rankpace *p);
/* A living rank, whether or not it prints. */
void rankpace_there(struct rankpace *p, int32_t rank);
/* Nobody has ended; positions stay. */
void rankpace_revive(struct rankpace *p);

enum rankpace_kind {
	RANKPACE_EVEN, /* or nothing can be said */
	RANKPACE_EPOCHS, /* they are in different epochs */
	RANKPACE_STEPS, /* in one epoch, further apart than printing explains */
	RANKPACE_ENDED_EARLY, /* some ended with 0, others have not ended */
};

#define RANKPACE_LISTED 64

struct rankpace_finding {
	enum rankpace_kind kind;
	uint64_t spread; /* epochs, steps, or ranks that ended */
	int32_t ranks[RANKPACE_LISTED]; /* the smaller part */
	size_t n_ranks;
	char text[200]; /* "epoch 48: 1 2 5; epoch 49: 0 3 4 6 7" */
};

void rankpace_compare(const struct rankpace *p, struct rankpace_finding *ret);
/* "epoch_spread 1 ranks=1,2,5: …" for the cause book's source counter; "" when even. */
void rankpace_line_format(const struct rankpace_finding *f, char *dst, size_t cap);
