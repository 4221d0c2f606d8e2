/* Verdicts on a process that failed for want of another one: which rank was gone first. */
#include <string.h>
#include <sys/wait.h>

#include "base/signame.h"
#include "base/units.h"
#include "judge/death/postmortem_parts.h"

bool pm_peerish(const char *text)
{
	static const char *const words[] = {
		"closed by peer", "reset by peer",	   "DistBackendError", "DistNetworkError",
		"NCCL",		  "peer closed",	   "peer has closed",  "gloo",
		"Gloo",		  "remote process exited", "ncclRemoteError",  "Broken pipe"};
	return pm_has_any(text, words, ARRAY_SIZE(words));
}

bool pm_broken_pipe(const char *text)
{
	static const char *const words[] = {
		"ConnectionResetError", "ConnectionRefusedError", "BrokenPipeError", "ConnectionAbortedError",
		"RemoteDisconnected",	"IncompleteRead",	  "EOFError",	     "exited unexpectedly"};
	if (strstr(text, "EOF when reading a line")) /* of its standard input */
		return false;
	return pm_has_any(text, words, ARRAY_SIZE(words));
}

/* A rank that ended before this one lost its connection, by itself: the first of them. within_ms < 0: at any time. */
static const struct death_rank *ended_before(const struct death *d, int64_t within_ms)
{
	const struct death_rank *found = NULL;
	for (size_t k = 0; k < d->n_ranks; k++) {
		const struct death_rank *r = &d->ranks[k];
		if (r->pid == d->pid || r->by_us || r->end_unix_ms > d->end_unix_ms ||
		    (within_ms >= 0 && r->end_unix_ms < d->end_unix_ms - within_ms))
			continue;
		if (!found || r->end_unix_ms < found->end_unix_ms)
			found = r;
	}
	return found;
}

/*
 * A rank that left with 0 at the same moment, unasked: a program closes its connections before its process is gone. It
 * may as well have left because this one had failed.
 */
static const struct death_rank *left_at_once(const struct death *d)
{
	const int64_t moment_ms = 1000;
	const struct death_rank *found = NULL;
	for (size_t k = 0; k < d->n_ranks && !pm_unavailable(d, "signals"); k++) {
		const struct death_rank *r = &d->ranks[k];
		bool asked = false;
		for (size_t n = 0; n < d->n_signals; n++)
			asked |= d->signals[n].target == r->pid;
		if (r->pid == d->pid || r->wait_status != 0 || asked || r->end_unix_ms < d->end_unix_ms ||
		    r->end_unix_ms > d->end_unix_ms + moment_ms)
			continue;
		if (!found || r->end_unix_ms < found->end_unix_ms)
			found = r;
	}
	return found;
}

static void left_at_once_told(struct pm *p, const struct death_rank *r)
{
	char who[PM_WHO];
	p->i->cause.confidence = CONFIDENCE_LOW;
	TEXT_COPY(p->i->cause.id, "rank_ended_early");
	pm_summary(p,
		   "%s failed for want of another rank, most likely rank %d (pid %d), which left at that moment "
		   "with exit status 0.",
		   pm_who(p->d, who), r->rank, (int)r->pid);
	pm_text(p,
		"Rank %d was not asked to end. A program closes its connections before its process is gone; "
		"that it left because of the failure is possible as well.",
		r->rank);
	pm_culprit(p, r->rank);
	incident_advice_add(p->i, "Look at why rank %d ended: vigil logs %s --rank %d.", r->rank, p->d->job, r->rank);
}

/* The one that notices a loss is not the cause; the rank that ended first is, also where it ended well. */
void pm_ended_early_told(struct pm *p, const struct death_rank *r)
{
	char who[PM_WHO], ago[24], how[48];
	uint64_t before_ms = (uint64_t)(p->d->end_unix_ms - r->end_unix_ms);
	const int signal = WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;
	if (signal)
		TEXT_FORMAT(how, "by %s", signame(signal) ? signame(signal) : "a signal");
	else
		TEXT_FORMAT(how, "with exit status %d", WEXITSTATUS(r->wait_status));
	TEXT_COPY(p->i->cause.id, r->wait_status == 0 ? "rank_ended_early" : "rank_ended_first");
	pm_summary(p, "%s failed for want of a rank that was gone: rank %d (pid %d) had ended %s before, %s.",
		   pm_who(p->d, who), r->rank, (int)r->pid, duration_format(before_ms * NS_PER_MS, ago), how);
	const struct signal_sent *asked = pm_asking_signal(p->d, r->pid, r->end_unix_ms, 15000);
	if (asked && r->wait_status == 0) {
		pm_asked_verdict(p, asked);
		char from[PM_FROM];
		pm_text(p, "Rank %d left after %s, %s, had asked it to end.", r->rank, signame(asked->signal),
			pm_from(asked, from));
	} else if (r->wait_status == 0)
		pm_text(p,
			"Rank %d ended well while the others still needed it: ranks that leave a loop early, have "
			"fewer batches, or end without a last barrier do so.",
			r->rank);
	pm_culprit(p, r->rank);
	incident_advice_add(p->i, "Look at why rank %d ended: vigil logs %s --rank %d.", r->rank, p->d->job, r->rank);
}

/* It is no rank itself, and started some. */
static bool starts_ranks(const struct death *d)
{
	bool below = false;
	for (size_t k = 0; k < d->n_ends && !below; k++)
		below = d->ends[k].pid != d->pid && d->ends[k].rank != NO_RANK;
	for (size_t k = 0; k < d->n_former && !below; k++)
		below = d->former[k].pid != d->pid && d->former[k].rank != NO_RANK;
	return below && d->rank == NO_RANK;
}

