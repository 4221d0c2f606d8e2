/*
 * A loss that is no number any more, in a line of a job's output. It is found from the value: where a line has "nan"
 * or "inf" as a whole word, the name before it says whether it is a loss. So it is known in each form that frameworks
 * write: "loss: nan", "'loss': nan", "loss=nan, v_num=0", "\"loss\": NaN", "train_loss nan", "| lm loss: NAN |",
 * "Loss is nan", "loss: tensor(nan, device='cuda:0')", "train-logloss:nan".
 *
 * No loss are names that only contain the letters ("loss_scale", "lossless"), what a program begins with ("best_loss:
 * inf", "improved from inf to 0.4") and prose ("stop on loss nan").
 *
 * Pure; nothing is kept.
 */
#pragma once

#include "base/text.h"

struct lossline {
	bool loss; /* a loss is NaN or infinite */
	bool has_norm; /* the norm of the gradients is in the line */
	bool norm; /* and is NaN or infinite; with mixed precision so are the first ones of a healthy job */
	bool infinite; /* loss: it is infinite, not NaN */
	char name[40]; /* loss: as the line has it: "train_loss" */
};

/* One line without its end and without a launcher's prefix. */
void lossline_read(struct span line, struct lossline *ret);
