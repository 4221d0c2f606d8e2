/*
 * Whether any other thread can reach an object: its reference count against the references that the frames of the
 * waiting thread and the object's own parts hold. Where all are accounted for, and there is no weak reference, nobody
 * else has it. An account that is too low only says "others have it".
 *
 * What can reach every object, or the frames of another thread, is not counted: a debugger, gc.get_objects(),
 * sys._current_frames().
 */
#pragma once

#include "sense/python/pyslots.h"

struct pyrefs;

/* Collects the references of a thread's frames, innermost first. *ret is malloc'ed. Errors as pyslots_read. */
int must_check pyrefs_new(struct pyslots_reader *r, const struct pyframe *frames, size_t n, struct pyrefs **ret);
struct pyrefs *pyrefs_free(struct pyrefs *p);
static inline void pyrefs_freep(struct pyrefs **p)
{
	*p = pyrefs_free(*p);
}
/*
 * *ret: the frames and these objects hold every reference to these objects. `lock` is the one that the innermost frame
 * waits for. REMOTE_FAULT, WORLD_GONE, WORLD_DENIED.
 */
int must_check pyrefs_only_own(struct pyrefs *p, const uint64_t *objects, size_t n, uint64_t lock, bool *ret);
