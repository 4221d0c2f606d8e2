/*
 * The error files of the ranks of `vigil run --nproc`: TORCHELASTIC_ERROR_FILE names the file for the exception that
 * ends the function of a rank, as under torchrun. The files lie beside the ranks' kept output.
 *
 * Reading may wait for a disk, so it belongs into a child process with a deadline.
 */
#pragma once

#include "sense/death/facts.h"

void errorfile_path(const char *attempt_dir, int32_t rank, char *dst, size_t cap);

enum {
	ERRORFILE_NONE = 1, /* the rank has written no file, or a file of another kind */
};
int must_check errorfile_read(const char *path, int32_t rank, struct rank_error *ret);
