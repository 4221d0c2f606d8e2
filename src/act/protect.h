/*
 * Protects a job from OOM killers: lowers oom_score_adj of a job's processes,
 * keeps memory for its control group, and asks systemd-oomd to spare it. Every
 * value is read back, and the old ones are returned so that they can be put
 * back. A refused change is reported; no change beyond the request is made.
 * Sources: kernel proc.rst (oom_score_adj), cgroup-v2.rst (memory.low,
 * memory.min), systemd.resource-control(5) (ManagedOOMPreference).
 */
#pragma once

#include "base/base.h"
#include "sense/memory/cgroup.h"
#include "sense/proc/proc.h"

/* The protection requested; made by judge/memory/protect from a level. */
struct protect_request {
	int oom_score_adj;
	bool low, min;      /* keep the group's present memory: memory.low, memory.min */
	bool avoid, omit;   /* systemd-oomd's preference */
	bool raise_helpers; /* where lowering is refused, raise the value of expendable processes instead */
	bool dry_run;       /* read only, write nothing */
	bool cannot_lower;  /* for a dry run: lowering oom_score_adj is not permitted here, as the caller has tested */
};

struct protect_target {
	struct proc_id id;
	bool expendable; /* a compiler or helper: the job survives without it */
};

enum protect_result {
	PROTECT_DONE,    /* now at the wanted value */
	PROTECT_ALREADY, /* had the wanted value before */
	PROTECT_PARTLY,  /* lowered as far as the kernel allowed */
	PROTECT_RAISED,  /* expendable: raised instead */
	PROTECT_REFUSED,
	PROTECT_GONE,
};

struct protect_row {
	struct proc_id id;
	int before, after; /* oom_score_adj */
	bool has_values;
	enum protect_result result;
	int error;         /* errno of a refusal */
};

/* One value of the group: a memory limit or systemd-oomd's preference. */
struct protect_value {
	bool tried, done;
	bool has_before;
	uint64_t before, after; /* bytes; for preferences 0 or 1 */
	char how[96];     /* "memory.low", "systemd property", "xattr user.oomd_avoid" */
	char why_not[200]; /* empty when done */
};

struct protect_outcome {
	struct protect_row *row; /* owned */
	size_t n;
	size_t n_done, n_refused, n_raised;
	/* the group; its path is relative to the cgroup root, its name as /proc/PID/cgroup says */
	char group_path[CGROUP_PATH_MAX], group_name[CGROUP_PATH_MAX];
	bool has_group, group_shared;
	size_t n_others;         /* processes of the group that are not of the job */
	uid_t group_owner;
	struct protect_value low, min, avoid, omit;
	uint64_t effective_low_bytes; /* smallest memory.low from the group up to the top */
	char low_stopped_at[CGROUP_PATH_MAX];
};

/*
 * place: the group of the main process of the job; NULL: changes no group. Only -ENOMEM is an error; refusals are in
 * the outcome.
 */
int must_check protect_apply(const struct world *w, const struct protect_target *targets, size_t n,
			     const struct cgroup_place *place, const struct protect_request *want,
			     struct protect_outcome *ret);
void protect_outcome_done(struct protect_outcome *o);

/* Put values back. WORLD_GONE, WORLD_DENIED, WORLD_ABSENT. */
int must_check protect_restore_adj(const struct world *w, struct proc_id id, int adj);
/* file: "memory.low" or "memory.min". */
int must_check protect_restore_memory(const struct world *w, const char *group_path, const char *group_name,
				      const char *file, uint64_t bytes);
/* name: "oomd_avoid" or "oomd_omit". */
int must_check protect_restore_preference(const struct world *w, const char *group_path, const char *group_name,
					  const char *name, bool on);

/* Unit and manager of a group's name ("/system.slice/x.service"): the last part, if it is a unit. Pure. */
bool protect_unit_of(const char *group_name, char *ret_unit, size_t cap, bool *ret_user);
