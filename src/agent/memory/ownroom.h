/*
 * Is there room for memory of vigil's own? Loading a BPF program reads the kernel's types, which takes 11 MB for a
 * moment (measured, Linux 6.18 and libbpf 1.1: twice /sys/kernel/btf/vmlinux). In a small control group that is nearly
 * full, that is a burst of the job's to the guard, or the last bytes of it.
 */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "sense/world.h"

#define OWNROOM_BPF_BYTES (12 * MIB)

/*
 * True if the machine and each limited control group above this process have these bytes left, and a tenth of the
 * whole beside them (at most 256 MiB). What cannot be read counts as roomy.
 */
bool ownroom_has(const struct world *w, uint64_t bytes);
