/*
 * How much of its time each rank waits for the others, from many quick samples of the stacks of main threads. In a job
 * whose ranks step together all ranks are equally slow; the rank that delays the others is the one that waits least.
 * Pure; zeroed by its owner.
 */
#pragma once

#include "model/hang/activity.h"

#define WAITSHARE_RANKS 64
#define WAITSHARE_WHOM 160
#define WAITSHARE_WHOMS 6
#define WAITSHARE_PLACES 8
/* Parts of the samples, by time, and the looks of one; the last one has the rest as well. */
#define WAITSHARE_BLOCKS 10
#define WAITSHARE_BLOCK 25

/* What a look shows, by the time that it stands for. */
enum waitshare_class {
	WAITSHARE_RANKS_WAIT, /* for other ranks, and no lock */
	WAITSHARE_LOCK, /* for a lock that other ranks take as well */
	WAITSHARE_GPU,
	WAITSHARE_LOADER,
	WAITSHARE_RUNS,
	WAITSHARE_SLEEPS,
	WAITSHARE_STOPPED,
	WAITSHARE_MEMORY,
	WAITSHARE_OTHER, /* for what is no rank */
	WAITSHARE_UNREAD_WAIT, /* for ranks or not: nothing is known of it, nor of others at its place */
	WAITSHARE_CLASSES,
};

struct waitshare_whom {
	char text[WAITSHARE_WHOM]; /* "loader 812 (read, pipe 4711), at train.py:40 in step" */
	uint32_t n; /* samples; 0: free */
	enum waitshare_class of; /* WAITSHARE_LOCK, WAITSHARE_SLEEPS, WAITSHARE_RUNS or WAITSHARE_OTHER */
	bool named; /* it says for whom or what, by the kernel's facts, not only where */
};

/* Waits in one system call at one place of the program. */
struct waitshare_place {
	uint64_t key; /* of the place and the call; 0: free */
	uint32_t for_ranks, not_ranks; /* samples of all ranks there, of which the kernel's facts are known */
	uint32_t unread; /* its own samples, of which they are not */
	uint32_t by_own; /* its own samples in a wait for threads of its own, which may wait for ranks as well */
};

struct waitshare_rank {
	int32_t rank; /* of a job without ranks 0 */
	uint32_t n; /* samples with a stack; the sum of the counts below */
	uint32_t ranks; /* samples in a wait for other ranks */
	uint32_t locks; /* those of `ranks` in a wait for a lock */
	uint32_t gpu; /* samples in a wait for the device */
	uint32_t loader; /* samples in a wait for data */
	uint32_t running; /* samples on a processor or ready to run, or of unknown state */
	uint32_t sleeping; /* samples in a sleep */
	uint32_t stopped; /* samples in which it was stopped (SIGSTOP, a debugger) or its control group frozen */
	uint32_t memory; /* samples in a wait for memory: page faults from disk, swap, memory.high */
	uint32_t other; /* samples in any other wait */
	uint32_t by_threads; /* samples in which it counted for what a thread beside the main one did */
	uint32_t unknown_locks; /* those of `unknown` that are waits for a lock by their frames */
	/* Those of `other` that may be for other ranks: their facts were never read, or a thread of its own looks. */
	uint32_t unknown;
	/* What other waits, waits for locks and sleeps were for or where; the rarest gives way to a new one. */
	struct waitshare_whom whom[WAITSHARE_WHOMS];
	/*
	 * A lock's address is another one in each step, so most waits for it are never read; those at the same place
	 * are taken for what the read ones are.
	 */
	struct waitshare_place place[WAITSHARE_PLACES];
	/*
	 * Of its control group, during the samples: periods of its processor quota, those in which the quota was used
	 * up and the group held back, and the quota. All 0: it has none, or that is unknown.
	 */
	uint64_t periods, throttled;
	double quota_cores;
	/*
	 * Of its main thread, or of all where these count, during the samples: on a processor, ready without one, and
	 * of how long. 0: unknown.
	 */
	uint64_t ran_ns, queued_ns, over_ns;
	uint64_t waits; /* times that it gave up the processor meanwhile, by itself */
	/* By parts of the samples, as looks at one step are alike: how much its own part of a step varies. */
	struct {
		uint16_t n, own, sleeps; /* own: neither waits for ranks nor what may be one; sleeps: those of `own` */
	} block[WAITSHARE_BLOCKS];
};

