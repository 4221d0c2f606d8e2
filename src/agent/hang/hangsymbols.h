/*
 * Symbols and unwinding tables that the hang watcher keeps while it gathers evidence. Jobs mostly have the same
 * libraries, so the jobs of one user share them; another user's files may say that they are the same library and be
 * something else, so users share nothing. One watcher, one thread.
 */
#pragma once

#include <sys/types.h>

#include "sense/native/unwind.h"
#include "sense/world.h"

#define HANGSYMBOLS_USERS 16

struct hangsymbols {
	struct {
		uid_t uid;
		struct natives *natives; /* owned */
	} of[HANGSYMBOLS_USERS];
	size_t n;
	uint64_t used_ns; /* when any was last in use */
};

/*
 * For stacks of this process and others of its job; borrowed until hangsymbols_rest frees it. NULL: nothing can be kept
 * (the process has ended, or there are too many users).
 */
struct natives *hangsymbols_of(struct hangsymbols *s, const struct world *w, pid_t pid);
/*
 * Call it between two pieces of work. busy: some may still be borrowed. Some seconds after the last use all are freed,
 * and the memory is given back. Returns when it is to be called again; UINT64_MAX: nothing is kept.
 */
uint64_t hangsymbols_rest(struct hangsymbols *s, uint64_t now_ns, bool busy);
