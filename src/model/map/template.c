#include "model/map/template.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/vec.h"
#include "model/map/shellquote.h"

enum part_kind { PART_TEXT, PART_INPUT, PART_SEQ, PART_TOTAL, PART_SLOT };
enum part_cut { CUT_NONE, CUT_EXTENSION, CUT_NAME, CUT_FOLDER, CUT_STEM };

struct part {
	enum part_kind kind;
	enum part_cut cut;
	int32_t index; /* of an input; 0: all of them */
	struct span text;
};

struct word {
	size_t first, n; /* parts */
	bool script; /* a shell reads it */
	bool quotes; /* and has quotes of its own in it */
	bool all; /* has an input that stands for all of them */
};

struct template
{
	struct part *part;
	size_t n_parts, parts_cap;
	struct word *word;
	size_t n_words, words_cap;
	bool replaces, total, slot;
};

/* ---- reading ---- */

static int part_add(struct template *t, struct part p)
{
	if (vec_room(&t->part, &t->parts_cap, t->n_parts + 1) < 0)
		return -ENOMEM;
	struct word *w = &t->word[t->n_words - 1];
	t->part[t->n_parts++] = p;
	w->n++;
	w->quotes |= w->script && p.kind == PART_TEXT && shell_has_quotes(p.text);
	return 0;
}

static bool cut_of(struct span s, enum part_cut *ret)
{
	static const char *const names[] = {"", ".", "/", "//", "/."};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!span_eq(s, names[i]))
			continue;
		*ret = (enum part_cut)i;
		return true;
	}
	return false;
}

/* What stands between the braces; false: no replacement. */
static bool template_part(struct span s, struct part *ret)
{
	*ret = (struct part){.kind = PART_INPUT};
	if (span_eq(s, "#") || span_eq(s, "##") || span_eq(s, "%")) {
		ret->kind = s.len == 2 ? PART_TOTAL : s.p[0] == '#' ? PART_SEQ : PART_SLOT;
		return true;
	}
	bool minus = s.len > 1 && s.p[0] == '-';
	size_t digits = minus ? 1 : 0, from = digits;
	while (digits < s.len && s.p[digits] >= '0' && s.p[digits] <= '9' && digits - from < 6)
		ret->index = ret->index * 10 + (s.p[digits++] - '0');
	if ((minus || digits > from) && ret->index == 0)
		return false;
	if (minus)
		ret->index = -ret->index;
	return cut_of((struct span){s.p + digits, s.len - digits}, &ret->cut);
}

static int word_parts(struct template *t, const char *text)
{
	const char *plain = text;
	for (const char *p = text; *p;) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;
		struct part part;
		if (!end || !template_part((struct span){p + 1, (size_t)(end - p - 1)}, &part)) {
			p++;
			continue;
		}
		struct part before = {.kind = PART_TEXT, .text = {plain, (size_t)(p - plain)}};
		if ((p > plain && part_add(t, before) < 0) || part_add(t, part) < 0)
			return -ENOMEM;
		t->replaces = true;
		t->total |= part.kind == PART_TOTAL;
		t->slot |= part.kind == PART_SLOT;
		t->word[t->n_words - 1].all |= part.kind == PART_INPUT && part.index == 0;
		plain = p = end + 1;
	}
	struct part rest = {.kind = PART_TEXT, .text = span_of(plain)};
	return *plain ? part_add(t, rest) : 0;
}

static int template_word(struct template *t, const char *text, bool script)
{
	if (vec_room(&t->word, &t->words_cap, t->n_words + 1) < 0)
		return -ENOMEM;
	t->word[t->n_words++] = (struct word){.first = t->n_parts, .script = script};
	return word_parts(t, text);
}

static bool is_shell(const char *word)
{
	static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"};
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (strcmp(path_name(word), shells[i]) == 0)
			return true;
	return false;
}

