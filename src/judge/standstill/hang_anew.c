/* Children that fail and are started anew, again and again. */
#include <sys/wait.h>

#include "base/text.h"
#include "base/units.h"
#include "judge/standstill/hang_ask.h"

/* So often has a child failed in a row, each time with the same status; so far apart are two of them at most. */
static const uint64_t child_least = 8, child_gap_ns = 15 * NS_PER_S;
/* It goes on if the last one is not older than this, and than so many usual gaps. */
static const uint64_t child_ago_ns = 3 * NS_PER_S, child_ago_gaps = 3;
/*
 * So long since the last step may one fail, with steps known and without; and may one ask, as others wait for a service
 * that is started late. A job without steps may ask for as long as it may sleep.
 */
static const uint64_t child_fails_stepping_ns = 40 * NS_PER_S, child_fails_ns = 2 * 60 * NS_PER_S;
static const uint64_t child_asks_stepping_ns = 2 * 60 * NS_PER_S;
static const double child_gaps = 5;
/* A look is asked for so much earlier than the verdict is due. */
static const uint64_t child_look_ns = 5 * NS_PER_S;

uint64_t hang_child_since_ns(const struct liveness_set *p, const struct respawn *r)
{
	return MAX(r->since_ns, p->step_ns);
}

bool hang_child_goes_on(const struct liveness_set *p, const struct respawn *r)
{
	const uint64_t gap_ns = respawn_gap_ns(r), ago_ns = sub_floor(p->now_ns, renewals_last_ns(&r->failed));
	return r->n >= child_least && r->n_same >= child_least && gap_ns <= child_gap_ns &&
	       ago_ns < MAX(child_ago_ns, child_ago_gaps * gap_ns) &&
	       renewals_since(&r->failed, hang_child_since_ns(p, r)) == RENEWALS_KEPT;
}

bool hang_child_errs(const struct respawn *r)
{
	return respawn_by_fault(r) || respawn_words_of(r) == RESPAWN_FAILS;
}

uint64_t hang_child_due_ns(const struct hang_settings *s, const struct liveness_set *p, bool errs)
{
	const bool stepping = p->progress_known && p->has_gap;
	const uint64_t gaps_ns = stepping ? hang_gap_times(p->gap_ns, child_gaps) : 0;
	if (errs)
		return s->has_after ? MAX(s->after_ns, gaps_ns)
				    : MAX(stepping ? child_fails_stepping_ns : child_fails_ns, gaps_ns);
	const uint64_t asks_ns = stepping ? child_asks_stepping_ns : hang_time(s->sleep_ns, HANG_SLEEP_NS);
	return MAX(MAX(asks_ns, gaps_ns), s->has_after ? s->after_ns : 0);
}

/* The one that errs, else any, the longest so; NULL: none. */
const struct respawn *hang_child_of(const struct liveness_set *p)
{
	const struct respawn *best = NULL;
	for (size_t i = 0; i < p->respawns.n; i++) {
		const struct respawn *r = &p->respawns.of[i];
		if (!hang_child_goes_on(p, r) || (best && hang_child_errs(best) && !hang_child_errs(r)))
			continue;
		if (!best || hang_child_errs(r) != hang_child_errs(best) || r->since_ns < best->since_ns)
			best = r;
	}
	return best;
}

uint64_t hang_made_anew(const struct hang_settings *s, const struct liveness_set *p, char *text, size_t cap)
{
	const struct respawn *r = hang_child_of(p);
	const uint64_t since_ns = r ? hang_child_since_ns(p, r) : 0;
	if (!r || sub_floor(p->now_ns, since_ns) + child_look_ns < hang_child_due_ns(s, p, hang_child_errs(r)))
		return 0;
	text_format(text, cap, "a child of %s (pid %d) has failed %llu times in a row", r->parent_name, (int)r->parent,
		    (unsigned long long)r->n);
	return since_ns;
}

/* "with status 1", "by signal 11" */
static const char *child_how(const struct respawn *r, char dst[static 32])
{
	if (WIFSIGNALED(r->wait_status))
		text_format(dst, 32, "by signal %d", WTERMSIG(r->wait_status));
	else
		text_format(dst, 32, "with status %d", WEXITSTATUS(r->wait_status));
	return dst;
}

/* "process 812 (bash) starts "python3 load.py" anew each 300 ms: it ended with status 1 each time, 97 times …" */
void hang_child_text(const struct hang_work *w, const struct respawn *r, char *dst, size_t cap)
{
	char each[24], since[24], how[32], who[HANG_WHO], of[HANG_WHO + 8] = "";
	if (r->rank != NO_RANK)
		TEXT_FORMAT(of, " of %s", hang_who(r->rank, who));
	const char *quote = r->command[0] ? "\"" : "";
	text_format(dst, cap,
		    "process %d (%s)%s starts %s%s%s%s anew each %s: it ended %s each time, %llu times in a row in %s",
		    (int)r->parent, r->parent_name, of, r->command[0] ? "" : "a child called ", quote,
		    r->command[0] ? r->command : r->name, quote,
		    duration_format(respawn_gap_ns(r), each), child_how(r, how), (unsigned long long)r->n,
		    duration_format(sub_floor(w->p->now_ns, r->since_ns), since));
}

void hang_child_evidence(struct hang_work *w)
{
	char text[360];
	for (size_t i = 0; i < w->p->respawns.n; i++) {
		const struct respawn *r = &w->p->respawns.of[i];
		if (!hang_child_goes_on(w->p, r))
			continue;
		hang_child_text(w, r, text, sizeof(text));
		hang_evidence(w, "waits", "ends of processes (BPF)", "%s", text);
	}
}
