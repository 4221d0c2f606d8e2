/* Verdicts on the sender of a signal that the kernel was seen to deliver, to the process or to one of its workers. */
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/signame.h"
#include "judge/death/postmortem_parts.h"

/* Known daemons that send signals, by their 15-byte comm. */
static const struct {
	const char *comm;
	enum killer killer;
} senders[] = {
	{"earlyoom", KILLER_EARLYOOM}, {"nohang", KILLER_NOHANG},      {"systemd-oomd", KILLER_SYSTEMD_OOMD},
	{"oomd", KILLER_OOMD},	       {"raylet", KILLER_RAY},	       {"slurmstepd", KILLER_SLURM},
	{"slurmd", KILLER_SLURM},      {"kubelet", KILLER_KUBERNETES}, {"containerd-shim", KILLER_KUBERNETES},
	{"vigil", KILLER_VIGIL},
};

static enum killer sender_killer(const char *comm)
{
	for (size_t s = 0; s < ARRAY_SIZE(senders); s++)
		if (strcmp(senders[s].comm, comm) == 0)
			return senders[s].killer;
	return KILLER_SIGNAL;
}

bool pm_by_vigil(const struct signal_sent *s)
{
	return strcmp(s->sender_comm, "vigil") == 0 && !s->page_role[0];
}

const char *pm_from(const struct signal_sent *s, char dst[static PM_FROM])
{
	if (s->page_role[0])
		(void)text_format(dst, PM_FROM, "sent from vigil's page by its %s", s->page_role);
	else
		(void)text_format(dst, PM_FROM, "sent by %s (pid %d, uid %u)", s->sender_comm, (int)s->sender,
				  (unsigned)s->sender_uid);
	return dst;
}

/* How its sender is known, as a sentence; also: what follows from that. */
static void certain_told(struct pm *p, const struct signal_sent *s, const char *also)
{
	pm_text(p, "%s, so the sender is certain%s.",
		s->page_role[0] ? "Vigil notes what is sent from its page"
				: "The kernel was seen delivering the signal",
		also);
}

/* The last seen signal that fits the end; one from a process is preferred to one from the kernel. */
static const struct signal_sent *signal_find(const struct pm *p)
{
	const struct signal_sent *found = NULL;
	for (size_t n = 0; n < p->d->n_signals; n++) {
		const struct signal_sent *s = &p->d->signals[n];
		if (s->target != p->d->pid || s->signal != p->end.reported || p->end.reported == 0 ||
		    !pm_time_fits(p->d, s->time_unix_ms, 60000))
			continue;
		if (!found || !s->from_kernel || found->from_kernel)
			found = s;
	}
	return found;
}

/* The scheduler's line that explains why its daemon sent the signal. */
static const struct killer_line *scheduler_line(const struct pm *p, enum killer k)
{
	for (size_t n = 0; n < p->d->n_killer_lines; n++)
		if (p->d->killer_lines[n].killer == k && pm_time_fits(p->d, p->d->killer_lines[n].time_unix_ms, 120000))
			return &p->d->killer_lines[n];
	return NULL;
}

/* What Slurm wrote into the job's own output about its end, where that end was by a signal that Slurm sends. */
static const struct killer_line *slurm_notice(const struct pm *p)
{
	if (p->end.reported != SIGTERM && p->end.reported != SIGKILL && p->end.reported != SIGINT)
		return NULL;
	for (size_t n = p->d->n_killer_lines; n-- > 0;) {
		const struct killer_line *l = &p->d->killer_lines[n];
		bool ends = strcmp(l->action, "time_limit") == 0 || strcmp(l->action, "preempt") == 0 ||
			    strcmp(l->action, "cancel") == 0;
		if (l->killer == KILLER_SLURM && ends && strncmp(l->source, "log", 3) == 0)
			return l;
	}
	return NULL;
}

