/*
 * Reports the incidents of a job to people: puts notices into the spool and starts a deliverer. It uses no network and
 * does not wait, since the supervisor's time is the job's. The deliverer (agent/notify/deliver) is a process of its
 * own, started from the same program. It outlives the supervisor for a bounded time; what it cannot deliver stays in
 * the spool for the next one.
 */
#pragma once

#include "model/notify/channel.h"
#include "model/incident/incident.h"
#include "sense/world.h"
#include "tell/notify/spool.h"

#define NOTIFIER_REPORTED 32

struct notifier {
	const struct channels *channels; /* the chosen channels; borrowed */
	struct spool spool;
	char state_dir[256], node[80];
	int program_fd; /* vigil's own program, even if its file is replaced; -1: not open */
	uint64_t (*mono_ns)(void);
	int64_t (*unix_ms)(void);
	bool due; /* a deliverer is needed */
	bool changed; /* the deliverer started or ended since the last tick */
	uint64_t next_scan_ns; /* next check for notices of others */
	pid_t deliverer; /* child process; 0: none */
	bool put_any;
	bool complained;
	struct notifier_reported {
		char job[64], kind[24];
		struct notice *lasts; /* a condition that lasts and is repeated; owned; NULL: an event */
		uint64_t again_ns; /* time of the next reminder */
	} reported[NOTIFIER_REPORTED]; /* notices that were sent and not resolved yet */
	size_t n_reported;
};

/* Never fails; problems are logged once. With channels NULL or empty nothing is reported. */
void notifier_open(struct notifier *n, const struct world *w, const char *state_dir, const struct channels *channels);
/* Reports an incident. A hang lasts until one of the three functions below ends it. n may be NULL, here and below. */
void notifier_incident(struct notifier *n, const struct incident *i);
/* Reports a loss that became NaN or infinite (model/notify/notice). Nothing resolves it. */
void notifier_loss(struct notifier *n, const char *job, uint32_t attempt, const char *what);
/* Something that is no incident yet: one notice of severity warning. */
void notifier_warning(struct notifier *n, const char *job, const char *node, const char *kind, const char *text);
/* The job ended well: resolves everything that was reported of it. */
void notifier_ok(struct notifier *n, const char *job);
/* Resolves what was reported of a job under this kind; the job goes on. why: one sentence. */
void notifier_over(struct notifier *n, const char *job, const char *kind, const char *why);
/* The attempt of a job has ended, well or not: stops its reminders. */
void notifier_ended(struct notifier *n, const char *job);
/* Monotonic time at which notifier_tick is to be called; 0: now; UINT64_MAX: never. */
uint64_t notifier_due_ns(const struct notifier *n);
/*
 * Sends reminders and starts the deliverer when they are due. True: the deliverer has started or ended since the last
 * call.
 */
bool notifier_tick(struct notifier *n);
/* To be called for each child that was reaped; others than the deliverer are ignored. */
void notifier_reaped(struct notifier *n, pid_t pid);
/*
 * Waits less than a second for the last notices to be delivered: where vigil is the first process of a container, every
 * process ends with it.
 */
void notifier_close(struct notifier *n);
