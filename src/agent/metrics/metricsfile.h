/*
 * The file that the textfile collector of node_exporter reads: <folder>/vigil.prom, readable by all, replaced whole.
 * The folder may be another user's: it is then written with that user's rights, and a link in its place is not
 * followed.
 */
#pragma once

#include "base/fault.h"

#define METRICSFILE_NAME "vigil.prom"

/* Negative errno with a sentence. */
int must_check metricsfile_write(const char *folder, const char *text, size_t len, struct fault *f);