static void sender_evidence(struct pm *p, const struct signal_sent *s, const char *name)
{
	if (s->page_role[0]) {
		incident_evidence_add(p->i, "signal", "vigil's page", s->time_unix_ms,
				      "%s to pid %d, asked for on the page by its %s; server pid %d, uid %u",
				      name ? name : "signal", (int)s->target, s->page_role, (int)s->sender,
				      (unsigned)s->sender_uid);
		return;
	}
	incident_evidence_add(p->i, "signal", "signal trace", s->time_unix_ms,
			      "%s to pid %d from %s, pid %d, uid %u%s%s", name ? name : "signal", (int)s->target,
			      s->sender_comm, (int)s->sender, (unsigned)s->sender_uid,
			      s->sender_command[0] ? ", command " : "", s->sender_command);
}

static void sender_named(struct pm *p, const struct signal_sent *s)
{
	if (s->page_role[0])
		return pm_killer_text(p, "you asked on vigil's page, as its %s", s->page_role);
	pm_killer_text(p, "%s, pid %d, uid %u%s%s", s->sender_comm, (int)s->sender, (unsigned)s->sender_uid,
		       s->sender_command[0] ? ": " : "", s->sender_command);
}

/* It asks a process to end. */
static bool asks(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP;
}

/* It has the meaning that the program gives it: schedulers announce an end by it. */
static bool announces(int signal)
{
	return signal == SIGUSR1 || signal == SIGUSR2;
}

/* The latest signal of a kind to this process by another one, so long before its end. */
static const struct signal_sent *signal_before(const struct death *d, pid_t pid, int64_t end_ms, int64_t before_ms,
					       bool (*is_one)(int signal))
{
	const struct signal_sent *found = NULL;
	for (size_t n = 0; n < d->n_signals && end_ms > 0; n++) {
		const struct signal_sent *s = &d->signals[n];
		bool other = s->sender != pid && !s->from_kernel && !pm_by_vigil(s);
		if (is_one(s->signal) && other && s->target == pid && s->time_unix_ms <= end_ms &&
		    s->time_unix_ms >= end_ms - before_ms && pm_time_fits(d, s->time_unix_ms, -1))
			found = s;
	}
	return found;
}

const struct signal_sent *pm_asking_signal(const struct death *d, pid_t pid, int64_t end_ms, int64_t before_ms)
{
	return signal_before(d, pid, end_ms, before_ms, asks);
}

/* Who asks on the page is a user, whatever the server is called. */
static enum killer sent_by(const struct signal_sent *s)
{
	return s->page_role[0] ? KILLER_SIGNAL : sender_killer(s->sender_comm);
}

void pm_asked_verdict(struct pm *p, const struct signal_sent *s)
{
	const enum killer k = sent_by(s);
	pm_verdict(p, pm_kind_of(k), k, s->page_role[0] ? "asked_from_page" : "ended_after_signal", CONFIDENCE_MEDIUM);
	sender_named(p, s);
	sender_evidence(p, s, signame(s->signal));
}

/*
 * A program that handles SIGTERM leaves with a status of its own, often with words and without an exception. That it
 * left because of the signal is likely only.
 */
bool pm_asked_to_end(struct pm *p)
{
	const int64_t shortly_ms = 15000;
	const struct death *d = p->d;
	const struct signal_sent *s =
		p->end.exited && p->end.failed ? pm_asking_signal(d, d->pid, d->end_unix_ms, shortly_ms) : NULL;
	const struct log_hint *last = pm_last_line(d);
	char who[PM_WHO], from[PM_FROM];
	if (!s || p->end.reported || d->end_unix_ms == 0)
		return false;
	pm_asked_verdict(p, s);
	pm_summary(p, "%s ended with exit status %d after %s, %s, had asked it to end.", pm_who(d, who), p->end.code,
		   signame(s->signal), pm_from(s, from));
	certain_told(p, s, "; that the process left because of it is likely");
	if (last)
		pm_quote(p, "The last line of its output is", last->text, false);
	return true;
}

