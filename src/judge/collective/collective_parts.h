/* Shared by the files of judge/collective: texts about ranks and calls, and the verdict that is being filled. */
#pragma once

#include "base/buf.h"
#include "judge/collective/collective.h"

/* Ascending ranks; n_all also counts those that do not fit. */
#define RANKLIST_MAX 512
struct ranklist {
	int32_t rank[RANKLIST_MAX];
	size_t n, n_all;
};
void ranklist_add(struct ranklist *l, int32_t rank);
void ranklist_of(const struct collective_set *s, const collective_bits *b, struct ranklist *ret);
/* Adds "rank 3", "ranks 0-2, 5" or "no rank". */
void buf_ranks(struct buf *b, const struct ranklist *l);
void buf_bits(struct buf *b, const struct collective_set *s, const collective_bits *bits);
/* Adds "all_reduce number 41 of group default_pg", or "the send from rank 1 to rank 2 in group pp". */
void buf_wait(struct buf *b, const struct collective_set *s, const struct collective_wait *w);
/* Adds " at train.py:40 (step)", or nothing. */
void buf_where(struct buf *b, const struct collective_call *c);

struct buf verdict_text(struct collective_verdict *v);
void verdict_advise(struct collective_verdict *v, const char *advice);
/* Adds a line of evidence; the last place says that there is more. */
void verdict_prove(struct collective_verdict *v, const char *source, const char *fmt, ...) printf_like(3, 4);
void verdict_blame(struct collective_verdict *v, const struct ranklist *l);
void verdict_call(const struct collective_set *s, struct collective_verdict *v, const struct collective_wait *w);
const char *collective_source_name(const struct collective_set *s, enum collective_source source);

/* Judges calls of one number that differ, or only those that worked nevertheless. False: there is no such clash. */
bool collective_judge_clash(const struct collective_set *s, bool minor, struct collective_verdict *v);
/* Judges sends that wait for receives of another size or type. False: there is none. */
bool collective_judge_pairs(const struct collective_set *s, struct collective_verdict *v);
/*
 * Judges calls that have ended on some ranks and not on others, though all are in them. False: there is none. pairs:
 * sends and receives instead, of which one side may just be slower to notice the end.
 */
bool collective_judge_devices(const struct collective_set *s, bool pairs, struct collective_verdict *v);
/* Evidence of one wait. */
void verdict_prove_wait(const struct collective_set *s, const struct collective_wait *one,
			struct collective_verdict *v);
/* Judges the states of communicators that RAS reports. False: they explain nothing. */
bool collective_judge_states(const struct collective_set *s, struct collective_verdict *v);
