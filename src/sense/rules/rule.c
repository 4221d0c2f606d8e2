#include "sense/rules/rule.h"

#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

#define MOST_RULES 1000
/* Minimum length of a literal; shorter ones occur in too many lines of a log. */
#define SHORTEST_LITERAL 4

static const char *const sources[] = {"log", "kmsg", "stack", "env", "counter"};
static const char *const roles[] = {"root", "cascade", "confirmation"};
static const char *const confidences[] = {"low", "medium", "high"};
static const char *const blames[] = {"none", "self", "peer", "listed", "missing"};
static const char *const extracts[] = {"rank", "peer",	 "pid",	  "gpu",  "hca", "seq",
				       "host", "nranks", "ranks", "what", "comm"};
static const char *const need_kinds[] = {"raise", "lower", "must"};

const char *rule_source_name(enum rule_source s)
{
	return sources[s];
}

const char *rule_role_name(enum rule_role r)
{
	return roles[r];
}

const char *rule_confidence_name(enum rule_confidence c)
{
	return confidences[c];
}

const char *rule_extract_name(enum rule_extract e)
{
	return extracts[e];
}

static void patterns_free(struct pattern *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pattern_done(&p[i]);
	free(p);
}

static void rule_done(struct rule *r)
{
	patterns_free(r->all, r->n_all);
	patterns_free(r->any, r->n_any);
	patterns_free(r->not_, r->n_not);
	patterns_free(r->clear, r->n_clear);
	patterns_free(r->contrast, r->n_contrast);
	for (size_t i = 0; i < r->n_captures; i++)
		pattern_done(&r->captures[i].pattern);
	free(r->captures);
	*r = (struct rule){.id = ""};
}

void rulebook_done(struct rulebook *b)
{
	for (size_t i = 0; i < b->n; i++)
		rule_done(&b->rules[i]);
	free(b->rules);
	for (size_t i = 0; i < b->n_files; i++)
		free(b->files[i]);
	*b = (struct rulebook){.rules = NULL};
}

const struct rule *rulebook_find(const struct rulebook *b, const char *id)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->rules[i].id, id) == 0)
			return &b->rules[i];
	return NULL;
}

/* ---- reading ---- */

struct reader {
	struct rulebook *book;
	const char *file;
	struct fault *f;
	const char *line_start;
	uint32_t line;
	struct rule rule; /* the one being read */
	bool open;
	uint32_t seen; /* bit n: key n, which may be given once, was read */
};

static int rule_wrong_at(const struct reader *r, uint32_t line, size_t column, const char *text)
{
	if (r->f) {
		TEXT_COPY(r->f->file, r->file);
		r->f->line = line;
		r->f->column = (uint32_t)column;
	}
	return fault_set(r->f, -EBADMSG, "%s:%u:%zu: %s", r->file, line, column, text);
}

static int rule_wrong(const struct reader *r, const char *at, const char *text)
{
	return rule_wrong_at(r, r->line, (size_t)(at - r->line_start) + 1, text);
}

static int no_memory(const struct reader *r)
{
	return fault_set(r->f, -ENOMEM, "no memory to read %s", r->file);
}

static int word_of(const struct reader *r, struct span value, const char *const *names, size_t n, int *ret)
{
	char text[300];
	struct buf b = BUF_ON(text);
	for (size_t i = 0; i < n; i++) {
		if (span_eq(value, names[i])) {
			*ret = (int)i;
			return 0;
		}
	}
	buf_reset(&b);
	buf_add(&b, "expected one of: ");
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", names[i]);
	return rule_wrong(r, value.p, text);
}

static int pattern_read(const struct reader *r, struct span value, struct pattern *ret)
{
	char why[160] = "";
	size_t at = 0;
	int e = pattern_init(ret, value, why, &at);
	if (e == -ENOMEM)
		return no_memory(r);
	return e < 0 ? rule_wrong(r, value.p + at, why) : 0;
}

static int pattern_add(const struct reader *r, struct span value, struct pattern **array, size_t *n)
{
	if (*n == RULE_PATTERNS)
		return rule_wrong(r, value.p, "more than 24 patterns of a kind");
	struct pattern *more = reallocarray(*array, *n + 1, sizeof(*more));
	if (!more)
		return no_memory(r);
	*array = more;
	int e = pattern_read(r, value, &more[*n]);
	*n += e == 0;
	return e;
}

