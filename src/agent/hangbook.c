#include "agent/hangbook.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "agent/rulefiles.h"
#include "base/buf.h"
#include "judge/causes.h"
#include "sense/deathlog.h"
#include "sense/kmsg.h"
#include "sense/rulescan.h"

#define LOG_TAIL (256 * 1024)
#define KERNEL_RECORDS 20000

struct hangbook {
	struct rulebook book;
	struct cause_set set;
	struct rulescan *scan;
	int64_t since_unix_ms, offset_ms;
	const struct crew *crew; /* while the kernel's log is read */
	char name[2 * HANG_RANKS][64]; /* rulescan borrows them until the verdict */
	size_t n_names;
	char tail[LOG_TAIL];
};

static void matched(void *data, const struct rule_match *m)
{
	ignore(cause_set_add(data, m), "without memory there is one match less");
}

static int load(const struct world *w, const char *rules, struct rulebook *b, struct fault *f)
{
	int r = rulefiles_own(w, b, f);
	struct span rest = span_of(rules);
	while (r == 0 && rest.len > 0) {
		char path[PATH_MAX];
		struct span after = span_after(rest, ",");
		span_copy(span_before(rest, ","), path, sizeof(path));
		r = rulefiles_add(b, path, f);
		rest = after.p ? after : (struct span){rest.p, 0};
	}
	return r;
}

struct hangbook *hangbook_open(const struct world *w, const char *rules, char why[static 120])
{
	struct fault f = {.text = ""};
	struct hangbook *b = calloc(1, sizeof(*b));
	int r = b ? load(w, rules, &b->book, &f) : -ENOMEM;
	if (r == 0)
		r = rulescan_new(&b->book, LITERAL_OWN, matched, &b->set, &b->scan);
	if (r == 0)
		return b;
	(void)text_format(why, 120, "log: the cause book cannot be used: %s",
			  f.text[0] ? f.text : strerror(r < 0 ? -r : EIO));
	return hangbook_close(b);
}

struct hangbook *hangbook_close(struct hangbook *b)
{
	if (!b)
		return NULL;
	rulescan_free(b->scan);
	cause_set_done(&b->set);
	rulebook_done(&b->book);
	free(b);
	return NULL;
}

void hangbook_text(struct hangbook *b, enum rule_source source, const char *name, int32_t rank, struct span text)
{
	ignore(rulescan_text(b->scan, source, name, rank, text), "without memory there is one source less");
}

static void log_read(struct hangbook *b, const char *dir, int32_t rank, const char *end)
{
	char path[400];
	struct span tail;
	if (b->n_names == ARRAY_SIZE(b->name))
		return;
	char *name = b->name[b->n_names];
	TEXT_FORMAT(path, "%s/rank-%d.%s", dir, MAX(rank, 0), end);
	if (deathlog_tail(AT_FDCWD, path, b->tail, sizeof(b->tail), &tail) != 0 || tail.len == 0)
		return;
	if (rank == NO_RANK)
		(void)text_format(name, sizeof(b->name[0]), "std%s", end);
	else
		(void)text_format(name, sizeof(b->name[0]), "rank %d std%s", rank, end);
	b->n_names++;
	hangbook_text(b, RULE_LOG, name, rank, tail);
}

void hangbook_logs(struct hangbook *b, const struct hang_job *job)
{
	if (job->log_dir[0] == '\0')
		return;
	for (size_t i = 0; i < job->n_ranks; i++) {
		log_read(b, job->log_dir, job->rank[i].rank, "out");
		log_read(b, job->log_dir, job->rank[i].rank, "err");
	}
}

static pid_t number_at(struct span s)
{
	uint64_t v;
	return s.p && span_u64_prefix(s, &v) == 0 && v > 0 && v <= INT32_MAX ? (pid_t)v : 0;
}

/* "task python:812 blocked", "[python:812]": the number behind the last colon before the mark. */
static pid_t number_before(struct span line, const char *mark)
{
	struct span head = span_before(line, mark);
	const char *colon = head.len < line.len ? span_rfind(head, ":") : NULL;
	return colon ? number_at((struct span){colon + 1, (size_t)(head.p + head.len - colon - 1)}) : 0;
}

pid_t hangbook_subject(struct span line)
{
	static const char *const before_number[] = {"Killed process ", ",pid=", " kill process "};
	for (size_t i = 0; i < ARRAY_SIZE(before_number); i++) {
		pid_t pid = number_at(span_after(line, before_number[i]));
		if (pid)
			return pid;
	}
	if (span_has(line, "blocked for more than"))
		return number_before(line, " blocked for more than");
	if (span_has(line, "]: segfault at") || span_has(line, "] trap ") || span_has(line, "] general protection")) {
		struct span head = span_before(line, "]");
		const char *open = span_rfind(head, "[");
		return open ? number_at((struct span){open + 1, (size_t)(head.p + head.len - open - 1)}) : 0;
	}
	return 0;
}

static void kernel_record(const struct kmsg_record *r, void *data)
{
	struct hangbook *b = data;
	char text[1024];
	if (r->facility != 0 || kmsg_unix_ms(r, b->offset_ms) < b->since_unix_ms)
		return;
	size_t n = kmsg_unescape(r->text, text, sizeof(text));
	pid_t subject = hangbook_subject((struct span){text, n});
	if (subject && !crew_knows(b->crew, subject))
		return;
	hangbook_text(b, RULE_KMSG, "kernel log", NO_RANK, (struct span){text, n});
}

int hangbook_kernel(struct hangbook *b, const struct world *w, const struct crew *crew, int64_t since_unix_ms)
{
	cleanup(freep) struct kmsg *k = malloc(sizeof(*k));
	size_t n = 0;
	if (!k)
		return -ENOMEM;
	b->crew = crew;
	b->since_unix_ms = since_unix_ms;
	b->offset_ms = kmsg_unix_offset_ms(w);
	int r = kmsg_open(w, KMSG_FROM_START, k);
	if (r)
		return r;
	r = kmsg_drain(k, KERNEL_RECORDS, kernel_record, b, &n);
	kmsg_close(k);
	return r;
}

void hangbook_judge(struct hangbook *b, struct cause_verdict *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (causes_judge(&b->set, ret) != 0)
		ret->valid = false;
}
