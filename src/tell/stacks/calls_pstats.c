#include "tell/stacks/calls_show.h"

#include <string.h>

/*
 * One dict, as marshal.dumps writes it: (file, line, name) to (primitive
 * calls, calls, own, cumulative, callers), and in callers (calls, primitive
 * calls, own, cumulative), the order that cProfile has there. A name is
 * written once and referred to afterwards.
 */

struct writer {
	FILE *to;
	uint32_t *ref; /* of a function's name, from 1; 0: not written yet */
	uint32_t n_refs;
};

static void put_u32(const struct writer *w, uint32_t v)
{
	const unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
				    (unsigned char)(v >> 24)};
	(void)fwrite(b, 1, sizeof(b), w->to);
}

static void put_i32(const struct writer *w, int32_t v)
{
	fputc('i', w->to);
	put_u32(w, (uint32_t)v);
}

/* As a number of four bytes where it fits, else in digits of 15 bits. */
static void put_count(const struct writer *w, uint64_t count)
{
	uint64_t v = MIN(count, (uint64_t)INT64_MAX); /* a larger value is a sum that was capped */
	if (v <= INT32_MAX) {
		put_i32(w, (int32_t)v);
		return;
	}
	uint32_t n = 0;
	for (uint64_t rest = v; rest; rest >>= 15)
		n++;
	fputc('l', w->to);
	put_u32(w, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t digit = (uint32_t)(v >> (15 * i)) & 0x7fff;
		fputc((int)(digit & 0xff), w->to);
		fputc((int)(digit >> 8), w->to);
	}
}

static void put_seconds(const struct writer *w, double v)
{
	uint64_t bits;
	memcpy(&bits, &v, sizeof(bits));
	fputc('g', w->to);
	put_u32(w, (uint32_t)bits);
	put_u32(w, (uint32_t)(bits >> 32));
}

/* Length of the sequence that Python's decoder takes (lone surrogates included: marshal passes them); 0 if none. */
static size_t sequence(const unsigned char *s, size_t left)
{
	size_t n = s[0] < 0x80			 ? 1
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
		   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
						 : 0;
	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
	bool too_high = s[0] == 0xf4 && s[1] >= 0x90;
	return overlong || too_high ? 0 : n;
}

/* Invalid bytes become '?': Python would refuse the whole file. */
static void calls_pstats_put_text(const struct writer *w, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = strlen(text);
	fputc('u', w->to);
	put_u32(w, (uint32_t)len);
	for (size_t i = 0; i < len;) {
		size_t n = sequence(s + i, len - i);
		if (n == 0)
			fputc('?', w->to);
		else
			(void)fwrite(s + i, 1, n, w->to);
		i += n ? n : 1;
	}
}

static void put_tuple(const struct writer *w, unsigned n)
{
	fputc(')', w->to);
	fputc((int)n, w->to);
}

static void put_name(struct writer *w, const struct calls *c, uint32_t i)
{
	const struct call_function *f = calls_get(c, i);
	if (w->ref[i]) {
		fputc('r', w->to);
		put_u32(w, w->ref[i] - 1);
		return;
	}
	w->ref[i] = ++w->n_refs;
	fputc(')' | 0x80, w->to);
	fputc(3, w->to);
	calls_pstats_put_text(w, f->file);
	put_i32(w, f->line);
	calls_pstats_put_text(w, f->name);
}

static void put_function(struct writer *w, const struct calls *c, uint32_t i)
{
	const struct call_function *f = calls_get(c, i);
	put_name(w, c, i);
	put_tuple(w, 5);
	put_count(w, f->n_primitive);
	put_count(w, f->n_calls);
	put_seconds(w, f->own_s);
	put_seconds(w, f->cumulative_s);
	fputc('{', w->to);
	for (size_t k = 0; k < f->n_edges; k++) {
		const struct call_edge *e = &f->edges[k];
		put_name(w, c, e->caller);
		put_tuple(w, 4);
		put_count(w, e->n_calls);
		put_count(w, e->n_primitive);
		put_seconds(w, e->own_s);
		put_seconds(w, e->cumulative_s);
	}
	fputc('0', w->to);
}

int calls_pstats(const struct calls *c, FILE *to)
{
	size_t n = calls_len(c);
	cleanup(freep) uint32_t *ref = calloc(n ? n : 1, sizeof(*ref));
	struct writer w = {.to = to, .ref = ref};
	if (!ref)
		return -ENOMEM;
	fputc('{', to);
	for (uint32_t i = 0; i < n; i++)
		if (call_function_is_counted(calls_get(c, i)))
			put_function(&w, c, i);
	fputc('0', to);
	return ferror(to) ? -EIO : 0;
}
