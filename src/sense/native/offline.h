/*
 * Names of native addresses of a process that may have ended: by file and offset in it, as a heap profile keeps them,
 * without reading the process. The file is searched as the process sees it while it lives, else as vigil sees it, with
 * the rights of the user that the profile is of: who wrote it could name any file. It is only used if it is the file
 * that was mapped: the same inode, or not changed since the process began (an overlay shows other inodes).
 *
 * Files are read once for all processes of a user. Not locked: one thread.
 */
#pragma once

#include "sense/native/rootfile.h"
#include "sense/native/unwind.h"

struct offline_place {
	const char *path; /* absolute, as in the process's maps */
	uint64_t inode;
	uint64_t offset; /* of the instruction in the file */
	int64_t since_unix_ns; /* the process had mapped the file by this time */
};

struct offline;
/* world is borrowed. NULL: no memory. */
struct offline *offline_new(const struct world *w);
struct offline *offline_free(struct offline *o);
static inline void offline_freep(struct offline **o)
{
	*o = offline_free(*o);
}
/*
 * view: the process while it lives, 0 after its end, and the user. Without the file, or without a name there, the kind
 * is NATIVE_UNKNOWN and the name "0x…", the file's own address or offset. Texts live as long as o; module is the file's
 * base name.
 */
void offline_symbol(struct offline *o, const struct rootfile_view *view, const struct offline_place *place,
		    struct native_symbol *ret);
/* Number of files that were asked for and are missing or replaced by now. */
size_t offline_missing(const struct offline *o);
/* The first of them; "": none. */
const char *offline_missing_first(const struct offline *o);