static void shortly_before_told(struct pm *p, bool (*is_one)(int signal))
{
	const int64_t moments_ms = 5000;
	const struct signal_sent *s = signal_before(p->d, p->d->pid, p->d->end_unix_ms, moments_ms, is_one);
	char from[PM_FROM];
	if (!s)
		return;
	pm_text(p, "Shortly before, it had got %s, %s.", signame(s->signal), pm_from(s, from));
	sender_evidence(p, s, signame(s->signal));
}

void pm_asking_signal_told(struct pm *p)
{
	shortly_before_told(p, asks);
}

void pm_notice_told(struct pm *p)
{
	shortly_before_told(p, announces);
}

/* A signal to the whole group comes to vigil, which passes it on, and to the process. */
void pm_stop_sender(struct pm *p)
{
	const struct death *d = p->d;
	const struct signal_sent *found = NULL;
	const char *name = signame(d->stop_signal);
	for (size_t n = 0; n < d->n_signals; n++) {
		const struct signal_sent *s = &d->signals[n];
		if (s->target == d->pid && s->signal == d->stop_signal && !s->from_kernel && s->sender != d->pid &&
		    strcmp(s->sender_comm, "vigil") != 0 && pm_time_fits(d, s->time_unix_ms, 60000))
			found = s;
	}
	if (!found || !name)
		return;
	sender_named(p, found);
	pm_text(p, "%s (pid %d, uid %u) was seen to send %s to the process as well.", found->sender_comm,
		(int)found->sender, (unsigned)found->sender_uid, name);
	sender_evidence(p, found, name);
}

/*
 * The signal that the process, or another one of the job, sent it and its whole group, to which vigil belongs as a
 * rule: it is the first of its kind that the process got, and vigil passed the same on at once. NULL: the signal came
 * from elsewhere.
 */
static const struct signal_sent *own_group_signal(const struct death *d)
{
	const int64_t at_once_ms = 2000;
	const struct signal_sent *first = NULL;
	int64_t until_ms = d->end_unix_ms;
	for (size_t n = d->n_signals; n-- > 0;) {
		const struct signal_sent *s = &d->signals[n];
		if (s->target != d->pid || s->signal != d->stop_signal || !pm_time_fits(d, s->time_unix_ms, 60000))
			continue;
		until_ms = strcmp(s->sender_comm, "vigil") == 0 ? s->time_unix_ms : until_ms;
		first = s;
	}
	bool own = first && !first->from_kernel && pm_of_job(d, first->sender);
	return own && until_ms - first->time_unix_ms <= at_once_ms ? first : NULL;
}

bool pm_stopped_itself(struct pm *p)
{
	const struct signal_sent *s = own_group_signal(p->d);
	const char *name = s ? signame(s->signal) : NULL;
	char who[PM_WHO];
	if (!s || !name)
		return false;
	if (s->sender == p->d->pid && pm_said_exception(p)) {
		pm_text(p, "Then it sent %s to its own process group, as scripts do that clear up when they leave.",
			name);
		sender_evidence(p, s, name);
		return true;
	}
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "signal_sent", CONFIDENCE_HIGH);
	if (s->sender == p->d->pid) {
		pm_killer_text(p, "the process itself, pid %d", (int)s->sender);
		pm_summary(p, "%s ended itself: it sent %s to its own process group.", pm_who(p->d, who), name);
	} else {
		sender_named(p, s);
		pm_summary(p, "%s was ended by %s, which a process of its job, %s (pid %d), sent to the process group.",
			   pm_who(p->d, who), name, s->sender_comm, (int)s->sender);
	}
	pm_text(p, "Vigil belongs to that group as well, so it passed the signal on to the whole job.");
	sender_evidence(p, s, name);
	return true;
}

