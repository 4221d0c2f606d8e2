/*
 * Where vigil's own files lie: VIGIL_DATA_DIR, or share/vigil beside the
 * program's folder, or the source tree for a program that lies where it was
 * built.
 */
#pragma once

#include <limits.h>

#include "base/base.h"
#include "sense/world.h"

/*
 * The folder `name` ("python", "rules") that has the file `probe` in it.
 * source: where it is in the source tree. -ENOENT, and *ret_looked says where
 * the last look was.
 */
int must_check datadir_find(const struct world *w, const char *name, const char *source, const char *probe,
			    char dst[static PATH_MAX], char ret_looked[static PATH_MAX]);
/*
 * A library of ours that other programs load: VIGIL_DATA_DIR/FILE, vigil/FILE in the folder of libraries it was installed
 * with (or lib) beside the program's folder, or where it was built (the build folder's `built`). The whole path. -ENOENT,
 * and *ret_looked.
 */
int must_check datadir_library(const struct world *w, const char *file, const char *built, char dst[static PATH_MAX],
			       char ret_looked[static PATH_MAX]);