bool pm_peer(struct pm *p)
{
	const struct log_hint *h = pm_hint(p->d, "peer_closed"), *err = pm_hint(p->d, "python_traceback");
	const char *id = "peer_closed_connection";
	char who[PM_WHO];
	if (!h) {
		h = pm_hint(p->d, "store_lost");
		id = "rendezvous_store_lost";
	}
	if (!h && p->d->world_size != 1) {
		h = pm_hint(p->d, "collective_timeout");
		id = "collective_timeout";
	}
	if (!h || (err && (!pm_peerish(err->text) || pm_cause_before(p->d, err))))
		return false;
	/* The rank in the message is the one that noticed the loss. */
	pm_verdict(p, INCIDENT_PEER_LOST, KILLER_NONE, id, CONFIDENCE_MEDIUM);
	pm_summary(p, "%s failed because a peer it talks to was gone; it is not the cause.", pm_who(p->d, who));
	pm_quote(p, "Its log says", h->text, strlen(h->text) + 1 >= sizeof(h->text));
	struct death_rank below;
	const struct death_rank *first = ended_before(p->d, -1);
	if (!first && pm_early_rank(p->d, &below))
		first = &below;
	if (first) {
		pm_ended_early_told(p, first);
		return true;
	}
	if (left_at_once(p->d)) {
		left_at_once_told(p, left_at_once(p->d));
		return true;
	}
	if (starts_ranks(p->d)) { /* the log is that of several */
		p->i->cause.confidence = CONFIDENCE_LOW;
		pm_text(p, "Which of its processes was gone first is not known.");
	}
	incident_advice_add(p->i, "Look at the rank that ended first: vigil show %s lists the ends in order.",
			    p->d->job);
	return true;
}

/* An exception of one that waited for another process until a limit. */
static bool waited_in_vain(const char *text)
{
	return strstr(text, "TimeoutError") || strstr(text, "timed out") || strstr(text, "Timeout");
}

/* Python's own class, as a program's transport between ranks raises it: that of a client has its module in front. */
static bool own_transport(const char *text)
{
	return strstr(text, ": ConnectionError");
}

static bool lost_connection(const char *text)
{
	return pm_peerish(text) || pm_broken_pipe(text);
}

/*
 * A lost connection, or a wait that came to nothing, which may both be another rank's fault; NULL. A program that
 * handles such an exception may leave with words of its own about it.
 */
static const struct log_hint *of_a_peer(const struct death *d)
{
	const struct log_hint *h = pm_hint(d, "python_traceback"), *last = pm_last_line(d);
	if (!h)
		return last && !last->loop && lost_connection(last->text) ? last : NULL;
	bool peer = lost_connection(h->text) || waited_in_vain(h->text);
	return peer && !pm_cause_before(d, h) ? h : NULL;
}

/* All other ranks have ended well: this one may have been the last that still had something to do. */
static bool is_the_last(const struct death *d)
{
	size_t n = 0;
	for (size_t k = 0; k < d->n_ranks; k++)
		n += d->ranks[k].pid != d->pid && d->ranks[k].wait_status == 0;
	return d->world_size > 0 && n + 1 >= d->world_size;
}

/*
 * A plain exception does not say whose other end it was. Where a rank had left with 0, or by a signal, shortly before,
 * it was most likely that one's: one that failed may itself have noticed the loss only.
 */
bool pm_connection(struct pm *p)
{
	const int64_t shortly_ms = 60000;
	const struct log_hint *h = of_a_peer(p->d);
	struct death_rank below;
	const struct death_rank *first = h ? ended_before(p->d, shortly_ms) : NULL;
	bool launched = h && !first && pm_early_rank(p->d, &below);
	if (launched && p->d->end_unix_ms - below.end_unix_ms <= shortly_ms)
		first = &below;
	const struct death_rank *leaving = h && !first ? left_at_once(p->d) : NULL;
	if (leaving) {
		pm_verdict(p, INCIDENT_PEER_LOST, KILLER_NONE, "rank_ended_early", CONFIDENCE_LOW);
		pm_quote(p, "It ended with", h->text, false);
		left_at_once_told(p, leaving);
		return true;
	}
	if (!first || (WIFEXITED(first->wait_status) && first->wait_status != 0))
		return false;
	bool sure = launched ? pm_failed_ranks(p->d) > 1 : !is_the_last(p->d);
	pm_verdict(p, INCIDENT_PEER_LOST, KILLER_NONE, "rank_ended_early", sure ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW);
	pm_quote(p, "It ended with", h->text, false);
	pm_ended_early_told(p, first);
	return true;
}

void pm_peer_doubted(struct pm *p, const struct log_hint *h)
{
	const struct death *d = p->d;
	if (d->rank == NO_RANK || d->world_size < 2 || of_a_peer(d) != h || strstr(h->text, "ConnectionRefusedError"))
		return;
	p->i->cause.confidence = CONFIDENCE_LOW;
	pm_text(p, "Another rank may have been first: which one it lost or waited for is not known.");
}

bool postmortem_may_follow(const struct incident *i)
{
	const bool error = i->kind == INCIDENT_ERROR_EXIT && i->victim.rank != NO_RANK;
	/* also where the rule book has named what its text means */
	const bool exception = error && strstr(i->summary, " ended with a Python exception: ");
	const bool words = error && strncmp(i->cause.id, "exit_", 5) == 0;
	return i->n_culprits == 0 &&
	       (i->kind == INCIDENT_PEER_LOST || ((exception || words) && lost_connection(i->summary)) ||
		(exception && (waited_in_vain(i->summary) || own_transport(i->summary))));
}
