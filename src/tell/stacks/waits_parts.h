/* Shared by the files that implement tell/stacks/waits_show.h. */
#pragma once

#include "tell/stacks/waits_show.h"

/*
 * One arrow, or several to threads of one process of which any may be meant: those stand for one another and are shown
 * as one.
 */
struct waits_arrow {
	const struct waitgraph_edge *edge; /* the first */
	uint32_t n; /* threads that may be meant */
};

/* Takes the next arrow of a node. at: begins with 0. False: there is no more. */
bool waits_arrow_next(const struct waitgraph *g, const struct waitgraph_node *n, uint32_t *at, struct waits_arrow *ret);

/*
 * Which nodes are shown: main threads, those that are in the way of one that is shown, and the first end's; all of
 * them where that is asked for. One byte a node, to be freed. NULL without memory.
 */
bool *waits_shown(const struct waits_view *v, const struct waits_how *how);

/* What an arrow is of: "tcp", "lock", "python". */
const char *waits_arrow_kind(const struct waitgraph_edge *e);
const char *waits_end_name(enum waitgraph_end e); /* "nobody" */
/* "runs", "sleeps", "ended" or "waits". */
const char *waits_does(const struct waitgraph_node *n);
/* "rank 2", "thread 812 of rank 2". in: a node whose process is not named again; WAITGRAPH_NONE: none. */
void waits_who(const struct waitgraph *g, uint32_t node, uint32_t in, char *dst, size_t cap);
/* What it waits for, without control characters: "recv, tcp …; nobody is left who could end this wait". */
void waits_what(const struct waitgraph_node *n, char *dst, size_t cap);
/* As in vigil.waits/1. */
struct js *waits_arrow_json(const struct waitgraph *g, const struct waits_arrow *a);