/* Adds a pattern that is searched for by its literal. */
static int searched_add(const struct reader *r, struct span value, struct pattern **array, size_t *n)
{
	int e = pattern_add(r, value, array, n);
	if (e == 0 && strlen((*array)[*n - 1].literal) < SHORTEST_LITERAL)
		return rule_wrong(r, value.p,
				  "the pattern needs a piece of at least 4 plain characters that is in every match");
	return e;
}

static int capture_add(struct reader *r, struct span name, struct span value)
{
	int which;
	int e = word_of(r, name, extracts, ARRAY_SIZE(extracts), &which);
	if (e < 0)
		return e;
	if (r->rule.n_captures == RULE_CAPTURES)
		return rule_wrong(r, name.p, "more than 6 extracts");
	struct rule_capture *more = reallocarray(r->rule.captures, r->rule.n_captures + 1, sizeof(*more));
	if (!more)
		return no_memory(r);
	r->rule.captures = more;
	struct rule_capture *c = &more[r->rule.n_captures];
	c->name = (enum rule_extract)which;
	e = pattern_read(r, value, &c->pattern);
	r->rule.n_captures += e == 0;
	if (e == 0 && c->pattern.re.re_nsub == 0)
		return rule_wrong(r, value.p, "an extract takes what stands in its first parentheses; there are none");
	return e;
}

static int need_add(struct reader *r, struct span value)
{
	struct span rest = value, kind, what, name, more;
	int which;
	if (!span_word(&rest, &kind) || !span_word(&rest, &what) || !span_word(&rest, &name) || span_word(&rest, &more))
		return rule_wrong(r, value.p, "expected: raise|lower|must rule|fact NAME");
	int e = word_of(r, kind, need_kinds, ARRAY_SIZE(need_kinds), &which);
	if (e < 0)
		return e;
	if (!span_eq(what, "rule") && !span_eq(what, "fact"))
		return rule_wrong(r, what.p, "expected 'rule' or 'fact'");
	if (r->rule.n_needs == RULE_NEEDS)
		return rule_wrong(r, value.p, "more than 6 needs");
	struct rule_need *n = &r->rule.needs[r->rule.n_needs++];
	n->kind = (enum rule_need_kind)which;
	n->is_rule = span_eq(what, "rule");
	if (name.len >= sizeof(n->name))
		return rule_wrong(r, name.p, "the name is longer than 63 bytes");
	span_copy(name, n->name, sizeof(n->name));
	return 0;
}

/* Braces with anything but a name between them are plain text. */
static bool is_place(struct span name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!((name.p[i] >= 'a' && name.p[i] <= 'z') ||
		      (i > 0 && (name.p[i] == '_' || (name.p[i] >= '0' && name.p[i] <= '9')))))
			return false;
	return name.len > 0;
}

static bool place_known(struct span name)
{
	for (size_t i = 0; i < ARRAY_SIZE(extracts); i++)
		if (span_eq(name, extracts[i]))
			return true;
	return span_eq(name, "ib_timeout") || span_eq(name, "ib_timeout_22") ||
	       span_eq(name, "ib_timeout_longer");
}

static int places_check(const struct reader *r, struct span value)
{
	for (size_t i = 0; i < value.len; i++) {
		struct span rest = {value.p + i + 1, value.len - i - 1}, name = span_before(rest, "}");
		if (value.p[i] != '{' || name.len == rest.len || !is_place(name) || place_known(name))
			continue;
		char why[200];
		TEXT_FORMAT(why,
			    "nothing is ever put in for '{%.*s}'; there are rank, peer, pid, gpu, hca, seq, host, "
			    "nranks, ranks, what, comm, ib_timeout, ib_timeout_22 and ib_timeout_longer",
			    (int)MIN(name.len, (size_t)40), name.p);
		return rule_wrong(r, value.p + i, why);
	}
	return 0;
}

