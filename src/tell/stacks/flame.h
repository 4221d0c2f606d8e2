/*
 * Recordings written in the forms that people and programs read. All of them
 * stream to a FILE, use memory for one path of the tree at most beyond the
 * recording itself, and escape what programs put into names.
 *
 * folded      frame;frame;frame count      (Brendan Gregg's collapsed stacks; count = samples)
 * svg         self-contained, searchable, zoomable, works without scripts as a picture
 * html        one file, no network: search, zoom, left-heavy order, per lane, own and total table, difference colours
 * speedscope  https://www.speedscope.app/file-format-schema.json, one sampled profile a lane
 * pprof       gzip'ed profile.proto (github.com/google/pprof/proto/profile.proto)
 * json        "vigil.flame/1": frames[], lanes[], nodes[], meta; what `vigil flame FILE` reads back, as it does
 *             "vigil.heap/1" and "vigil.stacks/1"
 */
#pragma once

#include <stdio.h>

#include "base/fault.h"
#include "model/stacks/stackset.h"

enum flame_format { FLAME_SVG, FLAME_HTML, FLAME_FOLDED, FLAME_SPEEDSCOPE, FLAME_PPROF, FLAME_JSON };

/*
 * s: a view (stackset_view) for FLAME_SVG and FLAME_FOLDED; the other formats take the whole recording. -EIO: the
 * stream failed.
 */
int must_check flame_write(const struct stackset *s, enum flame_format format, FILE *to);
/* The difference of two recordings: blue is less, red is more. SVG, HTML, folded ("stack a b"), JSON; else -ENOTSUP. */
int must_check flame_diff_write(const struct stackset *a, const struct stackset *b, enum flame_format format, FILE *to);
/* Reads back FLAME_JSON and folded text, and the JSON of `vigil heap` and `vigil stack`. -EBADMSG with a fault. */
int must_check flame_read(const char *text, size_t len, struct stackset **ret, struct fault *f);
/* The lines printed after every recording: labelled numbers of its quality, each with a sentence. */
void flame_summary(const struct stackset *s, FILE *to);
