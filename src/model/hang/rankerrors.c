#include "model/hang/rankerrors.h"

#include <string.h>

#include "base/buf.h"

void rankerrors_set(struct rankerrors *e, const struct rankerror *one)
{
	size_t i = 0;
	while (i < e->n && e->of[i].rank != one->rank)
		i++;
	if (one->text[0] == '\0') {
		if (i < e->n)
			e->of[i] = e->of[--e->n];
		return;
	}
	if (i == RANKERRORS_MAX)
		return;
	e->n = MAX(e->n, i + 1);
	e->of[i] = *one;
}

/* Orders by time, known times first; without times an error text comes before a mere exit. */
static bool before(const struct rankerror *a, const struct rankerror *b)
{
	if (a->time_unix_ms && b->time_unix_ms)
		return a->time_unix_ms < b->time_unix_ms;
	if (a->time_unix_ms || b->time_unix_ms)
		return a->time_unix_ms != 0;
	return b->exited && !a->exited;
}

/* True for a later error with another text, which the root error may have caused. */
static bool cascades(const struct rankerror *root, const struct rankerror *e)
{
	return root->time_unix_ms && e->time_unix_ms > root->time_unix_ms && strcmp(root->text, e->text) != 0;
}

void rankerrors_line(const struct rankerrors *e, size_t n_ranks, char *dst, size_t cap)
{
	const struct rankerror *root = NULL;
	struct buf b = {.text = dst, .cap = cap};
	size_t n = 0;
	buf_reset(&b);
	for (size_t i = 0; i < e->n; i++)
		if (!e->of[i].follows && (!root || before(&e->of[i], root)))
			root = &e->of[i];
	for (size_t i = 0; root && i < e->n; i++)
		n += !e->of[i].follows && !cascades(root, &e->of[i]);
	if (!root || n_ranks < 2 || n * 2 > n_ranks)
		return;
	buf_printf(&b, "rank_error %zu ranks=", n);
	const char *comma = "";
	for (size_t i = 0; i < e->n; i++) {
		if (e->of[i].follows || e->of[i].rank == NO_RANK || cascades(root, &e->of[i]))
			continue;
		buf_printf(&b, "%s%d", comma, e->of[i].rank);
		comma = ",";
	}
	buf_printf(&b, ": %s", root->text);
}

static bool earlier(const struct rank_error *a, const struct rank_error *b)
{
	if (a->follows != b->follows)
		return b->follows;
	return a->time_unix_ms && (b->time_unix_ms == 0 || a->time_unix_ms < b->time_unix_ms);
}

const struct rank_error *rank_error_root(const struct rank_error *e, size_t n)
{
	const struct rank_error *root = NULL;
	for (size_t i = 0; i < n; i++)
		if (!root || earlier(&e[i], root))
			root = &e[i];
	return root;
}

void rank_error_text(const struct rank_error *e, char *dst, size_t cap)
{
	(void)text_format(dst, cap, "%s%s%s", e->text, e->where[0] ? ", at " : "", e->where);
}
