/*
 * The name that a program has given an actor of Ray (Actor.options(name=…)): it stands in the actor's handle, a
 * protobuf message that Ray keeps in serialised form in the memory of the actor's own process, and in no file or title.
 * Source: Ray 2.60, ActorHandle of src/ray/protobuf/core_worker.proto: field 1 has the actor's id, 2 that of its owner,
 * 4 its job's, 10 its name, 11 the namespace. Fields of a message that Ray has written come in the order of their
 * numbers.
 *
 * Such a message is searched in the memory of malloc's. An actor keeps its name as long as it lives, so that one which
 * is left over says the same. The name is the user's: it may hold anything.
 */
#pragma once

#include "base/text.h"
#include "sense/proc/remote.h"
#include "sense/pylib/raycall.h"

#define RAYHANDLE_NAME 64
#define RAYHANDLE_BYTES 4096 /* no more of a message is looked at */

/*
 * bytes: from the beginning of a message on. False: it is no handle of that actor, or ends too early. *ret_name: its
 * name, which bytes have; empty: the actor has none. Pure.
 */
bool rayhandle_parse(struct span bytes, const struct raycall_actor *a, struct span *ret_name);
/*
 * Searches in the process that is this actor. dst: the name, without control characters; "": it has none.
 * REMOTE_FAULT: no handle was found. WORLD_GONE, WORLD_DENIED, -ENOMEM.
 */
int must_check rayhandle_name_read(const struct world *w, struct remote *r, const struct raycall_actor *a,
				   char dst[static RAYHANDLE_NAME]);
