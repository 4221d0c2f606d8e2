#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "tell/notify/notify_parts.h"

void notify_headline(const struct notice *n, struct buf *b)
{
	if (n->test)
		buf_add(b, n->title);
	else if (n->resolved)
		buf_printf(b, "[resolved] %s", n->title);
	else
		buf_printf(b, "[%s] %s%s%s", notice_severity_name(n->severity), n->job, n->job[0] ? ": " : "",
			   n->title);
	if (n->count > 1 && strcmp(n->kind, "digest") != 0)
		buf_printf(b, " (and %u more like it)", n->count - 1);
}

static void notify_body_ranks(const struct notice *n, struct buf *b)
{
	for (size_t i = 0; i < n->n_ranks; i++)
		buf_printf(b, "%s%d", i ? ", " : n->n_ranks > 1 ? ", ranks " : ", rank ", n->ranks[i]);
}

void notify_body_text(const struct notice *n, struct buf *b)
{
	char when[24];
	buf_printf(b, "%s on %s", n->kind, n->node);
	notify_body_ranks(n, b);
	if (n->attempt > 0)
		buf_printf(b, ", attempt %u", n->attempt);
	buf_printf(b, ", %s\n", time_format(n->time_unix_ms, when));
	if (n->text[0])
		buf_printf(b, "\n%s\n", n->text);
	if (n->cause[0] && n->confidence[0])
		buf_printf(b, "Cause: %s, confidence %s\n", n->cause, n->confidence);
	if (n->n_evidence > 0)
		buf_add(b, "\nEvidence:\n");
	for (size_t i = 0; i < n->n_evidence; i++)
		buf_printf(b, "- %s\n", n->evidence[i]);
	if (n->n_advice > 0)
		buf_add(b, "\nWhat to do:\n");
	for (size_t i = 0; i < n->n_advice; i++)
		buf_printf(b, "- %s\n", n->advice[i]);
	if (n->command[0])
		buf_printf(b, "\nMore: %s\n", n->command);
	if (n->link[0])
		buf_printf(b, "%s\n", n->link);
}

void notify_escape(const char *src, const char *from, const char *const *to, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (; *src && !b.cut; src++) {
		const char *special = strchr(from, *src);
		if (special)
			buf_add(&b, to[special - from]);
		else
			buf_add_n(&b, src, 1);
	}
	/* a cut text must not end within a character */
	if (b.cut)
		while (b.len > 0 && ((unsigned char)dst[b.len - 1] & 0xc0) == 0x80)
			dst[--b.len] = '\0';
	if (b.cut && b.len > 0 && (unsigned char)dst[b.len - 1] >= 0xc0)
		dst[--b.len] = '\0';
}

int notify_body_json(struct notify_job *j, struct js *body)
{
	char *text = js_text(body, 0);
	js_free(body);
	if (!text)
		return fault_set(j->f, -ENOMEM, "no memory for a message");
	j->request->body = text;
	j->request->body_len = strlen(text);
	notify_header(j->request, "Content-Type: application/json; charset=utf-8");
	return 0;
}

void notify_header(struct notify_request *r, const char *fmt, ...)
{
	if (r->n_headers == NOTIFY_HEADERS)
		return;
	char *to = r->header[r->n_headers++];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(to, sizeof(r->header[0]), fmt, ap);
	va_end(ap);
	for (char *p = to; *p; p++)
		if ((unsigned char)*p < 0x20)
			*p = ' '; /* a header is one line */
}

int notify_need_secret(const struct notify_job *j)
{
	return j->secrets->secret[0] ? 0
				     : fault_set(j->f, -EINVAL, "channel %s: its secret_file is empty or not named",
						 j->channel->name);
}

const char *notify_colour(const struct notice *n)
{
	static const char *const colours[] = {"#2f6fde", "#d9a300", "#d4462c", "#a30021"};
	return n->resolved ? "#2e8b57" : colours[MIN((size_t)n->severity, ARRAY_SIZE(colours) - 1)];
}
