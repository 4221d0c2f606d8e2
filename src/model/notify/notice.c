#include "model/notify/notice.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

#define DIGEST_TITLES 20

static const char *const severity_names[] = {"info", "warning", "error", "critical"};

const char *notice_severity_name(enum notice_severity s)
{
	return severity_names[MIN((size_t)s, ARRAY_SIZE(severity_names) - 1)];
}

bool notice_severity_of(const char *name, enum notice_severity *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(severity_names); i++)
		if (strcmp(severity_names[i], name) == 0) {
			*ret = (enum notice_severity)i;
			return true;
		}
	return false;
}

/*
 * Copies text without characters that would hide or reorder text in a message. The names and output of a job are
 * untrusted.
 */
static void clean(char *dst, size_t cap, const char *src)
{
	struct buf b = {.text = dst, .cap = cap};
	size_t len = strlen(src);
	buf_reset(&b);
	for (size_t at = 0, n; at < len; at += MAX(n, (size_t)1)) {
		uint32_t code = 0;
		n = utf8_char(src + at, len - at, &code);
		bool shown = n > 0 && (code == '\n' || !utf8_hidden(code));
		if (b.len + (shown ? n : 1) >= cap) {
			b.cut = true;
			break;
		}
		if (shown)
			buf_add_n(&b, src + at, n);
		else
			buf_add_n(&b, "?", 1);
	}
}

/* Like clean(), with newlines replaced by blanks. */
static void clean_line(char *dst, size_t cap, const char *src)
{
	clean(dst, cap, src);
	for (char *p = dst; *p; p++)
		if (*p == '\n')
			*p = ' ';
}
#define CLEAN_LINE(array, src) clean_line((array), sizeof(array), (src))

static enum notice_severity severity_of(const struct incident *i)
{
	if (i->retry.valid && i->retry.next == RETRY_GIVE_UP)
		return NOTICE_CRITICAL;
	if (i->retry.valid && i->retry.next == RETRY_RETRY)
		return NOTICE_WARNING;
	switch (i->kind) {
	case INCIDENT_CLEAN_EXIT:
		return NOTICE_INFO;
	case INCIDENT_STRAGGLER:
	case INCIDENT_SLOWDOWN:
		return NOTICE_WARNING;
	case INCIDENT_HANG:
		return NOTICE_CRITICAL;
	default:
		return NOTICE_ERROR;
	}
}

static void key_of(struct notice *n)
{
	TEXT_FORMAT(n->key, "%s/%s", n->job, n->kind);
}

static void paragraphs(const struct incident *i, struct notice *n)
{
	char text[sizeof(n->text)];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	if (i->cause.text[0])
		buf_printf(&b, "%s", i->cause.text);
	if (i->retry.valid && i->retry.reason[0])
		buf_printf(&b, "%sNext: %s", b.len ? "\n" : "", i->retry.reason);
	clean(n->text, sizeof(n->text), text);
}

void notice_of_incident(const struct incident *i, struct notice *ret)
{
	struct notice *n = ret;
	*n = (struct notice){
		.count = 1, .severity = severity_of(i), .attempt = i->attempt, .time_unix_ms = i->time_unix_ms};
	CLEAN_LINE(n->id, i->id);
	CLEAN_LINE(n->kind, incident_kind_name(i->kind));
	CLEAN_LINE(n->job, i->job);
	CLEAN_LINE(n->node, i->node);
	CLEAN_LINE(n->title, i->summary[0] ? i->summary : incident_kind_name(i->kind));
	CLEAN_LINE(n->cause, i->cause.id);
	if (i->cause.id[0])
		CLEAN_LINE(n->confidence, confidence_name(i->cause.confidence));
	paragraphs(i, n);
	for (size_t k = 0; k < MIN(i->n_culprits, (size_t)NOTICE_RANKS); k++)
		n->ranks[n->n_ranks++] = i->culprit_ranks[k];
	if (n->n_ranks == 0 && i->victim.valid && i->victim.rank != NO_RANK)
		n->ranks[n->n_ranks++] = i->victim.rank;
	for (size_t k = 0; k < MIN(i->cause.n_advice, (size_t)NOTICE_ADVICE); k++)
		CLEAN_LINE(n->advice[n->n_advice++], i->cause.advice[k]);
	for (size_t k = 0; k < i->n_evidence && n->n_evidence < NOTICE_EVIDENCE; k++)
		if (strcmp(i->evidence[k].kind, "not_read") != 0)
			CLEAN_LINE(n->evidence[n->n_evidence++], i->evidence[k].text);
	TEXT_FORMAT(n->command, "vigil why %s", n->id);
	key_of(n);
}

void notice_of_warning(const char *job, const char *node, const char *kind, const char *text, int64_t now_unix_ms,
		       struct notice *ret)
{
	*ret = (struct notice){.count = 1, .severity = NOTICE_WARNING, .time_unix_ms = now_unix_ms};
	CLEAN_LINE(ret->job, job);
	CLEAN_LINE(ret->node, node);
	CLEAN_LINE(ret->kind, kind);
	TEXT_FORMAT(ret->id, "%s.%s.%lld", ret->job, ret->kind, (long long)now_unix_ms);
	CLEAN_LINE(ret->title, text);
	clean(ret->text, sizeof(ret->text), text);
	TEXT_FORMAT(ret->command, "vigil mem %s", ret->job);
	key_of(ret);
}

