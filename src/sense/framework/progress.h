/*
 * The progress of a training job, from its output: tqdm, Hugging Face Trainer, Lightning, Megatron, torchtitan,
 * DeepSpeed, Keras, "Epoch:[48][20384/all]", words like "step 120", rows of numbers, and a user's own patterns.
 *
 * Pure and incremental: the input is bytes and the time of their arrival. Constant memory.
 */
#pragma once

#include "sense/log/logline.h"
#include "sense/framework/progresscount.h"
#include "sense/framework/progresspattern.h"

enum progress_form {
	PROGRESS_NOTHING,
	PROGRESS_TQDM,
	PROGRESS_LIGHTNING,
	PROGRESS_TRAINER, /* Hugging Face's dictionaries */
	PROGRESS_MEGATRON,
	PROGRESS_TORCHTITAN,
	PROGRESS_DEEPSPEED,
	PROGRESS_KERAS,
	PROGRESS_BRACKETS, /* Epoch:[48][20384/all] */
	PROGRESS_WORDS, /* step 120, iter: 5 */
	PROGRESS_COLUMNS, /* a row of numbers: 120 0.31 0.9 */
	PROGRESS_USER,
};

struct progress_line {
	enum progress_form form;
	int32_t rank; /* NO_RANK */
	bool has_epoch, has_step, has_total, has_rate, has_loss;
	double epoch; /* Trainer counts in fractions */
	uint64_t step, total;
	double rate_per_s; /* steps */
	double loss; /* may be NaN or infinite */
};

enum {
	PROGRESS_NONE = 1, /* not a progress line */
};

/* True for "epoch 3 done", "Finished epoch", "end of epoch 2": the word "epoch" and a whole word for the end. */
bool progress_ends_epoch(struct span line);
/* One line without its newline. user may be NULL. */
int must_check progress_parse(struct span line, const struct progress_patterns *user, struct progress_line *ret);

#define PROGRESS_LINE 2048
/* Training with mixed precision begins with some steps whose gradients are too large, and skips them. */
#define PROGRESS_NORMS 8

/* Where a number stopped being one. */
struct progress_broken {
	bool found;
	bool infinite; /* infinite; false: NaN */
	bool has_step;
	uint64_t step;
};

struct progress {
	const struct progress_patterns *user; /* borrowed; may be NULL */
	struct ansi ansi;
	char line[PROGRESS_LINE];
	size_t len;
	bool too_long; /* the rest of the line is dropped */
	struct progress_line last;
	bool any; /* last is valid */
	uint64_t last_step_ns; /* when the step last grew */
	bool has_step_time;
	uint64_t n_lines; /* progress lines */
	uint64_t n_steps; /* progress lines with another step than before */
	bool epoch_ended; /* the end of an epoch was printed and no step since */
	struct progress_broken loss; /* a loss was NaN or infinite */
	struct progress_broken norm; /* the norm of the gradients was, in PROGRESS_NORMS lines in a row */
	uint32_t norms; /* such lines, the last in a row */
	struct progresscount count; /* of lines that are no progress */
};

void progress_init(struct progress *p, const struct progress_patterns *user);
/* now_ns: arrival of the bytes; never decreases. */
void progress_feed(struct progress *p, const char *data, size_t len, uint64_t now_ns);
