/*
 * Finds NCCL's version: in a log line "NCCL version 2.19.3+cuda12.3", or in the same text among the constants of the
 * library, or of the library that NCCL is linked into. PyTorch's wheels name the library libnccl.so.2, so its name is
 * not enough.
 */
#pragma once

#include "base/text.h"
#include "sense/native/elffile.h"
#include "sense/collective/ncclras.h"

/* Copies the first version in text, "2.19.3"; false if there is none. Pure. */
bool nccl_version_find(struct span text, char dst[static 16]);
/* Finds the library's own version, which "+cuda" follows; other texts name versions too. False if none. Pure. */
bool nccl_version_own(struct span text, struct ncclras_version *ret);
/* Searches the constants of a file, a few MiB in NCCL's own library. ELF_NONE: no version there; or -errno. */
int must_check nccl_version_of_elf(const struct elf *e, struct ncclras_version *ret);
/* The version of the library that the process has mapped: by its name, else by its constants. False: not found. */
bool nccl_version_of_process(const struct world *w, pid_t pid, struct ncclras_version *ret);