static int text_set(const struct reader *r, struct span value, char *dst, size_t cap)
{
	if (value.len >= cap) {
		char why[80];
		TEXT_FORMAT(why, "the text is longer than %zu bytes", cap - 1);
		return rule_wrong(r, value.p + cap - 1, why);
	}
	span_copy(value, dst, cap);
	return places_check(r, value);
}

enum {
	KEY_SOURCE,
	KEY_ROLE,
	KEY_CONFIDENCE,
	KEY_BLAME,
	KEY_CAUSE,
	KEY_SIGNATURE,
	KEY_ALL,
	KEY_ANY,
	KEY_NOT,
	KEY_CLEAR,
	KEY_CONTRAST,
	KEY_ADVICE,
	KEY_NEED
};
static const char *const keys[] = {"source", "role", "confidence", "blame",    "cause",	 "signature", "all",
				   "any",    "not",  "clear",	   "contrast", "advice", "need"};

static int once_read(struct reader *r, int key, struct span name, struct span value)
{
	struct rule *u = &r->rule;
	int which = 0, e;
	if (r->seen & (1U << key))
		return rule_wrong(r, name.p, "this key is given twice");
	r->seen |= 1U << key;
	switch (key) {
	case KEY_SOURCE:
		e = word_of(r, value, sources, ARRAY_SIZE(sources), &which);
		u->source = (enum rule_source)which;
		return e;
	case KEY_ROLE:
		e = word_of(r, value, roles, ARRAY_SIZE(roles), &which);
		u->role = (enum rule_role)which;
		return e;
	case KEY_CONFIDENCE:
		e = word_of(r, value, confidences, ARRAY_SIZE(confidences), &which);
		u->confidence = (enum rule_confidence)which;
		return e;
	case KEY_BLAME:
		e = word_of(r, value, blames, ARRAY_SIZE(blames), &which);
		u->blame = (enum rule_blame)which;
		return e;
	case KEY_CAUSE:
		return text_set(r, value, u->cause, sizeof(u->cause));
	default:
		return text_set(r, value, u->title, sizeof(u->title));
	}
}

static int key_read(struct reader *r, struct span name, struct span value)
{
	struct rule *u = &r->rule;
	int key;
	if (span_starts(name, "extract "))
		return capture_add(r, span_trim((struct span){name.p + 8, name.len - 8}), value);
	int e = word_of(r, name, keys, ARRAY_SIZE(keys), &key);
	if (e < 0)
		return e;
	switch (key) {
	case KEY_ALL:
		return pattern_add(r, value, &u->all, &u->n_all);
	case KEY_ANY:
		return pattern_add(r, value, &u->any, &u->n_any);
	case KEY_NOT:
		return pattern_add(r, value, &u->not_, &u->n_not);
	case KEY_CLEAR:
		return searched_add(r, value, &u->clear, &u->n_clear);
	case KEY_CONTRAST:
		return searched_add(r, value, &u->contrast, &u->n_contrast);
	case KEY_NEED:
		return need_add(r, value);
	case KEY_ADVICE:
		if (u->n_advice == RULE_ADVICE)
			return rule_wrong(r, value.p, "more than 4 pieces of advice");
		return text_set(r, value, u->advice[u->n_advice++], sizeof(u->advice[0]));
	default:
		return once_read(r, key, name, value);
	}
}

static bool has_literal(const struct pattern *p, size_t n)
{
	bool all = n > 0;
	for (size_t i = 0; i < n; i++)
		all &= strlen(p[i].literal) >= SHORTEST_LITERAL;
	return all;
}

/* One pattern of 'all' or every pattern of 'any' must have a literal to search for. */
static bool can_be_searched(const struct rule *u)
{
	for (size_t i = 0; i < u->n_all; i++)
		if (has_literal(&u->all[i], 1))
			return true;
	return has_literal(u->any, u->n_any);
}

