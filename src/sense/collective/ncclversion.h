/*
 * NCCL's version: as it says it in a log, "NCCL version 2.19.3+cuda12.3", and
 * as the same words stand in the library (or in what NCCL was linked into),
 * where its makers put them for strings(1). PyTorch's wheels name the library
 * libnccl.so.2, so that its name does not tell.
 */
#pragma once

#include "base/text.h"
#include "sense/native/elffile.h"
#include "sense/collective/ncclras.h"

/* "2.19.3" of the first place; false without one. Pure. */
bool nccl_version_find(struct span text, char dst[static 16]);
/* Only the library's own words, which go on with "+cuda": others speak of versions, too. Pure. */
bool nccl_version_own(struct span text, struct ncclras_version *ret);
/* Looks through the constants of the file, a few MiB in NCCL's own library. ELF_NONE: they do not say it. */
int must_check nccl_version_of_elf(const struct elf *e, struct ncclras_version *ret);
/* Of the library that the process has mapped: by its name, else by its constants. False: not to be found out. */
bool nccl_version_of_process(const struct world *w, pid_t pid, struct ncclras_version *ret);
