/* Loops that try to connect to an address at which nobody is. */
#include <errno.h>

#include "base/units.h"
#include "judge/hang/hang_parts.h"

/* One attempt that fails may be a look whether somebody is there. */
static const uint64_t attempts_least = 2;
/* Who tried no more for so long does something else now. */
static const uint64_t given_up_ns = 60 * NS_PER_S;

static bool goes_on(const struct hang_work *w, const struct hang_refused *r)
{
	return r->n >= attempts_least && sub_floor(w->p->now_ns, r->last_ns) < given_up_ns;
}

static const char *why_of(const struct hang_refused *r)
{
	switch (r->error) {
	case ECONNREFUSED:
		return "it was refused: nobody listens there";
	case EHOSTUNREACH:
	case ENETUNREACH:
		return "it cannot be reached";
	default:
		return "nobody answered";
	}
}

/* What the main process of a rank tries; NULL: nothing is known. */
static const struct hang_refused *refused_of(const struct hang_work *w, int32_t rank)
{
	for (size_t i = 0; i < w->c->n_refused; i++) {
		const struct hang_refused *r = &w->c->refused[i];
		if (r->rank == rank && r->main && goes_on(w, r))
			return r;
	}
	return NULL;
}

bool hang_is_refused(const struct hang_work *w, int32_t rank)
{
	return refused_of(w, rank) != NULL;
}

bool hang_says_refused(struct hang_work *w, int32_t rank)
{
	const struct hang_refused *r = refused_of(w, rank);
	if (!r)
		return false;
	hang_says(w, "It tries again and again to connect to %s, %llu times since this was looked at, and %s.",
		  r->address, (unsigned long long)r->n, why_of(r));
	hang_advise(w,
		    "look for who should listen at %s: whether it was started, whether it ended, and whether it "
		    "listens at that address",
		    r->address);
	return true;
}

void hang_refused_evidence(struct hang_work *w)
{
	char who[HANG_WHO];
	for (size_t i = 0; i < w->c->n_refused; i++) {
		const struct hang_refused *r = &w->c->refused[i];
		if (goes_on(w, r))
			hang_evidence(w, "waits", "states of TCP sockets (BPF)",
				      "process %d of %s tried %llu times in vain to connect to %s, and %s", (int)r->pid,
				      hang_who(r->rank, who), (unsigned long long)r->n, r->address, why_of(r));
	}
}
