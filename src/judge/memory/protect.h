/*
 * What can still end a job after it was protected, with reasons and numbers. Pure: from the values that were written
 * and read back to findings. A threat that is certain to apply when its condition comes true is a warning; one that is
 * ruled out is not listed.
 *
 * A common misunderstanding is cleared up by this: an oom_score_adj of -1000 binds only the kernel's own OOM killer.
 */
#pragma once

#include "model/host/finding.h"
#include "model/memory/ledger.h"
#include "model/host/machine.h"

enum protect_level {
	PROTECT_LOW,    /* likely not the first to go */
	PROTECT_NORMAL, /* last but for what cannot be ended */
	PROTECT_HIGH,   /* the very last, with memory kept for it */
	PROTECT_MAX,    /* never by the kernel's killer: the machine may lock up instead */
	PROTECT_LEVEL_MAX,
};

/* What a level asks for. */
struct protect_wish {
	int oom_score_adj;
	bool avoid, omit;        /* systemd-oomd's preference */
	bool low, min;           /* keep the group's present memory: softly, hard */
};
struct protect_wish protect_wish_of(enum protect_level l);
const char *protect_level_name(enum protect_level l);

#define PROTECT_LEVELS 12
struct protect_facts {
	enum protect_level level;
	bool guarded;            /* vigil runs or watches it, and acts before the kernel does */
	size_t n_processes;
	uint64_t own_bytes;      /* of all its processes */
	/* oom_score_adj as read back */
	bool has_adj;
	int adj_lowest, adj_highest;
	size_t n_adj_refused;    /* processes whose value vigil may not lower */
	size_t n_raised;         /* helpers that were raised instead */
	/* the group */
	char group[256];
	bool group_shared;       /* other processes live in it too */
	size_t n_others;
	bool group_root_owned;
	bool has_low;            /* memory.low exists and was read back */
	uint64_t low_bytes, min_bytes, effective_low_bytes; /* effective: what all ancestors grant */
	char low_stopped_at[256]; /* the ancestor that grants least */
	/* systemd-oomd */
	bool avoid, omit;        /* read back */
	char pressure_unit[128]; /* the watched ancestor; "": none known */
	bool pressure_same_owner; /* that ancestor belongs to the group's owner */
	double pressure_limit_ratio; /* 0: the default applies */
	bool swap_watched, swap_known; /* the root slice is watched for swap */
	/* limits above the job, innermost first */
	struct ledger_level limit[PROTECT_LEVELS];
	char limit_name[PROTECT_LEVELS][256];
	size_t n_limits;
	const struct probe *machine;
};

/* Appends, most likely first. */
void protect_threats(const struct protect_facts *p, struct findings *ret);
