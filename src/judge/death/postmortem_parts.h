/*
 * Shared by the files of the post-mortem. Each pm_x looks at one kind of proof: true when it has decided the verdict,
 * false when it left *i as it was (but for evidence). Only postmortem*.c include this.
 */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "judge/death/postmortem.h"

/* The wait status in parts. */
struct ending {
	bool known;
	bool exited;
	int code; /* when it exited */
	int signal; /* when a signal ended it; 0: none */
	int reported; /* the signal, or the one that exit code 128+n stands for; 0: none */
	bool killed; /* SIGKILL, exit 137, or unknown: an unseen killer is possible */
	bool failed; /* anything but exit 0; unknown counts as failed */
};

/* Exit statuses from 128 + this one on are the program's own: no shell tells of real-time signals by them. */
#define PM_REAL_TIME 32

struct pm {
	const struct death *d;
	struct ending end;
	struct incident *i;
	const struct log_hint *said; /* the exception that the verdict tells of, for advice; NULL: none */
	const struct log_hint *before; /* that of a child, told beside it; NULL: none */
};

/* ---- writing ---- */
#define PM_WHO 160
const char *pm_who(const struct death *d, char dst[static PM_WHO]);
void pm_verdict(struct pm *p, enum incident_kind kind, enum killer killer, const char *id, enum confidence c);
void pm_summary(struct pm *p, const char *fmt, ...) printf_like(2, 3);
void pm_text(struct pm *p, const char *fmt, ...) printf_like(2, 3);
void pm_quote(struct pm *p, const char *intro, const char *text, bool cut); /* a line of its log, as a sentence */
void pm_exception_text(struct pm *p, const struct log_hint *h); /* with the first one of its chain */
void pm_killer_text(struct pm *p, const char *fmt, ...) printf_like(2, 3);
void pm_culprit(struct pm *p, int32_t rank);

#define PM_FROM 80
/* Who sent it, as a part of a sentence: "sent by bash (pid 812, uid 1000)", "sent from vigil's page by its admin". */
const char *pm_from(const struct signal_sent *s, char dst[static PM_FROM]);
bool pm_by_vigil(const struct signal_sent *s); /* of its own accord: not for who asked on its page */

/* ---- comparisons ---- */
bool pm_group_covers(const char *outer, const char *inner); /* the same group, or an ancestor of it */
bool pm_unit_covers(const char *unit, const char *cgroup); /* it is a component of the path */
bool pm_time_fits(const struct death *d, int64_t t, int64_t before_end_ms); /* unknown times fit */
const struct death_former *pm_former(const struct death *d, pid_t pid);
const struct log_hint *pm_hint(const struct death *d, const char *id); /* NULL also where it is past */
/* A line of a log ("stderr:12") has a message that the program lived on after, or is of an earlier traceback. */
bool pm_past_words(const struct death *d, const char *place, const char *text);
const struct log_hint *pm_last_line(const struct death *d); /* NULL: no output, or none that could be read */
/* The exception in the same log that another process had ended with when this one reported its end; NULL. */
const struct log_hint *pm_cause_before(const struct death *d, const struct log_hint *reporter);
/* The same, or else one that says that a peer was lost. */
const struct log_hint *pm_said_before(const struct death *d, const struct log_hint *reporter);
/* The latest exception in the same log that ended a thread of the process before this one ended the process; NULL. */
const struct log_hint *pm_thread_before(const struct death *d, const struct log_hint *last);
const struct log_hint *pm_latest_before(const struct death *d,
					const struct log_hint *last); /* the exception before it */
bool pm_thread_after(const struct death *d, const struct log_hint *last); /* an exception of a thread stands after it */
const struct log_hint *pm_latest_traceback(const struct death *d); /* also one after which the program went on; NULL */
bool pm_has_any(const char *text, const char *const *words, size_t n);
bool pm_reports_other(const char *text); /* the text of an exception by which a launcher reports on a child */
bool pm_lost_worker(const char *text); /* the text of one that the end of a worker causes in its parent */
void pm_order_evidence(struct pm *p); /* the messages of the logs, and which of them are past */
bool pm_peerish(const char *text); /* the text of an exception that a lost peer causes */
bool pm_broken_pipe(const char *text); /* the text of one that the end of a process on this machine causes */
extern const char pm_ray_words[]; /* what is known of a Ray worker's death */
bool pm_of_job(const struct death *d, pid_t pid); /* the process, or another one that was seen in its job */
bool pm_unavailable(const struct death *d, const char *source);
uint64_t pm_group_kills(const struct death *d); /* growth of the own group's OOM counter; 0: none or unknown */

enum incident_kind pm_kind_of(enum killer k); /* of a death by this killer */
void pm_line_evidence(struct pm *p, const struct killer_line *l);

/*
 * ---- a worker instead of the process ----
 * True when the process ended for want of a worker whose own end was seen: *ret is that worker's death. *ret_sure is
 * false where that is likely only.
 */
