/*
 * Shared by the writers of recordings: totals, labels, colours, sentences about losses. Each writer has a file of its
 * own.
 */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "model/stacks/stackset_parts.h"
#include "tell/stacks/flame.h"
#include "tell/text/sink.h"

/* Sums of the self values of each node and everything below it, malloc'ed. */
int must_check flame_totals(const struct stackset *s, uint64_t **ret);
/* The same in place, for an array with one value for each node. */
void flame_sum_up(const struct stackset *s, uint64_t *values);

/* A label of any length, in memory that is reused. */
struct label {
	char *text; /* owned */
	size_t cap;
};
void label_done(struct label *l);
int must_check label_of(struct label *l, const struct frame *f);

/* A frame's colour is chosen by its kind, and for notes by their text. */
enum flame_colour {
	COLOUR_PYTHON,
	COLOUR_NATIVE,
	COLOUR_KERNEL,
	COLOUR_NOTE,
	COLOUR_IDLE,
	COLOUR_GIL,
	COLOUR_GC,
	COLOUR_MAX,
};
enum flame_colour flame_colour_of(const struct frame *f);
const char *flame_colour_name(enum flame_colour c); /* "python", "waiting for the GIL" */

/* True for folded text, which has counts and no times: one sample counts as one "nanosecond". */
bool flame_counts_only(const struct stackset *s);
/* "12.4 s", or "31 samples" if only counts are known. */
char *flame_amount(const struct stackset *s, uint64_t ns, char dst[static 40]);
/* "4981 samples at 99.6 of 100 Hz in 5.0 s; 3 dropped (0.06 %); …" */
char *flame_losses(const struct stackset_meta *m, char *dst, size_t cap);
/* "rank 0 loader 812, thread MainThread 812": a lane for people. */
char *flame_lane_name(const struct stack_lane *l, char *dst, size_t cap);
/* The members of meta, without braces. */
void flame_put_meta(struct sink *k, const struct stackset_meta *m);
void flame_put_lanes(struct sink *k, const struct stackset *s);

/*
 * About `most` of the heaviest nodes (roots always, and at most one more for each node kept); the rest of what a node
 * calls stands below it as one note frame, so that no time is lost or moved to another function.
 */
int must_check flame_thin(const struct stackset *s, size_t most, struct stackset **ret);

int must_check flame_folded_write(const struct stackset *s, FILE *to);
int must_check flame_folded_read(struct span text, struct stackset *to, struct fault *f);
int must_check flame_json_write(const struct stackset *s, FILE *to);
int must_check flame_json_read(struct span text, struct stackset *to, struct fault *f);
/* One frame of any of vigil's JSON forms, as an id of `to`. */
int must_check flame_frame_read(const struct js *o, struct stackset *to, uint32_t *ret);
/* "vigil.heap/1" with bytes for time, and "vigil.stacks/1", in which each thread is one sample. */
int must_check flame_heap_read(const struct js *j, struct stackset *to);
int must_check flame_stacks_read(const struct js *j, struct stackset *to);
int must_check flame_svg_write(const struct stackset *s, FILE *to);
int must_check flame_html_write(const struct stackset *s, FILE *to);
int must_check flame_speedscope_write(const struct stackset *s, FILE *to);
int must_check flame_pprof_write(const struct stackset *s, FILE *to);

/* Two recordings in one tree. */
struct flame_pair {
	const struct stackset *a, *b; /* borrowed */
	struct stackset *both;
	struct stack_diff_row *rows;
	size_t n;
	uint64_t a_weight, b_weight; /* all of each */
};
int must_check flame_folded_diff(const struct flame_pair *p, FILE *to);
int must_check flame_json_diff(const struct flame_pair *p, FILE *to);
int must_check flame_svg_diff(const struct flame_pair *p, FILE *to);
int must_check flame_html_diff(const struct flame_pair *p, FILE *to);