/* The first word that is no option, where -c is one of the shell's; 0: its script is a file, or there is none. */
static size_t script_after(char *const *words, size_t n, size_t k)
{
	bool is_command = false, over = false;
	for (; k < n && !over && (words[k][0] == '-' || words[k][0] == '+'); k++) {
		const char *w = words[k];
		over = strcmp(w, "--") == 0 || strcmp(w, "-") == 0;
		if (w[1] == '-') {
			k += strcmp(w, "--rcfile") == 0 || strcmp(w, "--init-file") == 0;
			continue;
		}
		is_command |= w[0] == '-' && strchr(w, 'c');
		for (; *w; w++)
			k += *w == 'o' || *w == 'O'; /* the next word is its name */
	}
	return is_command && k < n ? k : 0;
}

/* A program that has the shell of a user read what follows -c. */
static bool starts_shell(char *const *words, size_t i)
{
	static const char *const programs[] = {"su", "runuser", "sg", "flock", "script"};
	if (i > 0 && strcmp(path_name(words[i - 1]), "sudo") != 0)
		return false;
	for (size_t k = 0; k < ARRAY_SIZE(programs); k++)
		if (strcmp(path_name(words[i]), programs[k]) == 0)
			return true;
	return false;
}

/* The word that a shell reads as its script. 0: there is none. */
static size_t script_word(char *const *words, size_t n)
{
	for (size_t i = 0; i + 2 < n; i++) {
		const size_t script = is_shell(words[i]) ? script_after(words, n, i + 1) : 0;
		if (script > 0)
			return script;
		for (size_t k = i + 1; starts_shell(words, i) && k + 1 < n; k++)
			if (strcmp(words[k], "-c") == 0 || strcmp(words[k], "--command") == 0)
				return k + 1;
	}
	return 0;
}

int template_new(char *const *words, size_t n, enum template_of of, struct template **ret, struct fault *f)
{
	cleanup(template_freep) struct template *t = calloc(1, sizeof(*t));
	size_t script = of == TEMPLATE_OF_LINES ? 0 : script_word(words, n);
	for (size_t i = 0; t && i < n; i++) {
		const char *perl = strstr(words[i], "{=");
		if (perl && strstr(perl, "=}"))
			return fault_set(
				f, -EINVAL,
				"'%.60s': {= … =} is Perl, which vigil does not run; use {} {.} {/} {//} {/.}, or "
				"a script of your own",
				words[i]);
		if (template_word(t, words[i], script > 0 && i == script) < 0)
			return fault_set(f, -ENOMEM, "no memory for the command");
	}
	if (!t || (!t->replaces && of != TEMPLATE_OF_BLOCKS && template_word(t, "{}", false) < 0))
		return fault_set(f, -ENOMEM, "no memory for the command");
	*ret = take(&t);
	return 0;
}

struct template *template_free(struct template *t)
{
	if (t) {
		free(t->part);
		free(t->word);
		free(t);
	}
	return NULL;
}

bool template_wants_total(const struct template *t)
{
	return t->total;
}

bool template_wants_slot(const struct template *t)
{
	return t->slot;
}

const char *template_program(const struct template *t)
{
	const struct word *w = &t->word[0];
	/* a word of one text is the user's own, and ended by a NUL */
	return w->n == 1 && t->part[w->first].kind == PART_TEXT ? t->part[w->first].text.p : NULL;
}

/* ---- filling ---- */

static struct span no_trailing_slashes(struct span s)
{
	while (s.len > 1 && s.p[s.len - 1] == '/')
		s.len--;
	return s;
}

/* As dirname of Perl's File::Basename, which GNU parallel uses. */
static struct span template_folder(struct span s)
{
	for (int again = 0; again < 2; again++) {
		const char *slash = span_rfind(s, "/");
		bool named = !slash || slash + 1 < s.p + s.len;
		s = slash ? (struct span){s.p, (size_t)(slash + 1 - s.p)} : SPAN(".");
		s = no_trailing_slashes(s);
		if (named)
			break;
	}
	return s;
}

static struct span template_name(struct span s)
{
	const char *slash = span_rfind(s, "/");
	return slash ? (struct span){slash + 1, (size_t)(s.p + s.len - slash - 1)} : s;
}

static struct span without_extension(struct span s)
{
	const char *dot = span_rfind(s, "."), *slash = span_rfind(s, "/");
	return dot && (!slash || slash < dot) ? (struct span){s.p, (size_t)(dot - s.p)} : s;
}