static void own_signal_verdict(struct pm *p, const struct signal_sent *s)
{
	char who[PM_WHO];
	const char *name = signame(s->signal);
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "signal_sent", CONFIDENCE_HIGH);
	pm_killer_text(p, "the process itself, pid %d", (int)s->sender);
	pm_summary(p, "%s ended itself: it sent itself %s.", pm_who(p->d, who), name ? name : "a signal");
	sender_evidence(p, s, name);
}

/*
 * A program that handles a signal often ends by sending it to itself once it has cleaned up, as Python does with
 * SIGINT: who sent it first is the sender.
 */
static const struct signal_sent *asked_before(const struct pm *p, const struct signal_sent *own)
{
	const int64_t before_ms = 60000;
	const struct signal_sent *found = NULL;
	for (size_t n = 0; n < p->d->n_signals; n++) {
		const struct signal_sent *s = &p->d->signals[n];
		if (s->target == own->target && s->signal == own->signal && s->sender != own->target &&
		    !s->from_kernel && pm_time_fits(p->d, s->time_unix_ms, before_ms))
			found = s;
	}
	return found;
}

/* The kernel sends SIGINT and SIGHUP for the terminal; its other signals name no sender. */
static bool kernel_signal_verdict(struct pm *p, const struct signal_sent *s)
{
	char who[PM_WHO];
	const char *name = signame(s->signal);
	incident_evidence_add(p->i, "signal", "signal trace", s->time_unix_ms, "%s came from the kernel itself",
			      name ? name : "the signal");
	if (s->of_timer || s->signal == SIGALRM || s->signal == SIGVTALRM || s->signal == SIGPROF) {
		pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, "own_timer", CONFIDENCE_HIGH);
		pm_killer_text(p, "the kernel, for a timer that the process had set");
		pm_summary(p,
			   "%s ended by %s: a timer of its own (alarm(2), setitimer(2), timer_create(2)) ran out, and "
			   "it has no handler for that.",
			   pm_who(p->d, who), name ? name : "a signal");
		return true;
	}
	if (s->signal != SIGINT && s->signal != SIGHUP)
		return false;
	pm_verdict(p, INCIDENT_KILLED_BY, KILLER_SIGNAL, s->signal == SIGINT ? "terminal_interrupt" : "terminal_hangup",
		   CONFIDENCE_HIGH);
	pm_killer_text(p, "the terminal");
	pm_summary(p, "%s ended by %s from its terminal: %s.", pm_who(p->d, who), name,
		   s->signal == SIGINT ? "somebody pressed Ctrl-C" : "the terminal was closed or the connection broke");
	if (s->signal == SIGHUP)
		incident_advice_add(
			p->i,
			"Start long jobs in tmux, or with systemd-run --user, so that they outlive the terminal.");
	return true;
}

/* Where the kernel's delivery is not seen, another one may have sent the same a while after the page did. */
static bool page_long_ago(const struct death *d, const struct signal_sent *s)
{
	const int64_t at_once_ms = 5000;
	return s->page_role[0] && pm_unavailable(d, "signals") && d->end_unix_ms - s->time_unix_ms > at_once_ms;
}

static void sender_verdict(struct pm *p, const struct signal_sent *s, enum killer k, const struct killer_line *why)
{
	char who[PM_WHO], from[PM_FROM];
	const char *name = signame(s->signal);
	pm_verdict(p, pm_kind_of(k), k,
		   s->page_role[0]	? "asked_from_page"
		   : k == KILLER_SIGNAL ? "signal_sent"
					: "signal_sent_by_daemon",
		   page_long_ago(p->d, s) ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH);
	sender_named(p, s);
	pm_summary(p, "%s was ended by %s, %s.", pm_who(p->d, who), name ? name : "a signal", pm_from(s, from));
	certain_told(p, s,
		     page_long_ago(p->d, s) ? "; that the process ended because of it, a while later, is likely"
		     : p->end.signal	    ? ""
					    : "; the exit status repeats it");
	sender_evidence(p, s, name);
	if (why)
		pm_line_evidence(p, why);
	const struct killer_line *notice = k == KILLER_SIGNAL ? slurm_notice(p) : NULL;
	if (notice) { /* who sent it is proved; that it was for this reason is not */
		pm_quote(p, "Slurm announced an end in its output before", notice->line, false);
		pm_line_evidence(p, notice);
	}
	if (strcmp(s->sender_comm, "systemd") == 0)
		incident_advice_add(p->i, "systemd ends services that are stopped and sessions that log out: run long "
					  "jobs as a service, or enable lingering (loginctl enable-linger).");
}

