/*
 * Mail (RFC 5322, 2045, 2047): UTF-8 text in base64. Messages of one key
 * refer to one message id that is never sent, so that readers show them as a thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/units.h"
#include "tell/notify/notify_parts.h"

/* 57 bytes make one line of 76 characters in base64. */
#define LINE_BYTES 57
/* An encoded word has at most 75 characters: 45 bytes and "=?UTF-8?B?…?=". */
#define WORD_BYTES 45

/* Writes a header's text as encoded words, split between characters. */
static void encoded_words(const char *text, struct buf *b)
{
	size_t len = strlen(text);
	for (size_t at = 0; at < len;) {
		size_t n = MIN(len - at, (size_t)WORD_BYTES);
		while (at + n < len && n > 1 && ((unsigned char)text[at + n] & 0xc0) == 0x80)
			n--;
		char word[BASE64_CAP(WORD_BYTES)];
		buf_printf(b, "%s=?UTF-8?B?%s?=", at ? "\r\n " : "", base64_of(text + at, n, word));
		at += n;
	}
}

static void address(const struct channel *c, char *dst, size_t cap)
{
	if (c->from[0])
		(void)text_format(dst, cap, "%s", c->from);
	else
		(void)text_format(dst, cap, "vigil@localhost");
}

static void message_id(const char *what, const char *of, struct buf *b)
{
	uint8_t digest[DIGEST_BYTES];
	char hex[DIGEST_HEX_CAP];
	digest_sha256(of, strlen(of), digest);
	buf_printf(b, "<%s-%.32s@vigil.invalid>", what, digest_hex(digest, hex));
}

/* "Sat, 21 Nov 2026 03:00:00 +0000" */
static void date(int64_t unix_ms, struct buf *b)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	time_t t = (time_t)(unix_ms / 1000);
	struct tm tm;
	if (gmtime_r(&t, &tm))
		buf_printf(b, "%s, %d %s %d %02d:%02d:%02d +0000", days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
			   tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void headers(const struct notify_job *j, const char *subject, struct buf *b)
{
	const struct notice *n = j->notice;
	char from[140];
	address(j->channel, from, sizeof(from));
	buf_add(b, "Date: ");
	date(j->now_unix_ms, b);
	buf_printf(b, "\r\nFrom: vigil <%s>\r\nTo: ", from);
	for (size_t i = 0; i < j->channel->to.n; i++)
		buf_printf(b, "%s<%s>", i ? ",\r\n " : "", j->channel->to.item[i]);
	buf_add(b, "\r\nSubject: ");
	encoded_words(subject, b);
	buf_add(b, "\r\nMessage-ID: ");
	message_id(n->resolved ? "resolved" : "notice", n->id, b);
	buf_add(b, "\r\nIn-Reply-To: ");
	message_id("key", n->key, b);
	buf_add(b, "\r\nReferences: ");
	message_id("key", n->key, b);
	buf_printf(b,
		   "\r\nAuto-Submitted: auto-generated\r\nX-Vigil-Severity: %s\r\nMIME-Version: 1.0\r\n"
		   "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n",
		   notice_severity_name(n->severity));
}

int notify_mail(struct notify_job *j)
{
	char subject[600], text[6600];
	struct buf s = BUF_ON(subject), t = BUF_ON(text);
	const size_t cap = 24576;
	cleanup(freep) char *message = malloc(cap);
	if (!message)
		return fault_set(j->f, -ENOMEM, "no memory for a message");
	struct buf b = {.text = message, .cap = cap};
	buf_reset(&s);
	buf_reset(&t);
	buf_reset(&b);
	notify_headline(j->notice, &s);
	notify_headline(j->notice, &t);
	buf_add(&t, "\n\n");
	notify_body_text(j->notice, &t);
	headers(j, subject, &b);
	for (size_t at = 0; at < t.len; at += LINE_BYTES) {
		char line[BASE64_CAP(LINE_BYTES)];
		buf_printf(&b, "%s\r\n", base64_of(text + at, MIN(t.len - at, (size_t)LINE_BYTES), line));
	}
	if (b.cut)
		return fault_set(j->f, -EINVAL, "channel %s: the message for so many receivers is too long",
				 j->channel->name);
	j->request->mail = true;
	j->request->body_len = b.len;
	j->request->body = take(&message);
	return 0;
}
