/*
 * The inputs of a bag's tasks: so many records for each (agent/map/maprecords), or as many as fit into a command's line
 * (-X, -m), or blocks of a stream as their stdin (--pipe). Tasks start before a stream has ended: whoever uses it polls
 * mapinputs_fd() where MAPINPUTS_LATER is returned.
 */
#pragma once

#include "agent/map/maprecords.h"

enum { MAPINPUTS_END = 1, MAPINPUTS_LATER = 2 };

struct mapinputs;

/* whole: read all at the start, because their number is asked for. -errno with a sentence. */
int must_check mapinputs_open(const struct map_spec *spec, bool whole, struct mapinputs **ret, struct fault *f);
struct mapinputs *mapinputs_close(struct mapinputs *in);
static inline void mapinputs_closep(struct mapinputs **in)
{
	*in = mapinputs_close(*in);
}
/* The next task's inputs. MAPINPUTS_END; MAPINPUTS_LATER: not here yet; -errno with a sentence. */
int must_check mapinputs_next(struct mapinputs *in, struct map_args *ret, struct fault *f);
/* To be polled; -1: never. */
int mapinputs_fd(const struct mapinputs *in);
/* True if the inputs are those of stdin, which tasks then do not get. */
bool mapinputs_use_stdin(const struct mapinputs *in);
/* The number of tasks; 0: not known yet. */
uint64_t mapinputs_total(const struct mapinputs *in);
/* Begin again; not of a stream. */
void mapinputs_rewind(struct mapinputs *in);