struct waitshare {
	struct waitshare_rank rank[WAITSHARE_RANKS];
	size_t n;
	uint32_t samples;
	uint64_t took_ns; /* duration of all samples together; filled by the owner */
	uint64_t last_ns; /* end of the last sample; filled by the owner */
};

/* What is known of a sampled main thread beside its stack. */
enum waitshare_sign {
	WAITSHARE_FOR_RANKS = 1, /* by the kernel's facts it waits for another rank */
	WAITSHARE_NATIVE = 2, /* a program without Python: it counts without a stack */
	WAITSHARE_FOR_LOCK = 4, /* by the kernel's facts it waits for a lock that others hold */
	WAITSHARE_UNREAD = 8, /* the kernel's facts of this wait were not read yet */
	WAITSHARE_VAGUE = 16, /* for a thread of its own, which may wait for other ranks in turn: no lock */
	WAITSHARE_FOR_OWN = 32, /* for a thread of its own that was caught at work, or at the end of what is known */
	WAITSHARE_BY_THREAD = 64, /* what another thread does is counted, as the main one waits for that */
	WAITSHARE_FUNCTION = 128, /* `whom` names the function in which it runs or sleeps */
};

/*
 * Adds one sample. The dump may hold main threads only, without details of waits. Ranks beyond 64 are left out. signs:
 * of each process of the dump, WAITSHARE_*; NULL: nothing. whom: what each waits for, by the kernel's facts ("loader
 * 812 (read, pipe 4711)"), or of a sleep and of a program without Python where it is ("in nap", "at main.go:20 in
 * main.main"); NULL, or an element is NULL: unknown.
 */
void waitshare_add(struct waitshare *w, const struct stackdump *d, const uint8_t *signs, const char *const *whom);
/* The part of the looks at all ranks that show this. */
double waitshare_part(const struct waitshare *w, enum waitshare_class c);
/*
 * What most waits of a rank of this class (WAITSHARE_LOCK, WAITSHARE_OTHER) were for, or where it slept
 * (WAITSHARE_SLEEPS) or ran (WAITSHARE_RUNS, of programs without Python); NULL: unknown. What is named counts for more
 * than a place, as the kernel's facts, and stacks of such programs, are read now and then only.
 */
const struct waitshare_whom *waitshare_usual_whom(const struct waitshare_rank *r, enum waitshare_class c);
/* The same of the rank for which it is known best. */
const struct waitshare_whom *waitshare_whom_of_all(const struct waitshare *w, enum waitshare_class c);
/* What the quota of a rank's control group did during the samples so far. */
void waitshare_quota(struct waitshare *w, int32_t rank, double cores, uint64_t periods, uint64_t throttled);
/* What its main thread had of the processors during the samples so far. */
void waitshare_processor(struct waitshare *w, int32_t rank, uint64_t ran_ns, uint64_t queued_ns, uint64_t over_ns,
			 uint64_t waits);
/* The ratio of the time in which it was ready and had no processor, 0 to 1; 0: none, or unknown. */
double waitshare_queued(const struct waitshare_rank *r);
/*
 * The same of the time in which it ran or was ready: on a busy machine that is as much of a rank that computes a little
 * as of one that computes a lot.
 */
double waitshare_crowded(const struct waitshare_rank *r);
/* How often a second it gave up the processor by itself; 0: unknown. */
double waitshare_waits_per_s(const struct waitshare_rank *r);
/* Ratio of the quota's periods in which the group was held back, 0 to 1; 0: none, or no quota. */
double waitshare_throttled(const struct waitshare_rank *r);
/*
 * The same samples with the sleeps of each rank at this place counted as waits for other ranks: ranks that poll for
 * each other sleep in between. *ret is overwritten.
 */
void waitshare_naps_as_waits(const struct waitshare *w, const char *place, struct waitshare *ret);
/*
 * By how much the rank at `at` was busy for itself longer than the middle one of the others, in each part of the
 * samples. Returns their number; 0: they were not kept by parts.
 */
size_t waitshare_apart(const struct waitshare *w, size_t at, double ret[static WAITSHARE_BLOCKS]);
/* Ratio of samples in a wait for other ranks, 0 to 1; 0 without samples. */
double waitshare_waiting(const struct waitshare_rank *r);
/* Of samples in any other wait that is not for a device, data or memory, and is no sleep. */
double waitshare_others(const struct waitshare_rank *r);
/* The same as waitshare_waiting with those that may be for other ranks. */
double waitshare_waiting_most(const struct waitshare_rank *r);