static int place_rule(struct reader *r)
{
	struct rulebook *b = r->book;
	for (size_t i = 0; i < b->n; i++) {
		if (strcmp(b->rules[i].id, r->rule.id) != 0)
			continue;
		if (b->rules[i].file == r->rule.file)
			return rule_wrong_at(r, r->rule.line, 1, "there is a rule of this name in the file already");
		rule_done(&b->rules[i]);
		b->rules[i] = r->rule;
		r->rule = (struct rule){.id = ""};
		return 0;
	}
	if (b->n == MOST_RULES)
		return rule_wrong_at(r, r->rule.line, 1, "more than 1000 rules");
	if (vec_room(&b->rules, &b->cap, b->n + 1) < 0)
		return no_memory(r);
	b->rules[b->n++] = r->rule;
	r->rule = (struct rule){.id = ""};
	return 0;
}

static int rule_close(struct reader *r)
{
	const struct rule *u = &r->rule;
	if (!r->open)
		return 0;
	r->open = false;
	const char *missing = !(r->seen & (1U << KEY_SOURCE)) ? "this rule has no 'source:'"
			      : !(r->seen & (1U << KEY_ROLE)) ? "this rule has no 'role:'"
			      : !u->cause[0]		      ? "this rule has no 'cause:'"
			      : u->n_all + u->n_any == 0      ? "this rule has neither 'all:' nor 'any:'"
							      : NULL;
	if (!missing && !can_be_searched(u))
		missing = "this rule cannot be searched for: one 'all:' or every 'any:' pattern needs a piece of at "
			  "least 4 "
			  "plain characters that is in every match";
	return missing ? rule_wrong_at(r, u->line, 1, missing) : place_rule(r);
}

static int rule_open(struct reader *r, struct span name)
{
	int e = rule_close(r);
	if (e < 0)
		return e;
	if (name.len == 0 || name.len >= sizeof(r->rule.id))
		return rule_wrong(r, name.len ? name.p : r->line_start, "expected 'rule NAME', of 1 to 47 characters");
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			return rule_wrong(r, name.p + i, "a rule's name has a-z, 0-9 and _ only");
	}
	r->rule = (struct rule){.confidence = RULE_MEDIUM, .file = r->file, .line = r->line};
	span_copy(name, r->rule.id, sizeof(r->rule.id));
	r->open = true;
	r->seen = 0;
	return 0;
}

static int line_read(struct reader *r, struct span line)
{
	r->line++;
	r->line_start = line.p;
	struct span s = span_trim(line);
	if (s.len == 0 || s.p[0] == '#')
		return 0;
	if (span_starts(s, "rule ") || span_eq(s, "rule"))
		return rule_open(r, span_trim((struct span){s.p + 4, s.len - 4}));
	const char *colon = memchr(s.p, ':', s.len);
	if (!colon)
		return rule_wrong(r, s.p, "expected 'rule NAME' or 'key: value'");
	struct span name = span_trim((struct span){s.p, (size_t)(colon - s.p)});
	struct span value = span_trim((struct span){colon + 1, (size_t)(s.p + s.len - colon - 1)});
	if (!r->open)
		return rule_wrong(r, s.p, "this stands before the first 'rule NAME'");
	if (value.len == 0)
		return rule_wrong(r, colon, "a value was expected behind the colon");
	return key_read(r, name, value);
}

int rulebook_add(struct rulebook *b, struct span text, const char *file, struct fault *f)
{
	struct reader r = {.book = b, .file = file, .f = f, .line = 0};
	if (b->n_files == ARRAY_SIZE(b->files))
		return fault_set(f, -E2BIG, "more than %zu files of rules", b->n_files);
	char *name = strdup(file);
	if (!name)
		return no_memory(&r);
	r.file = b->files[b->n_files++] = name;
	struct span rest = text, line;
	int e = 0;
	while (e == 0 && span_line(&rest, &line))
		e = line_read(&r, line);
	if (e == 0)
		e = rule_close(&r);
	rule_done(&r.rule);
	return e;
}

int rulebook_check(const struct rulebook *b, struct fault *f)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct rule *u = &b->rules[i];
		for (size_t k = 0; k < u->n_needs; k++) {
			char text[200];
			if (!u->needs[k].is_rule || rulebook_find(b, u->needs[k].name))
				continue;
			TEXT_FORMAT(text, "rule %s needs rule %s, which is nowhere", u->id, u->needs[k].name);
			return rule_wrong_at(&(struct reader){.file = u->file, .f = f}, u->line, 1, text);
		}
	}
	return 0;
}