static struct span template_cut(enum part_cut c, struct span s)
{
	switch (c) {
	case CUT_EXTENSION:
		return without_extension(s);
	case CUT_NAME:
		return template_name(s);
	case CUT_FOLDER:
		return template_folder(s);
	case CUT_STEM:
		return without_extension(template_name(s));
	case CUT_NONE:
		break;
	}
	return s;
}

static int text_add(struct template_words *w, const char *p, size_t len)
{
	if (vec_room(&w->text, &w->cap, w->len + len + 1) < 0)
		return -ENOMEM;
	memcpy(w->text + w->len, p, len);
	w->len += len;
	return 0;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-_.+/", c));
}

static bool is_plain_text(struct span s)
{
	size_t plain = 0;
	while (plain < s.len && is_plain(s.p[plain]))
		plain++;
	return s.len > 0 && plain == s.len;
}

/* Quoted so that a shell reads it as one word. */
static int quoted_add(struct template_words *w, struct span s)
{
	if (is_plain_text(s))
		return text_add(w, s.p, s.len);
	int r = text_add(w, "'", 1);
	for (size_t i = 0; i < s.len && r == 0; i++)
		r = s.p[i] == '\'' ? text_add(w, "'\"'\"'", 5) : text_add(w, s.p + i, 1);
	return r == 0 ? text_add(w, "'", 1) : r;
}

/*
 * How an input is put into a word. What stands between the quotes of a script is read by rules that depend on all
 * before it, so there an input's name stands, and its value in an assignment at the script's beginning.
 */
enum input_as { AS_TEXT, AS_QUOTED, AS_ASSIGNMENT, AS_NAME };

struct filling {
	struct template_words *to;
	const struct template_values *v;
	size_t only; /* index of the one input that {} stands for; SIZE_MAX: all, with blanks between */
	enum input_as as;
	struct shell_scan scan; /* AS_NAME */
};

static int assignment_add(struct template_words *w, const char *name, struct span value)
{
	int r = text_add(w, name, strlen(name));
	r = r == 0 ? text_add(w, "=", 1) : r;
	r = r == 0 ? quoted_add(w, value) : r;
	return r == 0 ? text_add(w, "; ", 2) : r;
}

static int name_add(struct template_words *w, const char *name, enum shell_quote in)
{
	static const char *const before[] = {"\"${", "'\"${", "${"}, *const after[] = {"}\"", "}\"'", "}"};
	int r = text_add(w, before[in], strlen(before[in]));
	r = r == 0 ? text_add(w, name, strlen(name)) : r;
	return r == 0 ? text_add(w, after[in], strlen(after[in])) : r;
}

static int input_add(struct filling *f, const struct part *p, size_t i)
{
	static const char *const cuts[] = {"", "_noext", "_name", "_dir", "_stem"};
	char name[48];
	struct span s = template_cut(p->cut, span_of(f->v->arg[i]));
	if (f->as == AS_QUOTED)
		return quoted_add(f->to, s);
	if (f->as == AS_ASSIGNMENT && is_plain_text(s))
		return 0;
	if (f->as == AS_TEXT || is_plain_text(s))
		return text_add(f->to, s.p, s.len);
	(void)snprintf(name, sizeof(name), "input_%zu%s", i + 1, cuts[p->cut]);
	return f->as == AS_ASSIGNMENT ? assignment_add(f->to, name, s) : name_add(f->to, name, f->scan.in);
}

static int word_begin(struct template_words *w)
{
	if (vec_room(&w->at, &w->at_cap, w->argc + 1) < 0)
		return -ENOMEM;
	w->at[w->argc++] = w->len;
	return 0;
}

/* What stands between two inputs. */
static int between_add(struct filling *f)
{
	if (f->as == AS_ASSIGNMENT)
		return 0;
	if (f->as != AS_TEXT || f->v->many != MANY_PARTED)
		return text_add(f->to, " ", 1);
	int r = text_add(f->to, "", 1);
	return r == 0 ? word_begin(f->to) : r;
}