bool pm_worker_focus(const struct pm *p, struct death *ret, bool *ret_sure);
const struct process_end *pm_ended_child(const struct death *d); /* that a stranger or a fault ended moments before */
/* A child that left with a status of its own, at most so long before; NULL. */
const struct process_end *pm_left_worker(const struct death *d, int64_t within_ms);
int32_t pm_failed_rank(const struct death *d); /* of the rank below the process that failed first; NO_RANK */
size_t pm_failed_ranks(const struct death *d); /* how many of those did not end well */
bool pm_early_rank(const struct death *d, struct death_rank *ret); /* below it the first to end, well or by a signal */
bool pm_failed_child(struct pm *p); /* a launcher ended, with words of its own, as one of its processes had failed */
bool pm_timeout(struct pm *p); /* timeout(1) ended its command */
void pm_worker_said(struct pm *p, const struct death *whole); /* adds what the process itself ended with */

/* ---- proofs, in order ---- */
bool pm_kernel(struct pm *p);
bool pm_killer_by_pid(struct pm *p);
bool pm_sender(struct pm *p);
bool pm_after_signal(struct pm *p);
bool pm_asked_to_end(struct pm *p); /* it left shortly after a signal that asks a process to end */
void pm_asking_signal_told(struct pm *p); /* adds that signal to an exception */
void pm_notice_told(struct pm *p); /* adds SIGUSR1 or SIGUSR2, by which schedulers announce an end, to last words */
bool pm_peer(struct pm *p); /* a library says that a peer was lost */
bool pm_connection(struct pm *p); /* its exception is one that a rank which was gone may cause */
void pm_peer_doubted(struct pm *p,
		     const struct log_hint *h); /* the same where no rank was: its exception is no cause */
void pm_ended_early_told(struct pm *p, const struct death_rank *r);
void pm_child_told(struct pm *p, const struct log_hint *h); /* h: its exception */
/* The latest signal of those that ask a process to end, sent by another one, so long before its end. */
const struct signal_sent *pm_asking_signal(const struct death *d, pid_t pid, int64_t end_ms, int64_t before_ms);
void pm_asked_verdict(struct pm *p, const struct signal_sent *s);
void pm_left_child_told(struct pm *p); /* the same where it has no exception */
bool pm_stopped_itself(struct pm *p); /* it sent itself and vigil the signal that vigil passed on */
void pm_stop_sender(struct pm *p); /* adds who sent the signal that was passed on */
bool pm_worker_sender(struct pm *p); /* a process sent the signal that, by the log, ended a worker */
bool pm_worker_sender_silent(struct pm *p); /* the same where nothing else gives a reason */
bool pm_limit_signal(struct pm *p); /* the kernel ended it at a resource limit */
bool pm_killer_by_group(struct pm *p);
bool pm_counters(struct pm *p);
bool pm_first_error(struct pm *p); /* another rank's exception came first */
bool pm_shm(struct pm *p);
bool pm_log(struct pm *p);
bool pm_said_exception(struct pm *p); /* an exception is its last word, however it ended */
bool pm_limit_words(struct pm *p); /* its last words are of a call that a resource limit refused */
bool pm_port(struct pm *p);
bool pm_disk(struct pm *p);
bool pm_own_error(struct pm *p); /* its own exception, which its log does not show */
bool pm_crash(struct pm *p);
bool pm_is_crash(int signal); /* a signal by which programs crash */
const struct killer_line *pm_fault_line(const struct death *d); /* the kernel's line about its fault; NULL */
void pm_fault_told(struct pm *p); /* adds to a crash which memory it touched, and in code of which file */
void pm_fault_evidence(struct pm *p);
void pm_leftover(struct pm *p);
void pm_stack_overflow(struct pm *p); /* adds to a crash what the stack's limit has to do with it */

/* ---- evidence for any verdict ---- */
void pm_rules(struct pm *p);
void pm_neighbours(struct pm *p);
void pm_sources_read(struct pm *p);
void pm_errors_evidence(struct pm *p);
void pm_xid_evidence(struct pm *p); /* what the GPU's driver said of the process */
void pm_ends_evidence(struct pm *p); /* how processes of the job ended shortly before */

/* ---- advice ---- */
void pm_advise_limit(struct pm *p, const char *group, uint64_t limit_bytes);
void pm_advise_less_memory(struct pm *p);
void pm_advise_oomd(struct pm *p, const struct killer_line *l);
void pm_advise_shm(struct pm *p);
void pm_advise_less_shm(struct pm *p);
void pm_advise_core(struct pm *p);
void pm_advise_exception(struct pm *p); /* after the rules, whose advice is of one library */
void pm_advise_logs(struct pm *p); /* where there is no other advice, and its output was kept */
void pm_advise_gpu(struct pm *p, const struct log_hint *h);
void pm_advise_sender(struct pm *p);
void pm_advise_worker_unseen(struct pm *p);
void pm_advise_unknown_kill(struct pm *p);
