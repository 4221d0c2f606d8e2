/*
 * The rows of `vigil top`: which processes of a footprint are shown, in what order, and what share of a processor each
 * has used since the last look. Pure.
 */
#pragma once

#include "base/base.h"
#include "model/memory/footprint.h"
#include "sense/proc/proc.h"

/* What was read of a process beside its memory. */
struct toplist_look {
	struct proc_id id;
	uint64_t cpu_ns; /* used since its start */
	char state; /* R S D T Z as proc_pid_stat(5) has it; '?' if it could not be read */
	bool has_uid;
	uid_t uid;
	char user[24]; /* the name of uid, or its number; "": not known */
};

enum toplist_sort {
	TOPLIST_OWN,
	TOPLIST_RESIDENT,
	TOPLIST_SHARED,
	TOPLIST_PSS,
	TOPLIST_GPU,
	TOPLIST_CPU,
	TOPLIST_TIME,
	TOPLIST_PID,
	TOPLIST_SORT_MAX,
};
/* "own", "res", "shr", "pss", "gpu", "cpu", "time", "pid"; for tables of options, NULL at the end. */
extern const char *const toplist_sorts[];

struct toplist_want {
	enum toplist_sort sort; /* largest first; pid: smallest first */
	bool inverted; /* the last one comes first */
	bool tree; /* children under their parents, the processes of a job together */
	const struct proc_id *folded; /* n_folded: of these a tree does not show what is below them */
	size_t n_folded;
	bool all; /* not only processes of jobs */
	bool has_uid; /* only processes of uid */
	uid_t uid;
	const char *filter; /* in the command, the job's id or the pid; letters of both cases are the same; "": all */
};

struct toplist_row {
	const struct footprint_row *process; /* borrowed */
	unsigned depth; /* in the tree; else 0 */
	bool folded; /* in the tree: there are children, which are not shown */
	bool marked; /* by who shows the list */
	bool has_cpu, has_time;
	double cpu_ratio; /* processors used since the last look */
	uint64_t cpu_ns; /* processor time since its start */
	char state;
	char user[24]; /* "": not known */
};

struct toplist {
	struct toplist_row *row; /* owned */
	size_t n;
	size_t hidden; /* processes that are of no job, and not shown for that */
};

/* Deeper children are shown at this depth. */
#define TOPLIST_DEEPEST 16

/* Looks are sorted by pid, each pid once. elapsed_ns: between the two; 0 where there is no earlier one. -ENOMEM. */
int must_check toplist_make(const struct footprint *f, const struct toplist_look *was, size_t n_was,
			    const struct toplist_look *now, size_t n_now, uint64_t elapsed_ns,
			    const struct toplist_want *want, struct toplist *ret);
void toplist_done(struct toplist *l);
