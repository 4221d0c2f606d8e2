/*
 * What the parts of the post-mortem share. Each pm_x looks at one kind of
 * proof: true when it has decided the verdict, false when it left *i as it
 * was (but for evidence). Only postmortem*.c include this.
 */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "judge/death/postmortem.h"

/* The wait status, taken apart once. */
struct ending {
	bool known;
	bool exited;
	int code;       /* when exited */
	int signal;     /* when ended by a signal; 0 */
	int told;       /* signal, or the one that exit code 128+n tells of; 0 none */
	bool killed;    /* SIGKILL, exit 137, or unknown: an unseen hand is possible */
	bool failed;    /* anything but exit 0 (unknown counts) */
};

struct pm {
	const struct death *d;
	struct ending end;
	struct incident *i;
};

/* Words */
#define PM_WHO 160
const char *pm_who(const struct death *d, char dst[static PM_WHO]);
void pm_verdict(struct pm *p, enum incident_kind kind, enum killer killer, const char *id, enum confidence c);
void pm_summary(struct pm *p, const char *fmt, ...) printf_like(2, 3);
void pm_text(struct pm *p, const char *fmt, ...) printf_like(2, 3);
void pm_killer_text(struct pm *p, const char *fmt, ...) printf_like(2, 3);
void pm_culprit(struct pm *p, int32_t rank);

/* Relations */
bool pm_group_covers(const char *outer, const char *inner); /* equal, or an ancestor */
bool pm_unit_covers(const char *unit, const char *cgroup);  /* a path component of it */
bool pm_time_fits(const struct death *d, int64_t t, int64_t before_end_ms); /* unknown times fit */
const struct death_former *pm_former(const struct death *d, pid_t pid);
const struct log_hint *pm_hint(const struct death *d, const char *id);
bool pm_peerish(const char *text); /* an exception that a lost peer causes */
bool pm_broken_pipe(const char *text); /* one that the end of a process on this machine causes */
bool pm_unavailable(const struct death *d, const char *source);
uint64_t pm_group_kills(const struct death *d); /* growth of the own group's OOM counter; 0 also if unknown */

/* Proofs, in order */
bool pm_kernel(struct pm *p);
bool pm_killer_by_pid(struct pm *p);
bool pm_sender(struct pm *p);
bool pm_worker_sender(struct pm *p); /* of the signal to a worker that its log says took it down */
bool pm_worker_sender_silent(struct pm *p); /* the same where nothing else says why it failed */
bool pm_killer_by_group(struct pm *p);
bool pm_counters(struct pm *p);
bool pm_first_error(struct pm *p); /* another rank's exception came first */
bool pm_shm(struct pm *p);
bool pm_log(struct pm *p);
bool pm_own_error(struct pm *p); /* its own exception, which its log does not show */
bool pm_crash(struct pm *p);
bool pm_is_crash(int signal); /* one by which programs crash */
void pm_leftover(struct pm *p);

/* Things worth saying whatever the verdict */
void pm_rules(struct pm *p);
void pm_neighbours(struct pm *p);
void pm_looked_at(struct pm *p);
void pm_errors_evidence(struct pm *p);

/* Advice */
void pm_advise_limit(struct pm *p, const char *group, uint64_t limit_bytes);
void pm_advise_less_memory(struct pm *p);
void pm_advise_oomd(struct pm *p, const struct killer_line *l);
void pm_advise_shm(struct pm *p);
void pm_advise_core(struct pm *p);
void pm_advise_gpu(struct pm *p, const struct log_hint *h);
void pm_advise_unknown_kill(struct pm *p);
