/*
 * Finds vigil's own files: in VIGIL_DATA_DIR, else in share/vigil beside the
 * program's folder, else, for a program in its build folder, in the source
 * tree. Errors are -errno.
 */
#pragma once

#include <limits.h>

#include "base/base.h"
#include "sense/world.h"

/*
 * Finds the folder `name` ("python", "rules") that holds the file `probe`.
 * source: its path in the source tree. -ENOENT: ret_looked is the folder that
 * was searched.
 */
int must_check datadir_find(const struct world *w, const char *name, const char *source, const char *probe,
			    char dst[static PATH_MAX], char ret_looked[static PATH_MAX]);
/*
 * Finds a library of vigil's that other programs load, as a whole path: VIGIL_DATA_DIR/FILE, else vigil/FILE in the
 * installed folder of libraries (or lib) beside the program's folder, else in the folder `built` of the build folder.
 * -ENOENT: ret_looked is the folder that was searched.
 */
int must_check datadir_library(const struct world *w, const char *file, const char *built, char dst[static PATH_MAX],
			       char ret_looked[static PATH_MAX]);
