#include "model/rankerrors.h"

#include <string.h>

#include "base/buf.h"

void rankerrors_set(struct rankerrors *e, int32_t rank, bool follows, bool exited, const char *text)
{
	size_t i = 0;
	while (i < e->n && e->of[i].rank != rank)
		i++;
	if (text[0] == '\0') {
		if (i < e->n)
			e->of[i] = e->of[--e->n];
		return;
	}
	if (i == RANKERRORS_MAX)
		return;
	e->n = MAX(e->n, i + 1);
	e->of[i] = (struct rankerror){.rank = rank, .follows = follows, .exited = exited};
	TEXT_COPY(e->of[i].text, text);
}

void rankerrors_line(const struct rankerrors *e, size_t n_ranks, char *dst, size_t cap)
{
	const struct rankerror *first = NULL;
	struct buf b = {.text = dst, .cap = cap};
	size_t n = 0;
	buf_reset(&b);
	for (size_t i = 0; i < e->n; i++) {
		n += !e->of[i].follows;
		if (!e->of[i].follows && (!first || (first->exited && !e->of[i].exited)))
			first = &e->of[i];
	}
	if (!first || n_ranks < 2 || n * 2 > n_ranks)
		return;
	buf_printf(&b, "rank_error %zu ranks=", n);
	const char *comma = "";
	for (size_t i = 0; i < e->n; i++) {
		if (e->of[i].follows || e->of[i].rank == NO_RANK)
			continue;
		buf_printf(&b, "%s%d", comma, e->of[i].rank);
		comma = ",";
	}
	buf_printf(&b, ": %s", first->text);
}