void notice_resolve(const char *job, const char *node, const char *kind, int64_t now_unix_ms, struct notice *ret)
{
	*ret = (struct notice){.resolved = true, .count = 1, .severity = NOTICE_INFO, .time_unix_ms = now_unix_ms};
	CLEAN_LINE(ret->job, job);
	CLEAN_LINE(ret->node, node);
	CLEAN_LINE(ret->kind, kind);
	TEXT_FORMAT(ret->id, "%s.resolved.%lld", ret->job, (long long)now_unix_ms);
	TEXT_FORMAT(ret->title, "%s is well again after %s", ret->job, ret->kind);
	TEXT_COPY(ret->text, "The job went on and ended with exit status 0.");
	TEXT_FORMAT(ret->command, "vigil show %s", ret->job);
	key_of(ret);
}

void notice_of_loss(const char *job, const char *node, uint32_t attempt, const char *what, int64_t now_unix_ms,
		    struct notice *ret)
{
	*ret = (struct notice){.count = 1, .severity = NOTICE_WARNING, .attempt = attempt, .time_unix_ms = now_unix_ms};
	TEXT_COPY(ret->kind, NOTICE_LOSS);
	CLEAN_LINE(ret->job, job);
	CLEAN_LINE(ret->node, node);
	TEXT_FORMAT(ret->id, "%s.loss.%lld", ret->job, (long long)now_unix_ms);
	CLEAN_LINE(ret->title, what);
	TEXT_COPY(ret->text, "The job goes on: nothing is ended for it. What it computes from here on may be lost.");
	TEXT_COPY(ret->advice[ret->n_advice++],
		  "Look at its last lines; if the loss does not come back, end the job and "
		  "start from the checkpoint before, with a lower learning rate or with "
		  "gradients clipped.");
	TEXT_FORMAT(ret->command, "vigil logs %s --tail 50", ret->job);
	key_of(ret);
}

void notice_of_test(const char *channel, const char *node, int64_t now_unix_ms, struct notice *ret)
{
	*ret = (struct notice){.test = true, .count = 1, .severity = NOTICE_INFO, .time_unix_ms = now_unix_ms};
	TEXT_COPY(ret->kind, "test");
	TEXT_COPY(ret->job, "test");
	CLEAN_LINE(ret->node, node);
	TEXT_FORMAT(ret->id, "test-%s-%lld", channel, (long long)now_unix_ms);
	TEXT_FORMAT(ret->title, "TEST: vigil on %s can reach this channel (%s)", ret->node, channel);
	TEXT_COPY(ret->text, "Nothing happened to any job: somebody ran 'vigil notify test'.");
	TEXT_COPY(ret->command, "vigil notify list");
	TEXT_FORMAT(ret->key, "%s/test", ret->node);
}

void notice_fold(struct notice *n, const struct notice *later)
{
	n->count += later->count;
	n->severity = MAX(n->severity, later->severity);
	for (size_t i = 0; i < later->n_ranks && n->n_ranks < NOTICE_RANKS; i++) {
		bool has = false;
		for (size_t k = 0; k < n->n_ranks; k++)
			has |= n->ranks[k] == later->ranks[i];
		if (!has)
			n->ranks[n->n_ranks++] = later->ranks[i];
	}
}

void notice_digest_begin(const char *node, int64_t now_unix_ms, struct notice *ret)
{
	*ret = (struct notice){.time_unix_ms = now_unix_ms};
	TEXT_COPY(ret->kind, "digest");
	CLEAN_LINE(ret->node, node);
	TEXT_FORMAT(ret->id, "digest-%s-%lld", ret->node, (long long)now_unix_ms);
	TEXT_FORMAT(ret->key, "%s/digest", ret->node);
	TEXT_COPY(ret->command, "vigil events");
}

void notice_digest_add(struct notice *digest, const struct notice *n)
{
	size_t len = strlen(digest->text);
	uint32_t listed = 0;
	for (size_t i = 0; i < len; i++)
		listed += digest->text[i] == '\n';
	digest->count += n->count;
	digest->severity = MAX(digest->severity, n->severity);
	struct buf b = {.text = digest->text, .len = len, .cap = sizeof(digest->text)};
	if (listed < DIGEST_TITLES && len + strlen(n->title) + 24 < sizeof(digest->text)) {
		buf_printf(&b, "- %s%s", n->resolved ? "resolved: " : "", n->title);
		if (n->count > 1)
			buf_printf(&b, " (%u times)", n->count);
		buf_add(&b, "\n");
	}
	TEXT_FORMAT(digest->title, "%u notices at once", digest->count);
}

static void add_encoded(struct buf *b, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		bool plain = (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
			     strchr("-._~", *p);
		if (plain)
			buf_add_n(b, (const char *)p, 1);
		else
			buf_printf(b, "%%%02X", *p);
	}
}

void notice_link(struct notice *n, const char *pattern)
{
	const struct {
		const char *name, *value;
	} known[] = {{"{job}", n->job}, {"{incident}", n->id}, {"{node}", n->node}, {"{kind}", n->kind}};
	char text[sizeof(n->link)];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	for (const char *p = pattern; *p;) {
		size_t i = 0;
		while (i < ARRAY_SIZE(known) && strncmp(p, known[i].name, strlen(known[i].name)) != 0)
			i++;
		if (i < ARRAY_SIZE(known)) {
			add_encoded(&b, known[i].value);
			p += strlen(known[i].name);
		} else {
			buf_add_n(&b, p++, 1);
		}
	}
	TEXT_COPY(n->link, b.cut ? "" : text);
}
