/* The kernel's types of sockets, beside those that kernel_types.bpf.h has; relocated when loaded (CO-RE). */
#pragma once

#include "kernel_types.bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct unix_sock {
	struct sock *peer;
};

struct socket {
	struct sock *sk;
};

#pragma clang attribute pop
