/*
 * How a process ended, asked of a descriptor of it (pidfd_open(2)) after its parent has taken its status:
 * PIDFD_GET_INFO with PIDFD_INFO_EXIT, Linux 6.15 and later. It takes no right beside the descriptor.
 */
#pragma once

#include "base/base.h"

enum {
	PIDFDINFO_UNTOLD = 1, /* it lives, or its parent has not taken its status yet */
	PIDFDINFO_UNKNOWN = 2, /* the kernel does not tell */
};

/* *ret_status: as wait(2) gives it. */
int must_check pidfdinfo_exit_read(int pidfd, int *ret_status);
