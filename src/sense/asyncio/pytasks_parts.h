/*
 * The inside of pytasks: shared by its files only.
 */
#pragma once

#include "sense/asyncio/pytasks.h"

/* Where the fields of a task are. */
struct pytasks_layout {
	uint32_t size; /* of a task */
	uint32_t state, waiter, coro, name;
	/* 3.14 and later: */
	uint32_t node; /* its place in a list */
	uint32_t thread_head, interp_head; /* of the lists */
};

struct pytasks_reader {
	const struct world *w;
	const struct pyrt *rt;
	struct pycodes *codes;
	struct pyobjs objs;
	struct pytasks_layout layout;
	struct pytasks *out;
	uint64_t links_end_ns; /* processor time of this thread; no more links are looked for after it */
};

/*
 * The slots of a frame that does not run: from 3.11 on its variables and its evaluation stack, before the stack alone.
 * *ret_n 0: none.
 */
int must_check pytasks_stack_of(struct pytasks_reader *x, uint64_t frame, uint64_t *ret_base, uint64_t *ret_n);
/* Reads the code and the instruction of a frame, which does not run. REMOTE_FAULT: it cannot be read. */
int must_check pytasks_frame_read(struct pytasks_reader *x, uint64_t addr, struct pyframe *ret);
int must_check pytasks_name_read(struct pytasks_reader *x, uint64_t name, char *dst, size_t cap);
/*
 * pytasks_failed.c: adds the object at this address to `failed` if it is a task that has ended by an exception which
 * nobody has asked for. Errors as pytasks_read.
 */
int must_check pytasks_failed_add(struct pytasks_reader *x, uint64_t addr);
/* Reads the tasks at these addresses into `out`, twice. Errors as pytasks_read. */
int must_check pytasks_fill(struct pytasks_reader *x, const uint64_t *addr, size_t n);

/* pytasks_find.c: addresses of what should be tasks. *ret is malloc'ed. */
int must_check pytasks_find(struct pytasks_reader *x, const struct pythread *threads, size_t n_threads, uint64_t **ret,
			    size_t *ret_n);
/* The layout from a section .AsyncioDebug. False: it is none that is known. Pure. */
#define PYTASKS_DEBUG_WORDS 13
bool pytasks_layout_parse(const uint64_t words[static PYTASKS_DEBUG_WORDS], struct pytasks_layout *ret);

/* pytasks_links.c */
/* Fills `work`, and which task awaits which. */
int must_check pytasks_links_find(struct pytasks_reader *x);
/* Fills `fd`, by the objects that asyncio's own frames of the task have. */
void pytask_fd_find(struct pytasks_reader *x, struct pytask *t);
/* A variable of a frame by its name, among the first ones. 0: it has none. */
uint64_t pytasks_local(struct pyobjs *o, const struct pyframe *f, const char *name);
/* True: it is a file of asyncio. */
bool pytask_is_library(const struct pyframe *f);

/*
 * A program can make its tasks so that each question costs much. False: what was asked so far has taken its share, the
 * rest is not asked.
 */
bool pytasks_has_time(const struct pytasks_reader *x);
/* True if this object is one of the tasks. */
bool pytasks_has(const struct pytasks *out, uint64_t object);
/* pytasks_forsaken.c: fills `forsaken`, by the links and frames. */
int must_check pytasks_forsaken_find(struct pytasks_reader *x);
