/*
 * --results FILE.csv, .tsv or .json: a row for each task, with the columns of the joblog, its inputs and what it wrote,
 * as GNU parallel writes them. JSON is one object a line; bytes that are no UTF-8 become U+FFFD there. With --resume
 * rows are added to those that are there.
 */
#pragma once

#include "agent/map/maprecords.h"
#include "model/map/joblog.h"

struct maptable {
	int fd; /* -1: there is none, or it is our stdout */
	enum map_results as;
	bool has_head;
	size_t n_inputs; /* of the first row, which names the columns */
};

/* Also for folders: then there is none. -errno with a sentence. */
int must_check maptable_open(struct maptable *t, const struct map_spec *spec, struct fault *f);
void maptable_close(struct maptable *t);
/* The row of a task; malloc'ed, or NULL. tag: begins each line of what it wrote; may be NULL. */
char *maptable_row(struct maptable *t, const struct joblog_row *row, const struct map_args *args, const char *tag,
		   const int files[2], size_t *ret_len);
/* What stands before the first row, once; malloc'ed; NULL: nothing. */
char *maptable_head(struct maptable *t, size_t *ret_len);
