#include "model/jobs/respawns.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/text.h"

/* Rows with fewer failures are given up first: of many scripts that fail once each, none is started again. */
static const uint64_t few = 3;
/* So many failures with the same last words make these the child's own. */
static const uint64_t same_words = 3;

static struct respawn *respawns_row_of(struct respawns *r, const struct process_end *e)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->of[i].parent == e->parent && strcmp(r->of[i].name, e->name) == 0)
			return &r->of[i];
	return NULL;
}

/* A free one, else the one that has not failed for longest; of those with few failures, if there are any. */
static struct respawn *row_new(struct respawns *r)
{
	struct respawn *old = NULL;
	if (r->n < RESPAWNS_KEPT)
		return &r->of[r->n++];
	for (size_t i = 0; i < r->n; i++) {
		struct respawn *x = &r->of[i];
		const bool less = old && (x->n < few) != (old->n < few) ? x->n < few : false;
		const bool older = old && (x->n < few) == (old->n < few) &&
				   renewals_last_ns(&x->failed) < renewals_last_ns(&old->failed);
		if (!old || less || older)
			old = x;
	}
	return old;
}

static void row_begin(struct respawn *x, const struct process_end *e, uint64_t now_ns)
{
	*x = (struct respawn){.parent = e->parent, .rank = NO_RANK, .since_ns = now_ns};
	TEXT_COPY(x->name, e->name);
}

struct respawn *respawns_end(struct respawns *r, const struct process_end *e, uint64_t now_ns)
{
	const uint64_t lived_ns = (uint64_t)MAX(e->time_unix_ms - e->start_unix_ms, INT64_C(0)) * 1000000;
	struct respawn *x = respawns_row_of(r, e);
	const bool anew = e->wait_status == 0 || e->well_before > 0 || lived_ns > RESPAWN_LIVED_NS;
	if (anew && x)
		row_begin(x, e, now_ns);
	if (e->wait_status == 0 || lived_ns > RESPAWN_LIVED_NS)
		return NULL;
	for (size_t i = 0; i < r->n; i++)
		r->of[i].spent_ns += e->cpu_ns;
	if (!x) {
		x = row_new(r);
		row_begin(x, e, now_ns);
	}
	x->since_ns = x->n ? x->since_ns : now_ns;
	x->n++;
	renewals_add(&x->failed, now_ns);
	x->n_same = x->n_same && x->wait_status == e->wait_status ? x->n_same + 1 : 1;
	x->wait_status = e->wait_status;
	x->lived_ns = lived_ns;
	return x;
}

/* True if they differ by their numbers alone, as pids and counts of tries do. */
static bool same_but_numbers(const char *a, const char *b)
{
	for (;;) {
		while (isdigit((unsigned char)*a))
			a++;
		while (isdigit((unsigned char)*b))
			b++;
		if (*a != *b)
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

void respawn_says(struct respawn *r, const char *command, const char *line, uint64_t now_ns)
{
	TEXT_COPY(r->command, command);
	r->words_ns = now_ns;
	r->n_words = line[0] && same_but_numbers(r->words, line) ? r->n_words + 1 : 1;
	TEXT_COPY(r->words, line);
}

uint64_t respawn_gap_ns(const struct respawn *r)
{
	return r->n > 1 ? (renewals_last_ns(&r->failed) - r->since_ns) / (r->n - 1) : 0;
}

bool respawn_by_fault(const struct respawn *r)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
	const int w = r->wait_status;
	/* A shell that waited for it hands it on as 128 and its number. */
	const int sig = WIFSIGNALED(w) ? WTERMSIG(w) : WEXITSTATUS(w) - 128;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		if (sig == faults[i])
			return true;
	return false;
}

/* "ValueError: …", "json.decoder.JSONDecodeError: …", also behind "[rank1]: ". */
static bool is_exception(const char *line)
{
	static const char *const ends[] = {"Error", "Exception", "Fault", "Panic"};
	const char *behind = line[0] == '[' ? strstr(line, "]: ") : NULL;
	const char *at = behind ? behind + 3 : line;
	size_t n = 0;
	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '.')
		n++;
	if (at[n] != ':' && at[n] != '\0')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const size_t len = strlen(ends[i]);
		if (n >= len && strncmp(at + n - len, ends[i], len) == 0)
			return true;
	}
	return false;
}

static bool has_any(const char *line, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasestr(line, words[i]))
			return true;
	return false;
}

enum respawn_words respawn_words_of(const struct respawn *r)
{
	/* What is asked for may come: a service, a file, a lock, a place, an answer. */
	static const char *const asks[] = {
		"refused",	"unreachable", "timed out", "timeout",	"resolv",	 "resolution",
		"name or service", "connect",  "not ready", "not yet",	"unavailable",	 "no such file",
		"not found",	"try again",   "temporar",  "busy",	" lock",	 "assertionerror",
		"not exist",	"http",	       "no route",  "waiting",	"already in use",
		"filenotfound",
	};
	/* Last lines of uncaught errors, as runtimes, shells and make write them. */
	static const char *const fails[] = {
		"segmentation fault", "core dumped", "panicked at", "panic: ", "terminate called", "rust_backtrace",
		"node.js v",	      "*** [",	     "error)",	    " +0x",    "execution halted",
	};
	if (r->n_words < same_words || !r->words[0])
		return RESPAWN_SILENT;
	if (has_any(r->words, asks, ARRAY_SIZE(asks)))
		return RESPAWN_ASKS;
	return is_exception(r->words) || has_any(r->words, fails, ARRAY_SIZE(fails)) ? RESPAWN_FAILS : RESPAWN_SAYS;
}