/* The kernel sends it for a write that fails, as if the writing process had sent it (send_sig in its sources). */
static bool comes_in_ones_own_name(int signal)
{
	return signal == SIGXFSZ || signal == SIGPIPE;
}

bool pm_sender(struct pm *p)
{
	const struct signal_sent *s = signal_find(p);
	if (!s || (s->sender == p->d->pid && (pm_is_crash(s->signal) || comes_in_ones_own_name(s->signal))))
		return false; /* its own abort() is a crash */
	if (s->from_kernel)
		return kernel_signal_verdict(p, s);
	const struct signal_sent *first = s->sender == p->d->pid ? asked_before(p, s) : NULL;
	if (first)
		s = first;
	if (s->sender == p->d->pid) {
		own_signal_verdict(p, s);
		return true;
	}
	enum killer k = sent_by(s);
	const struct killer_line *why = k == KILLER_SIGNAL ? NULL : scheduler_line(p, k);
	if (why && k == KILLER_SLURM)
		return false; /* its own line has more: cancelled, time limit */
	if (k == KILLER_SYSTEMD_OOMD && pm_killer_by_group(p)) {
		sender_evidence(p, s, signame(s->signal)); /* its own line has more: pressure or swap, and how much */
		return true;
	}
	sender_verdict(p, s, k, why);
	return true;
}

/* Without the status of a process, that a signal which it may have handled has ended it is likely only. */
bool pm_after_signal(struct pm *p)
{
	const struct signal_sent *s = NULL;
	char who[PM_WHO], from[PM_FROM];
	for (size_t n = 0; n < p->d->n_signals && !p->d->has_status && p->d->after_signal; n++)
		if (p->d->signals[n].target == p->d->pid && p->d->signals[n].signal == p->d->after_signal &&
		    pm_time_fits(p->d, p->d->signals[n].time_unix_ms, 60000))
			s = &p->d->signals[n];
	const char *name = s ? signame(s->signal) : NULL;
	if (!s || !name)
		return false;
	if (pm_is_crash(s->signal) && (s->from_kernel || s->sender == p->d->pid)) {
		pm_verdict(p, INCIDENT_CRASH, KILLER_NONE, "crash_signal", CONFIDENCE_MEDIUM);
		pm_summary(p, "%s ended after %s, which %s.", pm_who(p->d, who), name,
			   s->from_kernel ? "the kernel raised for a fault of its own" : "it sent itself");
		incident_evidence_add(p->i, "signal", "signal trace", s->time_unix_ms, "%s, which %s", name,
				      s->from_kernel ? "came from the kernel itself" : "it sent itself");
	} else {
		pm_asked_verdict(p, s);
		pm_summary(p, "%s ended after %s, %s.", pm_who(p->d, who), name, pm_from(s, from));
	}
	pm_text(p, "%s; that the process ended because of it is likely.",
		s->page_role[0] ? "Vigil notes what is sent from its page"
				: "The kernel was seen delivering the signal");
	return true;
}

/* The signal that a process sent to the worker whose death the failed rank's log reports. */
static const struct signal_sent *worker_signal_find(const struct pm *p, const struct log_hint *h)
{
	for (size_t n = p->d->n_signals; n-- > 0;) {
		const struct signal_sent *s = &p->d->signals[n];
		if (s->target == h->pid && s->signal == h->signal && !s->from_kernel && s->sender != h->pid &&
		    pm_time_fits(p->d, s->time_unix_ms, -1))
			return s;
	}
	return NULL;
}

