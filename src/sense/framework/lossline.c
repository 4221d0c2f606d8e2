#include "sense/framework/lossline.h"

#include <string.h>
#include <strings.h>

/* Longer names are no metric's. */
#define NAME_MOST 64
/* The words before "loss" that may belong to its name: "lm loss", "train loss". */
#define WORDS_MOST 3

static bool decimal(char c)
{
	return c >= '0' && c <= '9';
}

static bool of_name(char c)
{
	return char_letter(c) || decimal(c) || c == '_' || c == '/' || c == '-' || c == '.' || c == '@';
}

static bool is_one(struct span word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == word.len && strncasecmp(list[i], word.p, word.len) == 0)
			return true;
	return false;
}

/* Length of "nan", "inf" or "infinity" as a whole word at s.p[at]; 0: none. A sign before it belongs to it. */
static size_t value_at(struct span s, size_t at, bool *ret_infinite)
{
	static const char *const values[] = {"nan", "infinity", "inf"};
	if (at > 0 && (of_name(s.p[at - 1]) && s.p[at - 1] != '-'))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		size_t n = strlen(values[i]);
		if (s.len - at < n || strncasecmp(s.p + at, values[i], n) != 0)
			continue;
		char next = at + n < s.len ? s.p[at + n] : ' ';
		if (char_letter(next) || decimal(next) || next == '_' || next == '/' || next == '-' ||
		    (next == '.' && at + n + 1 < s.len && of_name(s.p[at + n + 1])))
			return 0;
		*ret_infinite = i > 0;
		return n;
	}
	return 0;
}

/* ---- names ---- */

