/*
 * The error files of the ranks of `vigil run --nproc`: each rank is told by
 * TORCHELASTIC_ERROR_FILE where to write the exception that ends its function,
 * as torchrun tells its ranks. The files lie beside the ranks' kept output.
 *
 * Reading may wait for a disk: for a child process with a deadline.
 */
#pragma once

#include "sense/death/facts.h"

void errorfile_path(const char *attempt_dir, int32_t rank, char *dst, size_t cap);

enum {
	ERRORFILE_NONE = 1, /* the rank has written none, or something else */
};
int must_check errorfile_read(const char *path, int32_t rank, struct rank_error *ret);
