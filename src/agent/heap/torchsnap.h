/*
 * A memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot: a pickle of
 * torch/cuda/_memory_viz.py's form) read into a model/heap/heapset: the blocks that
 * are in use by the frames that asked for them, and how each device's memory
 * is cut into segments and pieces. Nothing in the file is run.
 */
#pragma once

#include "base/fault.h"
#include "model/heap/heapset.h"
#include "sense/format/pickle.h"

/* Whether the first bytes can be those of a pickle. */
bool torchsnap_is(const void *bytes, size_t len);
/* Pure. 0 also of a file that is cut off: what came before is given, and a remark says so. */
int must_check torchsnap_parse(const struct pickle *p, struct heapset **ret, char remarks[][300], size_t cap,
			       size_t *ret_n, struct fault *f);
/* -EBADMSG: it is no such snapshot; the fault says what was expected. */
int must_check torchsnap_read(const char *path, struct heapset **ret, char remarks[][300], size_t cap, size_t *ret_n,
			      struct fault *f);
