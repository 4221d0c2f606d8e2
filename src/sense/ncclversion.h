/* NCCL's version, as it says it in a log: "NCCL version 2.19.3+cuda12.3". Pure. */
#pragma once

#include "base/text.h"

/* "2.19.3" of the first place; false without one. */
bool nccl_version_find(struct span text, char dst[static 16]);
