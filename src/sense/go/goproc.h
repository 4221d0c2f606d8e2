/*
 * A process that runs a program made by Go, ready to be asked for its goroutines: the layout of its runtime, its table
 * of functions, and where the list of all goroutines is. Read from outside, without stopping it; works on stripped
 * programs too, as nothing is searched by symbol:
 *
 *  - runtime.firstmoduledata is the word in the writable data that points to the table of functions, with the code's
 *    own address behind it;
 *  - runtime.allgs is the slice in the data without initial values whose first g says that it is goroutine 1;
 *  - runtime.waitReasonStrings is the array whose second and third text are those of these two reasons.
 *
 * x86_64 only. WORLD_GONE, WORLD_DENIED, -errno, and the conditions of golayout.h.
 */
#pragma once

#include "sense/go/golayout.h"
#include "sense/go/gopcln.h"
#include "sense/proc/remote.h"

#define GO_REASONS 64
#define GO_REASON_MAX 40

struct goproc {
	const struct world *w; /* borrowed */
	struct remote *remote; /* borrowed */
	char version[GO_VERSION_MAX]; /* "go1.26.8"; also where the result is GO_UNKNOWN */
	struct golayout at;
	struct gopcln pcln; /* of `table` */
	void *table; /* owned */
	uint64_t gofunc; /* base of the trees of inlined calls */
	uint64_t data, edata, bss, ebss; /* variables with pointers: [data, edata), [bss, ebss) */
	uint64_t noptrdata, enoptrbss; /* all variables lie between these */
	uint64_t allgs; /* address of the slice */
	uint32_t tries; /* words of the variables that looked like what was searched; see goproc_try */
	uint64_t frames_end_ns; /* no more stacks are followed after it; 0: none was so far */
	char reason[GO_REASONS][GO_REASON_MAX]; /* by number; "": unknown */
};

/* r: of the process; borrowed until goproc_done. GO_NONE: Go did not make its program; costs a look into its file. */
int must_check goproc_open(const struct world *w, struct remote *r, struct goproc *ret);
void goproc_done(struct goproc *p);

/* Reads a range in parts, so that what is not mapped costs no more than its part; unreadable parts are zeroes. */
int must_check goproc_words(struct goproc *p, uint64_t from, uint64_t *into, size_t n);
/* Counts a word that looks like what is searched, and costs reads to find out. False: there were too many already. */
static inline bool goproc_try(struct goproc *p)
{
	return ++p->tries < 200000;
}
