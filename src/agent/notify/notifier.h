/*
 * Who watches a job tells of its incidents: puts them into the spool and sees
 * to it that a deliverer runs. No network, no waiting: the supervisor's time is
 * the job's. The deliverer is a process of its own (agent/notify/deliver), started
 * from the same program; it outlives us for a bounded time, and what it cannot
 * deliver stays in the spool for the next one.
 */
#pragma once

#include "model/notify/channel.h"
#include "model/incident/incident.h"
#include "sense/world.h"
#include "tell/notify/spool.h"

#define NOTIFIER_TOLD 32

struct notifier {
	const struct channels *channels; /* those that were chosen; borrowed */
	struct spool spool;
	char state_dir[256], node[80];
	int program_fd; /* ourselves, even if the file is replaced; -1 */
	uint64_t (*mono_ns)(void);
	int64_t (*unix_ms)(void);
	bool due; /* something was put into the spool */
	bool changed; /* the deliverer, since the last tick */
	uint64_t next_look_ns; /* for what others left there */
	pid_t deliverer; /* our child; 0: none */
	bool told_any;
	bool complained;
	struct notifier_told {
		char job[64], kind[24];
		struct notice *lasts; /* a condition, not an event: told again and again; owned; NULL */
		uint64_t again_ns; /* when */
	} told[NOTIFIER_TOLD]; /* not yet taken back */
	size_t n_told;
};

/* Never fails: what cannot be done is said once. channels NULL or empty: nothing is told. */
void notifier_open(struct notifier *n, const struct world *w, const char *state_dir, const struct channels *channels);
/* A hang lasts until one of the three below says otherwise. NULL is fine for n, here and below. */
void notifier_incident(struct notifier *n, const struct incident *i);
/* The job ended well: what was told of it is over. */
void notifier_well(struct notifier *n, const char *job);
/* What was told of a job under this kind is over, and the job goes on. why: one sentence. */
void notifier_over(struct notifier *n, const char *job, const char *kind, const char *why);
/* The attempt of a job has ended, well or not: nothing of it lasts any more. */
void notifier_ended(struct notifier *n, const char *job);
/* When to call notifier_tick, by the monotonic clock; 0: now. */
uint64_t notifier_due_ns(const struct notifier *n);
/* When it is time to: start the deliverer. True if it has changed (started, or known to be gone). */
bool notifier_tick(struct notifier *n);
/* A child of ours has ended. */
void notifier_reaped(struct notifier *n, pid_t pid);
/*
 * Waits a moment for what was just told to be delivered: in a container whose
 * first process we are, everything ends with us. Less than a second.
 */
void notifier_close(struct notifier *n);
