/*
 * A fixed number of bytes and at most one descriptor over a UNIX socket (unix(7), SCM_RIGHTS). What comes in is
 * foreign: a wrong length is -EPIPE, further descriptors are closed.
 */
#pragma once

#include "base/base.h"

/* fd -1: none. -errno. */
int must_check fdpass_send(int to, const void *bytes, size_t len, int fd);
/* *ret_fd: owned, with O_CLOEXEC; -1: none came. Waits as the socket does. -errno. */
int must_check fdpass_receive(int from, void *bytes, size_t len, int *ret_fd);
