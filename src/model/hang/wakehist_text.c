/* The history of wakes as text, so that a command can use what a watcher has learned. */
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "model/hang/wakehist.h"

#define HEAD "vigil.wakers/1"

/* ---- writing ---- */

/* A name as one word: what is no plain character is written as %xx; "-" stands for an empty one. */
static void word_add(struct buf *b, const char *name)
{
	buf_add(b, name[0] ? " " : " -");
	for (const char *c = name; *c; c++)
		if (*c > ' ' && *c < 0x7f && *c != '%' && *c != '-')
			buf_printf(b, "%c", *c);
		else
			buf_printf(b, "%%%02x", (unsigned)(uint8_t)*c);
}

static void who_add(struct buf *b, const struct wake_who *w)
{
	buf_printf(b, " %d %d %llu %d %d", (int)w->pid, (int)w->tid, (unsigned long long)w->start_ticks, (int)w->rank,
		   w->main ? 1 : 0);
	word_add(b, w->role);
	word_add(b, w->name);
}

size_t wakehist_text(const struct wakehist *h, char *dst, size_t cap)
{
	struct buf all = {.text = dst, .cap = cap};
	buf_reset(&all);
	buf_add(&all, HEAD "\n");
	for (size_t i = 0; i < h->n; i++) {
		const struct wakehist_row *r = &h->row[i];
		char line[512];
		struct buf b = BUF_ON(line);
		buf_reset(&b);
		buf_printf(&b, "%d %llu %llu %llu %d", (int)r->wait.kind, (unsigned long long)r->wait.arg,
			   (unsigned long long)r->wait.place, (unsigned long long)r->n, r->stranger ? 1 : 0);
		who_add(&b, &r->wakee);
		who_add(&b, &r->waker);
		buf_add(&b, "\n");
		if (all.len + b.len >= cap)
			break;
		buf_add(&all, line);
	}
	return all.len;
}

/* ---- reading ---- */

static int hex_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool word_take(struct span *rest, char *dst, size_t cap)
{
	struct span w;
	size_t n = 0;
	if (!span_word(rest, &w))
		return false;
	for (size_t i = 0; !span_eq(w, "-") && i < w.len; i++) {
		char c = w.p[i];
		if (c == '%') {
			int hi = i + 2 < w.len ? hex_of(w.p[i + 1]) : -1, lo = hi >= 0 ? hex_of(w.p[i + 2]) : -1;
			if (lo < 0)
				return false;
			c = (char)(hi << 4 | lo);
			i += 2;
		}
		if (c == '\0' || n + 1 >= cap)
			return false;
		dst[n++] = c;
	}
	dst[n] = '\0';
	return true;
}

static bool wakehist_number_take(struct span *rest, uint64_t most, uint64_t *ret)
{
	struct span w;
	return span_word(rest, &w) && span_u64(w, ret) == 0 && *ret <= most;
}

static bool who_take(struct span *rest, struct wake_who *ret)
{
	uint64_t pid, tid, main;
	int64_t rank;
	struct span w;
	if (!wakehist_number_take(rest, INT32_MAX, &pid) || !wakehist_number_take(rest, INT32_MAX, &tid) ||
	    !wakehist_number_take(rest, UINT64_MAX, &ret->start_ticks) || !span_word(rest, &w) ||
	    span_i64(w, &rank) != 0 || rank < INT32_MIN || rank > INT32_MAX || !wakehist_number_take(rest, 1, &main))
		return false;
	ret->pid = (pid_t)pid;
	ret->tid = (pid_t)tid;
	ret->rank = (int32_t)rank;
	ret->main = main;
	return word_take(rest, ret->role, sizeof(ret->role)) && word_take(rest, ret->name, sizeof(ret->name));
}

static bool wakehist_row_take(struct span line, struct wakehist_row *ret)
{
	uint64_t kind, stranger;
	if (!wakehist_number_take(&line, WAKE_IPC, &kind) || !wakehist_number_take(&line, UINT64_MAX, &ret->wait.arg) ||
	    !wakehist_number_take(&line, UINT64_MAX, &ret->wait.place) ||
	    !wakehist_number_take(&line, UINT32_MAX, &ret->n) || !wakehist_number_take(&line, 1, &stranger))
		return false;
	ret->wait.kind = (enum wake_kind)kind;
	ret->stranger = stranger;
	return ret->n > 0 && who_take(&line, &ret->wakee) && who_take(&line, &ret->waker);
}

int wakehist_parse(struct span text, struct wakehist *ret)
{
	struct wakehist h = {.n = 0};
	struct span line;
	if (!span_line(&text, &line) || !span_eq(line, HEAD))
		return -EBADMSG;
	while (h.n < WAKEHIST_ROWS && span_line(&text, &line)) {
		struct wakehist_row r = {.n = 0};
		if (!wakehist_row_take(line, &r))
			continue;
		if (vec_room(&h.row, &h.cap, h.n + 1) < 0) {
			wakehist_done(&h);
			return -ENOMEM;
		}
		h.row[h.n++] = r;
	}
	*ret = h;
	return 0;
}
