#include "sense/rules/rulescan.h"

#include <string.h>

#include "base/buf.h"
#include "sense/log/logprefix.h"

/* Bytes read at once. They fit into the L2 cache, and reads are few. */
#define BUFFER (256 * 1024)

/*
 * Extra length in bytes that every 'any' literal needs to be preferred over the 'all' literal, because there are
 * several of them.
 */
#define ANY_EXTRA_BYTES 4

struct trigger {
	uint32_t rule;
	enum rule_event event;
};

struct source_set {
	struct literalset *set;
	struct trigger *triggers; /* [literal] */
	bool made;
};

struct rulescan {
	const struct rulebook *book;
	enum literal_engine engine;
	rule_found *found;
	void *data;
	struct source_set *sets; /* [RULE_SOURCES]; those of another scan of the same book, or own_sets */
	struct source_set own_sets[RULE_SOURCES];
	uint32_t *n_reported; /* [rule * RULE_EVENTS + event]: number of reports in this stream */
	bool *open; /* [rule]: it has matched in any stream, so its 'clear' lines count */
	uint64_t *done_until; /* [rule * RULE_EVENTS + event]: offset in the stream up to which it is done */
	enum rule_source source;
	const char *name;
	int32_t rank;
	struct ansi ansi;
	uint64_t base; /* offset in the stream of buffer[0] */
	uint64_t lines_before; /* newlines of the stream before the offset counted */
	size_t counted; /* offset in the buffer up to which newlines are counted */
	size_t fill;
	/* The present line, as offsets in the buffer. */
	size_t line_start, line_end;
	bool has_line;
	struct span line; /* without advice */
	char buffer[BUFFER + 1]; /* ends with NUL, because sanitizers treat the text given to regexec as a string */
	char lower[RULESCAN_WINDOW];
};

/* ---- choice of literals ---- */

static const struct pattern *best_of(const struct pattern *p, size_t n)
{
	const struct pattern *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (p[i].literal[0] && (!best || strlen(p[i].literal) > strlen(best->literal)))
			best = &p[i];
	return best;
}

struct collecting {
	struct literal *literals;
	struct trigger *triggers;
	size_t n;
};

static void collect(struct collecting *c, const struct pattern *p, uint32_t rule, enum rule_event event)
{
	c->literals[c->n] = (struct literal){.text = p->literal, .ignore_case = p->ignore_case};
	c->triggers[c->n++] = (struct trigger){.rule = rule, .event = event};
}

/* Length of the shortest literal: it decides how often the literals are found by chance. 0: a pattern has none. */
static size_t shortest(const struct pattern *p, size_t n)
{
	size_t least = n > 0 ? strlen(p[0].literal) : 0;
	for (size_t i = 1; i < n; i++)
		least = MIN(least, strlen(p[i].literal));
	return least;
}

/*
 * A literal that healthy lines contain ("NET/IB") makes each of them be matched. If the literals of every 'any' are
 * longer, they are searched for instead.
 */
static void collect_rule(struct collecting *c, const struct rule *u, uint32_t index)
{
	const struct pattern *all = best_of(u->all, u->n_all);
	size_t any = shortest(u->any, u->n_any);
	if (all && strlen(all->literal) >= 4 && any < strlen(all->literal) + ANY_EXTRA_BYTES) {
		collect(c, all, index, RULE_MATCH);
	} else {
		for (size_t i = 0; i < u->n_any; i++)
			collect(c, &u->any[i], index, RULE_MATCH);
	}
	for (size_t i = 0; i < u->n_clear; i++)
		collect(c, &u->clear[i], index, RULE_CLEARED);
	for (size_t i = 0; i < u->n_contrast; i++)
		collect(c, &u->contrast[i], index, RULE_CONTRAST);
}

static int set_make(struct rulescan *s, enum rule_source source)
{
	struct source_set *set = &s->sets[source];
	size_t most = 1;
	if (set->made)
		return 0;
	for (size_t i = 0; i < s->book->n; i++)
		most += 1 + s->book->rules[i].n_any + s->book->rules[i].n_clear + s->book->rules[i].n_contrast;
	cleanup(freep) struct literal *literals = calloc(most, sizeof(*literals));
	if (!set->triggers)
		set->triggers = calloc(most, sizeof(*set->triggers));
	if (!literals || !set->triggers)
		return -ENOMEM;
	struct collecting c = {.literals = literals, .triggers = set->triggers};
	for (size_t i = 0; i < s->book->n; i++)
		if (s->book->rules[i].source == source)
			collect_rule(&c, &s->book->rules[i], (uint32_t)i);
	int r = literalset_new(literals, c.n, c.n > 0 ? s->engine : LITERAL_OWN, &set->set);
	set->made = r == 0;
	return r;
}

