/*
 * The key that a thread waits for in PyTorch's store (c10d::TCPStore), read from its stack without stopping it. The
 * server answers when somebody sets the key; which one was asked for is on no wire any more, but the std::string
 * (or the vector of them) that the call was made with is still in the callers' frames.
 *
 * c10d puts its prefixes before a key ("/", and "default_pg/0//" of a group), and each caller has the shorter form that
 * it was given. So the innermost string on the stack is the whole key if a string further out is its end; else nothing
 * is said. Layout of libstdc++'s std::string with its local buffer, 64 bit.
 */
#pragma once

#include "sense/proc/maps.h"
#include "sense/proc/remote.h"

#define STOREKEY_TEXT 200

struct storekey {
	char key[STOREKEY_TEXT]; /* printable ASCII; "/default_pg/0//ready/1" */
	char given[STOREKEY_TEXT]; /* as the program has called it: "ready/1" */
	size_t n; /* keys that the call waits for; the first one is told */
};

enum {
	STOREKEY_NONE = 40, /* it waits in no library of PyTorch, or no key is to be seen */
};

/* sp: of a thread that stands still in a system call. WORLD_GONE, WORLD_DENIED. */
int must_check storekey_read(const struct maps *m, struct remote *r, uint64_t sp, struct storekey *ret);