static int inputs_add(struct filling *f, const struct part *p)
{
	int64_t n = (int64_t)f->v->n_args, at = p->index > 0 ? p->index - 1 : n + p->index;
	if (p->index != 0)
		return at >= 0 && at < n ? input_add(f, p, (size_t)at) : 0;
	if (f->only != SIZE_MAX)
		return input_add(f, p, f->only);
	int r = 0;
	for (size_t i = 0; i < f->v->n_args && r == 0; i++) {
		r = i > 0 ? between_add(f) : 0;
		r = r == 0 ? input_add(f, p, i) : r;
	}
	return r;
}

static int part_fill(struct filling *f, const struct part *p)
{
	char number[24];
	const struct template_values *v = f->v;
	if (p->kind == PART_INPUT)
		return inputs_add(f, p);
	if (f->as == AS_ASSIGNMENT)
		return 0;
	if (p->kind == PART_TEXT) {
		shell_scan(&f->scan, p->text);
		return text_add(f->to, p->text.p, p->text.len);
	}
	uint64_t n = p->kind == PART_SEQ ? v->seq : p->kind == PART_SLOT ? v->slot : v->total;
	int len = snprintf(number, sizeof(number), "%llu", (unsigned long long)n);
	return text_add(f->to, number, (size_t)len);
}

static int parts_fill(const struct template *t, const struct word *word, struct filling *f, enum input_as as)
{
	int r = 0;
	f->as = as;
	for (size_t i = 0; i < word->n && r == 0; i++)
		r = part_fill(f, &t->part[word->first + i]);
	return r;
}

static int word_fill(const struct template *t, const struct word *word, const struct template_values *v, size_t only,
		     struct template_words *w)
{
	struct filling f = {.to = w, .v = v, .only = only};
	int r = word_begin(w);
	if (r == 0 && word->quotes)
		r = parts_fill(t, word, &f, AS_ASSIGNMENT);
	if (r == 0)
		r = parts_fill(t, word, &f, word->quotes ? AS_NAME : word->script ? AS_QUOTED : AS_TEXT);
	return r == 0 ? text_add(w, "", 1) : r;
}

/* A shell would see no word where the only input that makes it is missing. */
static bool is_missing(const struct template *t, const struct word *word, const struct template_values *v)
{
	const struct part *p = &t->part[word->first];
	int64_t n = (int64_t)v->n_args;
	if (word->n != 1 || word->script || p->kind != PART_INPUT || p->index == 0)
		return false;
	return p->index > n || p->index < -n;
}

static bool word_repeats(const struct word *word, const struct template_values *v)
{
	return word->all && !word->script && (word->n == 1 || (v->many == MANY_WORDS && v->n_args > 0));
}

int template_fill(const struct template *t, const struct template_values *v, struct template_words *w)
{
	w->argc = w->len = 0;
	for (size_t i = 0; i < t->n_words; i++) {
		const struct word *word = &t->word[i];
		bool repeats = word_repeats(word, v);
		size_t times = repeats ? v->n_args : is_missing(t, word, v) ? 0 : 1;
		for (size_t k = 0; k < times; k++) {
			int r = word_fill(t, word, v, repeats ? k : SIZE_MAX, w);
			if (r < 0)
				return r;
		}
	}
	if (vec_room(&w->argv, &w->argv_cap, w->argc + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < w->argc; i++)
		w->argv[i] = w->text + w->at[i];
	w->argv[w->argc] = NULL;
	return 0;
}

void template_words_done(struct template_words *w)
{
	free(w->argv);
	free(w->text);
	free(w->at);
	*w = (struct template_words){.argv = NULL};
}

size_t template_words_bytes(const struct template_words *w)
{
	return w->len > 0 ? w->len - 1 : 0;
}

char *template_line(const struct template_words *w)
{
	struct template_words line = {.argv = NULL};
	int r = 0;
	for (size_t i = 0; i < w->argc && r == 0; i++) {
		r = i > 0 ? text_add(&line, " ", 1) : 0;
		r = r == 0 ? quoted_add(&line, span_of(w->argv[i])) : r;
	}
	if (r == 0)
		r = text_add(&line, "", 1);
	if (r < 0)
		template_words_done(&line);
	return line.text;
}
