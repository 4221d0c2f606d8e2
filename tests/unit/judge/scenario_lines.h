/* Lines of the hang scenarios that need nothing of the job that is played: what is handed to the judge as it is. */
#pragma once

#include "testing.h"

#include "judge/hang/hang.h"
#include "judge/scenario_words.h"
#include "wait_scenario.h"

struct refused_scenario {
	struct hang_refused row; /* n 0: none */
	uint64_t ago_ns; /* its last attempt, from each look */
};

/* <rank> <times> <address> ago <time> [silent]: an address that it tries to reach in vain */
static void refused_line(struct refused_scenario *s, struct span rest, const char *where)
{
	s->row = (struct hang_refused){.rank = int_of(next(&rest, where)), .pid = 1000, .main = true};
	s->row.n = (uint64_t)int_of(next(&rest, where));
	span_copy(next(&rest, where), s->row.address, sizeof(s->row.address));
	assert_true(span_eq(next(&rest, where), "ago"));
	s->ago_ns = duration_of(next(&rest, where), where);
	s->row.error = span_trim(rest).len ? 0 : ECONNREFUSED;
}

static void refused_put(struct refused_scenario *s, uint64_t now_ns, struct hang_case *ret)
{
	s->row.last_ns = sub_floor(now_ns, s->ago_ns);
	ret->refused = &s->row;
	ret->n_refused = s->row.n > 0;
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
