/*
 * What the sources of a bag give, one record after the other: an input of each source, or of those that are linked the
 * first of each, the second of each, …; of several groups every combination, the last one changes fastest. By columns
 * (--colsep) what a source gives is several inputs. A single source that is stdin or a FIFO is read as it comes;
 * everything else is read at the start.
 *
 * An input ends at the delimiter; it may hold any other bytes but NUL, at which it is refused.
 */
#pragma once

#include "agent/map/mapspec.h"

enum { MAPRECORDS_END = 1, MAPRECORDS_LATER = 2 };

/* The inputs of a record or of a task; owned, freed by map_args_done. */
struct map_args {
	char **arg; /* one block with the texts behind */
	size_t n;
	bool piped; /* the task has a block of the source as its stdin: in_fd, from its beginning */
	int in_fd;
	uint64_t in_bytes;
};
void map_args_done(struct map_args *a);

struct maprecords;

/* whole: read all at the start, because their number is asked for. -errno with a sentence. */
int must_check maprecords_open(const struct map_spec *spec, bool whole, struct maprecords **ret, struct fault *f);
struct maprecords *maprecords_close(struct maprecords *in);
static inline void maprecords_closep(struct maprecords **in)
{
	*in = maprecords_close(*in);
}
/* MAPRECORDS_END; MAPRECORDS_LATER: not here yet; -errno with a sentence. */
int must_check maprecords_next(struct maprecords *in, struct map_args *ret, struct fault *f);
/* Of a stream, which whoever else reads it (mapblocks) or polls it borrows; -1: all was read. */
int maprecords_fd(const struct maprecords *in);
/* True if it is stdin that is read, which tasks then do not get. */
bool maprecords_use_stdin(const struct maprecords *in);
/* Their number; 0: not known yet. */
uint64_t maprecords_total(const struct maprecords *in);
/* Begin again; not of a stream. */
void maprecords_rewind(struct maprecords *in);
