/*
 * Reads a memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot: a pickle of the form of
 * torch/cuda/_memory_viz.py) into a model/heap/heapset: the blocks in use by the frames that allocated them, and how
 * each device's memory is divided into segments and blocks. Nothing in the file is executed.
 */
#pragma once

#include "base/fault.h"
#include "model/heap/heapset.h"
#include "sense/format/pickle.h"

/* True: the first bytes can be those of a pickle. */
bool torchsnap_is(const void *bytes, size_t len);
/*
 * Pure. A file that is cut off gives 0, the part before the cut, and a remark. -EBADMSG with a fault: no snapshot;
 * -ENOMEM.
 */
int must_check torchsnap_parse(const struct pickle *p, struct heapset **ret, char remarks[][300], size_t cap,
			       size_t *ret_n, struct fault *f);
/* -EBADMSG: the file is no snapshot; the fault says what was expected. -errno. */
int must_check torchsnap_read(const char *path, struct heapset **ret, char remarks[][300], size_t cap, size_t *ret_n,
			      struct fault *f);
