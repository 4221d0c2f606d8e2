/* Comparing a verdict with what a scenario expects; the texts of test_hang_scenarios.c. */
#pragma once

#include "testing.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"
#include "judge/hang/hang.h"

static const char *const kinds_of_verdict[] = {"none", "hang", "straggler", "slowdown"};

static void fail_verdict(const struct hang_verdict *v, const char *where, const char *what, struct span w)
{
	char ranks[100];
	struct buf b = BUF_ON(ranks);
	buf_reset(&b);
	for (size_t i = 0; i < v->n_culprits; i++)
		buf_printf(&b, " %d", v->culprits[i]);
	fail_msg("%s: %s '%.*s'; judged %s%s '%s' (%s), culprits%s: %s", where, what, (int)w.len, w.p,
		 kinds_of_verdict[v->kind], v->benign ? " benign" : "", v->id, confidence_name(v->confidence), ranks,
		 v->text);
}

static void check_culprits(const struct hang_verdict *v, struct span w, const char *where)
{
	char text[200];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	for (size_t i = 0; i < v->n_culprits; i++)
		buf_printf(&b, "%s%d", i ? "," : "", v->culprits[i]);
	if (!span_eq(w, v->n_culprits ? text : "none"))
		fail_verdict(v, where, "expected culprits", w);
}

static bool evidence_has(const struct hang_verdict *v, const char *what)
{
	for (size_t i = 0; i < v->n_evidence; i++)
		if (strstr(v->evidence[i].text, what))
			return true;
	for (size_t i = 0; i < v->n_advice; i++)
		if (strstr(v->advice[i], what))
			return true;
	return false;
}

/* says TEXT, shows TEXT, hides TEXT; false: it is another word. */
static bool check_text(const struct hang_verdict *v, struct span w, const char *what, const char *where)
{
	if (span_eq(w, "says")) {
		if (!strstr(v->text, what))
			fail_verdict(v, where, "it does not say", span_of(what));
	} else if (span_eq(w, "shows") || span_eq(w, "hides")) {
		if (evidence_has(v, what) != span_eq(w, "shows"))
			fail_verdict(v, where, "evidence and advice have, or lack", span_of(what));
	} else {
		return false;
	}
	return true;
}