/* The last part of a line that ends in `end`, made of these characters; end moves to its beginning. */
static struct span part_before(struct span s, size_t *end, bool (*is)(char c))
{
	size_t to = *end, from = to;
	while (from > 0 && is(s.p[from - 1]))
		from--;
	*end = from;
	return (struct span){s.p + from, to - from};
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t skip_back(struct span s, size_t end, const char *set)
{
	while (end > 0 && strchr(set, s.p[end - 1]))
		end--;
	return end;
}

/* True if a part of the name is, or ends in, "loss", and no part says that it is something else about it. */
static bool names_loss(struct span name)
{
	static const char *const others[] = {
		"scale", "scaler", "scaling", "weight",	 "weights",  "filter", "fn",	  "func", "type",   "mask",
		"best",	 "min",	   "lowest",  "minimum", "previous", "prev",   "initial", "init", "target", "threshold",
		"limit", "max",	   "old",     "check",	 "guard",    "skip",   "py",	  "nan",  "inf"};
	bool loss = false;
	for (size_t at = 0; at < name.len;) {
		size_t n = 0;
		while (at + n < name.len && char_letter(name.p[at + n]))
			n++;
		struct span word = {name.p + at, n};
		if (is_one(word, others, ARRAY_SIZE(others)))
			return false;
		loss |= (n >= 4 && strncasecmp(word.p + n - 4, "loss", 4) == 0) ||
			(n == 6 && strncasecmp(word.p, "losses", 6) == 0);
		at += n + 1;
	}
	return loss;
}

/* "grad_norm", and "norm" behind "grad"; the name begins at `from`. */
static bool names_norm(struct span s, struct span name, size_t from)
{
	static const char *const names[] = {"grad_norm",     "gradnorm",	"gnorm",	   "grad-norm",
					    "gradient_norm", "train/grad_norm", "global_grad_norm"};
	static const char *const grads[] = {"grad", "gradient", "gradients"}, *const norm = "norm";
	size_t to = skip_back(s, from, " \t");
	return is_one(name, names, ARRAY_SIZE(names)) ||
	       (is_one(name, &norm, 1) && is_one(part_before(s, &to, of_name), grads, ARRAY_SIZE(grads)));
}

/* A word that may stand before "loss" without making the line prose. */
static bool is_attribute(struct span word)
{
	static const char *const words[] = {
		"train", "training", "val",  "valid",	"validation", "eval",	 "evaluation", "test",	  "testing",
		"lm",	 "total",    "avg",  "average", "mean",	      "running", "epoch",      "batch",	  "step",
		"nll",	 "mlm",	     "iter", "current", "smoothed",   "the",	 "error",      "warning", "info"};
	return is_one(word, words, ARRAY_SIZE(words));
}

static bool is_best(struct span word)
{
	static const char *const words[] = {"best",	"min",	"minimum", "lowest",
					    "previous", "prev", "initial", "target"};
	return is_one(word, words, ARRAY_SIZE(words));
}

/* The words before a name on the same side of a separator; false where one makes it the best or the first loss. */
static bool words_before(struct span s, size_t end, bool *ret_prose)
{
	static const char *const joins = "and";
	*ret_prose = false;
	for (size_t i = 0; i < WORDS_MOST; i++) {
		size_t to = end;
		(void)part_before(s, &to, blank);
		struct span word = part_before(s, &to, of_name);
		if (word.len == 0 || decimal(word.p[0]) || is_one(word, &joins, 1))
			return true;
		if (is_best(word))
			return false;
		if (!is_attribute(word)) {
			*ret_prose = true;
			return true;
		}
		end = to;
	}
	return true;
}

/* ---- what stands between a name and its value ---- */

/* "tensor(", "np.float32(", "[": the end of what stands before the value's wrapping. */
static size_t unwrap(struct span s, size_t end)
{
	static const char *const calls[] = {"tensor", "array", "float32", "float64", "float", "DeviceArray"};
	for (;;) {
		size_t to = skip_back(s, end, "[('\"");
		bool called = to < end && s.p[to] == '(';
		size_t from = to;
		struct span word = called ? part_before(s, &from, of_name) : (struct span){NULL, 0};
		const char *dot = word.len > 0 ? memrchr(word.p, '.', word.len) : NULL;
		struct span last = dot ? (struct span){dot + 1, (size_t)(word.p + word.len - dot) - 1} : word;
		if (!called || !is_one(last, calls, ARRAY_SIZE(calls)))
			return to;
		end = from;
	}
}

enum between { NOTHING, BLANKS, SIGN, VERB };

/* *end moves to the end of the name. */
static enum between between_of(struct span s, size_t *end)
{
	static const char *const verbs[] = {"is", "was", "became", "becomes"};
	static const char bar[] = "\xe2\x94\x82";
	size_t at = *end;
	enum between found = NOTHING;
	for (bool more = true; more;) {
		size_t to = skip_back(s, at, " \t'\"");
		found = to < at && found == NOTHING ? BLANKS : found;
		more = false;
		if (to > 0 && strchr(":=|", s.p[to - 1])) {
			to--;
			found = SIGN;
			more = true;
		} else if (to >= sizeof(bar) - 1 && memcmp(s.p + to - (sizeof(bar) - 1), bar, sizeof(bar) - 1) == 0) {
			to -= sizeof(bar) - 1;
			found = SIGN;
			more = true;
		}
		at = to;
	}
	size_t from = at;
	struct span word = part_before(s, &from, char_letter);
	if (found == BLANKS && is_one(word, verbs, ARRAY_SIZE(verbs))) {
		at = skip_back(s, from, " \t");
		found = VERB;
	}
	*end = at;
	return found;
}

/* Behind a value that blanks alone part from its name: the end, a sign, or "word 0.3" of the next metric. */
static bool ends_well(struct span s, size_t at)
{
	while (at < s.len && blank(s.p[at]))
		at++;
	if (at == s.len || !char_letter(s.p[at]))
		return true;
	while (at < s.len && of_name(s.p[at]))
		at++;
	while (at < s.len && strchr(" \t:=", s.p[at]))
		at++;
	bool infinite;
	return at < s.len && (decimal(s.p[at]) || s.p[at] == '-' || value_at(s, at, &infinite));
}

static void name_keep(struct span name, struct lossline *ret)
{
	if (!ret->name[0])
		span_copy(name, ret->name, sizeof(ret->name));
}

/* The value of n bytes at `at`: what it is the value of. */
static void value_read(struct span s, size_t at, size_t n, bool infinite, struct lossline *ret)
{
	size_t end = at;
	if (end > 0 && (s.p[end - 1] == '-' || s.p[end - 1] == '+'))
		end--;
	end = unwrap(s, end);
	enum between between = between_of(s, &end);
	if (between == NOTHING)
		return;
	size_t from = end;
	struct span name = part_before(s, &from, of_name);
	bool prose;
	if (name.len == 0 || name.len > NAME_MOST)
		return;
	if (names_norm(s, name, from)) {
		ret->norm = true;
		return;
	}
	if (!names_loss(name) || !words_before(s, from, &prose))
		return;
	if (between != SIGN && (prose || (between == BLANKS && !ends_well(s, at + n))))
		return;
	ret->loss = true;
	ret->infinite = infinite;
	name_keep(name, ret);
}

static bool norm_there(struct span s)
{
	static const char *const words[] = {"grad_norm", "grad norm", "gnorm", "gradient norm"};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_has(s, words[i]))
			return true;
	return false;
}

void lossline_read(struct span line, struct lossline *ret)
{
	*ret = (struct lossline){.has_norm = norm_there(line)};
	for (size_t at = 0; at < line.len && !ret->loss; at++) {
		bool infinite = false;
		char c = line.p[at];
		size_t n = c == 'n' || c == 'N' || c == 'i' || c == 'I' ? value_at(line, at, &infinite) : 0;
		if (n == 0)
			continue;
		value_read(line, at, n, infinite, ret);
		at += n - 1;
	}
}
