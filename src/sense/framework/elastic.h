/*
 * The error file of a rank that torchrun started (TORCHELASTIC_ERROR_FILE): JSON that its error handler writes when the
 * rank's function raises. Times are unix seconds of the rank's clock, the only resolution in the file.
 */
#pragma once

#include "base/fault.h"
#include "base/text.h"

struct elastic_error {
	char message[512]; /* first line of the message: "RuntimeError: CUDA error: …" */
	char where[256]; /* the innermost line of its call stack: "train.py:40 (step)"; "" unknown */
	bool has_time;
	int64_t time_unix_s;
	bool cut; /* the file is incomplete */
};
enum {
	ELASTIC_FOREIGN = 1, /* no error file of torchrun; the fault gives the reason */
};
/* 0, ELASTIC_FOREIGN, -ENOMEM. Pure. */
int must_check elastic_parse(struct span bytes, struct elastic_error *ret, struct fault *f);
