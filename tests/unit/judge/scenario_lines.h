/* Lines of the hang scenarios that need nothing of the job that is played: what is handed to the judge as it is. */
#pragma once

#include "testing.h"

#include "judge/hang/hang.h"
#include "judge/scenario_words.h"
#include "wait_scenario.h"

struct refused_scenario {
	struct hang_refused row[HANG_REFUSED];
	uint64_t ago_ns[HANG_REFUSED]; /* its last attempt, from each look */
	size_t n;
};

/* <rank> <times> <address> ago <time> [silent]: an address that it tries to reach in vain */
static void refused_line(struct refused_scenario *s, struct span rest, const char *where)
{
	struct hang_refused r = {.rank = int_of(next(&rest, where)), .pid = 1000, .main = true};
	size_t i = 0;
	while (i < s->n && s->row[i].rank != r.rank)
		i++;
	assert_true(i < HANG_REFUSED);
	s->n = MAX(s->n, i + 1);
	r.n = (uint64_t)int_of(next(&rest, where));
	span_copy(next(&rest, where), r.address, sizeof(r.address));
	assert_true(span_eq(next(&rest, where), "ago"));
	s->ago_ns[i] = duration_of(next(&rest, where), where);
	r.error = span_trim(rest).len ? 0 : ECONNREFUSED;
	s->row[i] = r;
}

static void refused_put(struct refused_scenario *s, uint64_t now_ns, struct hang_case *ret)
{
	for (size_t i = 0; i < s->n; i++)
		s->row[i].last_ns = sub_floor(now_ns, s->ago_ns[i]);
	ret->refused = s->row;
	ret->n_refused = s->n;
}

/* <rank> <line of source> */
static void source_line(struct hang_source *s, struct span rest, const char *where)
{
	*s = (struct hang_source){.rank = int_of(next(&rest, where))};
	span_copy(span_trim(rest), s->line, sizeof(s->line));
}

/* <line of a scenario of waits>, or none */
static void waits_line(struct wait_scenario *s, struct span rest)
{
	if (wait_scenario_line(s, rest))
		return;
	assert_true(wait_word(&rest, "none"));
	wait_scenario_begin(s);
}

/* <looks> [ranks|gpu|loader|running|sleeping|stopped|memory|locks|unknown|other|periods|throttled <n>] ...
   [naps <n> <place>] [whom <rest>] */
static inline struct waitshare_rank share_of(struct span rest, const char *where)
{
	struct waitshare_rank r = {.n = (uint32_t)int_of(next(&rest, where))};
	struct span w;
	while (span_word(&rest, &w)) {
		if (span_eq(w, "naps")) { /* its sleeps: <n> at one place, the rest at others */
			r.whom[1].of = WAITSHARE_SLEEPS;
			r.whom[1].n = (uint32_t)int_of(next(&rest, where));
			span_copy(next(&rest, where), r.whom[1].text, sizeof(r.whom[1].text));
			continue;
		}
		if (span_eq(w, "whom")) {
			span_copy(span_trim(rest), r.whom[0].text, sizeof(r.whom[0].text));
			r.whom[0].n = r.other + r.locks;
			r.whom[0].of = r.locks ? WAITSHARE_LOCK : WAITSHARE_OTHER;
			r.whom[0].named = true;
			break;
		}
		uint32_t n = (uint32_t)int_of(next(&rest, where));
		if (span_eq(w, "periods") || span_eq(w, "throttled")) {
			r.quota_cores = 1;
			*(span_eq(w, "periods") ? &r.periods : &r.throttled) = n;
			continue;
		}
		*(span_eq(w, "ranks")	   ? &r.ranks
		  : span_eq(w, "loader")   ? &r.loader
		  : span_eq(w, "running")  ? &r.running
		  : span_eq(w, "sleeping") ? &r.sleeping
		  : span_eq(w, "gpu")	   ? &r.gpu
		  : span_eq(w, "stopped")  ? &r.stopped
		  : span_eq(w, "memory")   ? &r.memory
		  : span_eq(w, "locks")	   ? &r.locks
		  : span_eq(w, "unknown")  ? &r.unknown
					   : &r.other) = n;
	}
	return r;
}