/* The last SIGKILL to a worker from outside of the job: a program also ends its own workers. */
static const struct signal_sent *outside_signal_find(const struct pm *p, int64_t shortly_ms)
{
	for (size_t n = p->d->n_signals; n-- > 0;) {
		const struct signal_sent *s = &p->d->signals[n];
		const struct death_former *former = pm_former(p->d, s->target);
		bool worker = s->target != p->d->pid && (former ? strcmp(former->role, "main") != 0 : s->of_job);
		bool outside = !s->from_kernel && s->sender != p->d->pid && !pm_former(p->d, s->sender);
		if (s->signal == SIGKILL && worker && outside && s->time_unix_ms > 0 &&
		    pm_time_fits(p->d, s->time_unix_ms, shortly_ms))
			return s;
	}
	return NULL;
}

static void worker_killer_verdict(struct pm *p, const struct signal_sent *s, enum confidence c)
{
	enum killer k = sent_by(s);
	pm_verdict(p, pm_kind_of(k), k, s->page_role[0] ? "asked_from_page" : "worker_signal_sent", c);
	sender_named(p, s);
	sender_evidence(p, s, signame(s->signal));
}

static bool worker_signal_reported(struct pm *p, const struct log_hint *h)
{
	const struct signal_sent *s = worker_signal_find(p, h);
	char who[PM_WHO], from[PM_FROM];
	if (!s)
		return false;
	char worker[40] = "its DataLoader worker";
	worker_killer_verdict(p, s, CONFIDENCE_HIGH);
	if (h->rank != NO_RANK && strcmp(h->id, "torchrun_failure") == 0) {
		TEXT_FORMAT(worker, "rank %d", h->rank);
		pm_culprit(p, h->rank);
	}
	pm_summary(p, "%s failed because %s (pid %d) was ended by %s, %s.", pm_who(p->d, who), worker, (int)s->target,
		   signame(s->signal) ? signame(s->signal) : "a signal", pm_from(s, from));
	certain_told(p, s, "");
	pm_text(p, "It was not for want of memory.");
	return true;
}

/* said: the last words of the process; "": none could be read. */
static bool worker_signal_guessed(struct pm *p, const char *said, int64_t shortly_ms)
{
	const struct signal_sent *s = outside_signal_find(p, shortly_ms);
	char who[PM_WHO], from[PM_FROM];
	if (!s)
		return false;
	worker_killer_verdict(p, s, CONFIDENCE_MEDIUM);
	/* A young worker is in no list of former members yet. */
	pm_summary(p, "%s failed after %s (pid %d) had been ended by SIGKILL, %s%s%s.", pm_who(p->d, who),
		   pm_former(p->d, s->target) ? "its worker" : "a process of its job", (int)s->target, pm_from(s, from),
		   said[0] ? ": " : "; itself it gave no reason that could be read", said);
	certain_told(p, s, "; that it failed for want of that process is likely");
	return true;
}

bool pm_worker_sender(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "dataloader_killed"), *said = pm_hint(p->d, "python_traceback");
	const struct log_hint *rank = pm_hint(p->d, "torchrun_failure");
	if (p->end.killed || !p->end.failed)
		return false;
	if (h && h->pid > 0)
		return worker_signal_reported(p, h);
	if (rank && rank->pid > 0 && rank->signal)
		return worker_signal_reported(p, rank);
	return p->end.exited && said && pm_broken_pipe(said->text) && worker_signal_guessed(p, said->text, 20000);
}

bool pm_worker_sender_silent(struct pm *p)
{
	return p->end.exited && p->end.failed && !p->end.killed && !pm_hint(p->d, "python_traceback") &&
	       worker_signal_guessed(p, "", 5000);
}
