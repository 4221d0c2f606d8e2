/*
 * A Ray node as it holds memory: its raylet, what Ray runs beside it, its workers by the name of their task or actor,
 * and the object store. From the processes that `vigil mem` has found. Bytes; pure.
 *
 * A process is the node's if it descends from the raylet, or if it is one of Ray's own and its command line names the
 * folder of the node's session.
 */
#pragma once

#include "base/text.h"
#include "model/memory/footprint.h"

/* argv: the arguments of a raylet, each with its NUL. False: they are none of a raylet's. */
bool raynode_of(struct span argv, struct raynode *ret);
/* Where it spills objects to: a folder, and the node's own folder in that. "": it is not known. */
void raynode_spill_folder(struct span argv, char *dst, size_t cap);
/* Adds up the parts of all nodes, the largest first. f->ray[].raylet and .session are filled. */
void raynode_settle(struct footprint *f);
