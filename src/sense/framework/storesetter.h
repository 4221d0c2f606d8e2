/*
 * Who sets a key of PyTorch's store, where its name alone says so: the key under which each rank of the default group
 * publishes the address of its gloo connections, and that of the barrier of the store, which the last one to come sets.
 *
 * c10d (distributed_c10d.py, ProcessGroupGloo) puts a prefix for each layer before a key: torchrun's
 * "worker/attempt_0/", "default_pg/" of the store of the job's first group, "0//" of that group itself, "cpu//" of the
 * backend (absent before 2.0), "0/" of the connection's device. What follows is the number of the rank within the
 * group. A group that is made later has its own part behind that of the default group ("0//1//"). The number is the
 * rank's own in the default group only, so of other groups nothing is said. Pure.
 */
#pragma once

#include "base/base.h"

enum storesetter {
	STORESETTER_UNKNOWN, /* a program's own key, or one of a group whose members are not known */
	STORESETTER_RANK, /* one rank */
	STORESETTER_LAST, /* the last of all ranks to come: none of those that wait for it */
};

/* ret_rank: of STORESETTER_RANK. */
enum storesetter storesetter_of(const char *key, int32_t *ret_rank);