static int scan_new(const struct rulebook *b, enum literal_engine engine, struct source_set *sets, rule_found *found,
		    void *data, struct rulescan **ret)
{
	struct rulescan *s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	memset(s, 0, offsetof(struct rulescan, buffer));
	s->buffer[BUFFER] = '\0';
	s->book = b;
	s->engine = engine;
	s->sets = sets ? sets : s->own_sets;
	s->found = found;
	s->data = data;
	s->done_until = calloc(b->n * RULE_EVENTS + 1, sizeof(*s->done_until));
	s->n_reported = calloc(b->n * RULE_EVENTS + 1, sizeof(*s->n_reported));
	s->open = calloc(b->n + 1, sizeof(*s->open));
	int r = s->done_until && s->n_reported && s->open ? set_make(s, RULE_LOG) : -ENOMEM;
	if (r != 0) {
		rulescan_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

int rulescan_new(const struct rulebook *b, enum literal_engine engine, rule_found *found, void *data,
		 struct rulescan **ret)
{
	return scan_new(b, engine, NULL, found, data, ret);
}

int rulescan_new_like(const struct rulescan *like, rule_found *found, void *data, struct rulescan **ret)
{
	return scan_new(like->book, like->engine, like->sets, found, data, ret);
}

struct rulescan *rulescan_free(struct rulescan *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < RULE_SOURCES; i++) {
		literalset_free(s->own_sets[i].set);
		free(s->own_sets[i].triggers);
	}
	free(s->done_until);
	free(s->n_reported);
	free(s->open);
	free(s);
	return NULL;
}

/* ---- one line ---- */

typedef uint8_t block16 __attribute__((vector_size(16)));

static uint64_t newlines(const char *text, size_t len)
{
	uint64_t n = 0;
	size_t at = 0;
	while (len - at >= 16) {
		block16 sum = {0};
		size_t rounds = MIN((len - at) / 16, (size_t)255);
		for (size_t i = 0; i < rounds; i++, at += 16) {
			block16 b;
			memcpy(&b, text + at, 16);
			sum -= (block16)(b == '\n'); /* true is -1 */
		}
		for (size_t k = 0; k < 16; k++)
			n += sum[k];
	}
	for (; at < len; at++)
		n += text[at] == '\n';
	return n;
}

/* Offset in the line where advice begins; the length of the line if it has none. */
static size_t advice_at(struct rulescan *s, struct span line)
{
	static const char *const openers[] = {"might be caused by", "consider", "please try"};
	size_t end = line.len;
	for (size_t i = 0; i < line.len; i++) {
		char c = line.p[i];
		s->lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	for (size_t i = 0; i < ARRAY_SIZE(openers); i++) {
		const char *at = memmem(s->lower, end, openers[i], strlen(openers[i]));
		if (at)
			end = (size_t)(at - s->lower);
	}
	return end;
}

/* Finds the line around a byte of the buffer, or RULESCAN_WINDOW bytes of a longer line. */
static void line_find(struct rulescan *s, size_t at, size_t limit)
{
	const size_t half = RULESCAN_WINDOW / 2;
	if (s->has_line && at > s->line_start && at <= s->line_end)
		return;
	size_t from = at > half ? at - half : 0, to = MIN(at + half, limit);
	size_t start = at - 1;
	while (start > from && s->buffer[start - 1] != '\n' && s->buffer[start - 1] != '\r')
		start--;
	size_t end = at;
	while (end < to && s->buffer[end] != '\n' && s->buffer[end] != '\r')
		end++;
	s->line_start = start;
	s->line_end = end;
	s->has_line = true;
	s->line = (struct span){s->buffer + start, end - start};
	if (s->source == RULE_LOG)
		s->line.len = advice_at(s, s->line);
}

static bool any_of(const struct pattern *p, size_t n, struct span line)
{
	for (size_t i = 0; i < n; i++)
		if (pattern_match(&p[i], line, NULL))
			return true;
	return false;
}

static bool line_matches(const struct rule *u, enum rule_event event, struct span line)
{
	if (event == RULE_CLEARED)
		return any_of(u->clear, u->n_clear, line);
	if (event == RULE_CONTRAST)
		return any_of(u->contrast, u->n_contrast, line);
	for (size_t i = 0; i < u->n_all; i++)
		if (!pattern_match(&u->all[i], line, NULL))
			return false;
	return (u->n_any == 0 || any_of(u->any, u->n_any, line)) && !any_of(u->not_, u->n_not, line);
}

static void values_extract(const struct rule *u, struct span line, struct rule_match *m)
{
	for (size_t i = 0; i < u->n_captures; i++) {
		struct span groups[PATTERN_GROUPS];
		const struct rule_capture *c = &u->captures[i];
		if (m->value[c->name][0] || !pattern_match(&c->pattern, line, groups) || !groups[1].p)
			continue;
		span_copy(span_trim(groups[1]), m->value[c->name], sizeof(m->value[0]));
	}
}

static void match_report(struct rulescan *s, const struct trigger *t)
{
	struct rule_match m = {.rule = &s->book->rules[t->rule], .event = t->event, .file = s->name, .rank = s->rank};
	struct logline prefix;
	struct logprefix system;
	struct span shown = {s->buffer + s->line_start, s->line_end - s->line_start};
	uint64_t rank;
	/* A line longer than the buffer began before it; its newlines are already counted. */
	size_t upto = MAX(s->line_start, s->counted);
	s->lines_before += newlines(s->buffer + s->counted, upto - s->counted);
	s->counted = upto;
	m.line = s->lines_before + 1;
	logline_parse(shown, &prefix);
	if (prefix.rank != NO_RANK && !(prefix.local_rank && s->rank != NO_RANK))
		m.rank = prefix.rank;
	m.has_time = prefix.has_time;
	m.time_unix_ms = prefix.time_unix_ms;
	if (s->source == RULE_KMSG) {
		logprefix_parse(shown, &system);
		m.has_time |= system.has_unix;
		m.time_unix_ms = system.has_unix ? system.unix_ms : m.time_unix_ms;
	}
	values_extract(m.rule, s->line, &m);
	if (span_u64(span_of(m.value[RULE_RANK]), &rank) == 0 && rank < INT32_MAX)
		m.rank = (int32_t)rank;
	span_copy(span_trim(shown), m.text, sizeof(m.text));
	s->found(s->data, &m);
}

struct scanning {
	struct rulescan *s;
	size_t limit;
};

static void on_literal(void *data, uint32_t id, size_t end)
{
	struct scanning *c = data;
	struct rulescan *s = c->s;
	const struct trigger *t = &s->sets[s->source].triggers[id];
	uint64_t *done = &s->done_until[t->rule * RULE_EVENTS + t->event];
	uint32_t *reported = &s->n_reported[t->rule * RULE_EVENTS + t->event];
	if (s->base + end <= *done || *reported == RULESCAN_MOST || (t->event == RULE_CLEARED && !s->open[t->rule]))
		return;
	line_find(s, end, c->limit);
	*done = s->base + s->line_end;
	if (line_matches(&s->book->rules[t->rule], t->event, s->line)) {
		(*reported)++;
		s->open[t->rule] |= t->event == RULE_MATCH;
		match_report(s, t);
	}
}

static int scan(struct rulescan *s, size_t limit)
{
	struct scanning c = {.s = s, .limit = limit};
	s->has_line = false;
	int r = literalset_scan(s->sets[s->source].set, (struct span){s->buffer, limit}, on_literal, &c);
	s->lines_before += newlines(s->buffer + s->counted, limit - s->counted);
	s->counted = limit;
	return r;
}

void rulescan_remember(struct rulescan *s, const struct rule *rule)
{
	size_t i = (size_t)(rule - s->book->rules);
	if (rule >= s->book->rules && i < s->book->n)
		s->open[i] = true;
}

/* ---- the stream ---- */

int rulescan_begin(struct rulescan *s, enum rule_source source, const char *name, int32_t rank)
{
	int r = set_make(s, source);
	if (r != 0)
		return r;
	s->source = source;
	s->name = name;
	s->rank = rank;
	s->ansi = (struct ansi){.state = 0};
	s->base = s->lines_before = 0;
	s->counted = s->fill = 0;
	memset(s->done_until, 0, (s->book->n * RULE_EVENTS + 1) * sizeof(*s->done_until));
	memset(s->n_reported, 0, (s->book->n * RULE_EVENTS + 1) * sizeof(*s->n_reported));
	return 0;
}

size_t rulescan_room(struct rulescan *s, char **ret_at)
{
	*ret_at = s->buffer + s->fill;
	return BUFFER - s->fill;
}

/* Offset after the last complete line in the buffer; 0: none. */
static size_t whole_lines(const struct rulescan *s)
{
	const char *nl = memrchr(s->buffer, '\n', s->fill), *cr = memrchr(s->buffer, '\r', s->fill);
	const char *last = !nl || (cr && cr > nl) ? cr : nl;
	return last ? (size_t)(last - s->buffer) + 1 : 0;
}

static void keep_from(struct rulescan *s, size_t from)
{
	s->fill -= from;
	memmove(s->buffer, s->buffer + from, s->fill);
	s->base += from;
	s->counted -= MIN(from, s->counted);
}

int rulescan_filled(struct rulescan *s, size_t n)
{
	s->fill += ansi_strip(&s->ansi, s->buffer + s->fill, n);
	size_t limit = whole_lines(s), full = (size_t)BUFFER - RULESCAN_WINDOW;
	bool overlong = limit == 0 && s->fill > full;
	if (limit == 0 && !overlong)
		return 0;
	int r = scan(s, overlong ? s->fill : limit);
	keep_from(s, overlong ? s->fill - RULESCAN_WINDOW : limit);
	return r;
}

int rulescan_end(struct rulescan *s)
{
	int r = s->fill > 0 ? scan(s, s->fill) : 0;
	s->fill = 0;
	return r;
}

int rulescan_text(struct rulescan *s, enum rule_source source, const char *name, int32_t rank, struct span text)
{
	int r = rulescan_begin(s, source, name, rank);
	while (r == 0 && text.len > 0) {
		char *at;
		size_t n = MIN(rulescan_room(s, &at), text.len);
		memcpy(at, text.p, n);
		text.p += n;
		text.len -= n;
		r = rulescan_filled(s, n);
	}
	return r == 0 ? rulescan_end(s) : r;
}
