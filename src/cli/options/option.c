#include "cli/options/option.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/foreign_path.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options/nearest.h"

#define NO_PREFIX "[no-]"
#define MAX_OPTIONS 96 /* of one command */

static bool has_negation(const struct option *o)
{
	return strncmp(o->name, NO_PREFIX, strlen(NO_PREFIX)) == 0;
}

const char *option_name(const struct option *o)
{
	return has_negation(o) ? o->name + strlen(NO_PREFIX) : o->name;
}

const struct option *option_find(const struct command *c, const char *name)
{
	for (const struct option *o = c->options; o && o->name; o++)
		if (strcmp(option_name(o), name) == 0)
			return o;
	return NULL;
}

const char *option_nearest(const struct command *c, const char *name)
{
	struct nearest n = {.typed = name};
	for (const struct option *o = c->options; o && o->name; o++)
		nearest_offer(&n, option_name(o));
	if (!n.best)
		nearest_offer(&n, "help");
	return n.best;
}

char *option_variable(const struct option *o, char dst[static 64])
{
	struct buf b = {.text = dst, .cap = 64};
	buf_reset(&b);
	buf_add(&b, strcmp(o->name, "state") == 0 ? "VIGIL_STATE_DIR" : "VIGIL_");
	for (const char *p = option_name(o); *p && b.len < 63 && strcmp(o->name, "state") != 0; p++) {
		char ch = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
		buf_add_n(&b, &ch, 1);
	}
	return dst;
}

static void *field(const struct option *o, void *opts)
{
	return (char *)opts + o->offset;
}

static int set_flag(const struct option *o, const char *value, const char *where, void *opts, struct fault *f)
{
	static const char *const yes[] = {"1", "yes", "true", "on"}, *const no[] = {"0", "no", "false", "off"};
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (strcasecmp(value, yes[i]) != 0 && strcasecmp(value, no[i]) != 0)
			continue;
		*(bool *)field(o, opts) = strcasecmp(value, yes[i]) == 0;
		return 0;
	}
	return fault_set(f, -EINVAL, "%s: '%s' is neither yes nor no; write yes, no, true, false, on, off, 1 or 0",
			 where, value);
}

static int set_u32(const struct option *o, const char *value, const char *where, void *opts, struct fault *f)
{
	uint64_t v;
	int r = span_u64(span_of(value), &v);
	if (r == -EINVAL)
		return fault_set(f, r, "%s: '%s' is not a number; a whole number such as 4 was expected", where, value);
	if (r < 0 || v > UINT32_MAX)
		return fault_set(f, -ERANGE, "%s: '%s' is too large; at most %u is possible", where, value, UINT32_MAX);
	*(uint32_t *)field(o, opts) = (uint32_t)v;
	return 0;
}

static int set_choice(const struct option *o, const char *value, const char *where, void *opts, struct fault *f)
{
	char all[256];
	struct buf b = BUF_ON(all);
	struct nearest n = {.typed = value};
	buf_reset(&b);
	for (int i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], value) == 0) {
			*(int *)field(o, opts) = i;
			return 0;
		}
		buf_printf(&b, "%s%s", i ? ", " : "", o->choices[i]);
		nearest_offer(&n, o->choices[i]);
	}
	const char *why = o->choices_why ? o->choices_why : "";
	if (n.best)
		return fault_set(f, -EINVAL, "%s: '%s' is not known; did you mean %s? (one of %s)%s%s", where, value,
				 n.best, all, *why ? "; " : "", why);
	return fault_set(f, -EINVAL, "%s: '%s' is not one of %s%s%s", where, value, all, *why ? "; " : "", why);
}

/* Copies that are never freed: options borrow their text, as they borrow arguments and the environment. */
struct kept {
	struct kept *next;
	char text[];
};
static struct kept *all_kept;

static char *keep(const char *text, const char *tail)
{
	size_t size = strlen(text) + strlen(tail) + 1;
	struct kept *k = malloc(sizeof(*k) + size);
	if (!k)
		return NULL;
	(void)text_format(k->text, size, "%s%s", text, tail);
	k->next = all_kept;
	all_kept = k;
	return k->text;
}

/* Put the place before the message of a parser of units, which begins with the value. */
static int placed(int r, const char *where, const struct fault *inner, struct fault *f)
{
	return r < 0 ? fault_set(f, r, "%s: %s", where, inner->text) : 0;
}

/* "a,b" adds two items. */
static int add_items(const struct option *o, void *opts, const char *value, const char *where, struct fault *f)
{
	const char separator[] = {o->whole ? OPTION_ITEM_END : ',', '\0'};
	struct option_list *list = field(o, opts);
	size_t most = o->most ? o->most : ARRAY_SIZE(list->item);
	char *copy = keep(value, "");
	if (!copy)
		return fault_set(f, -ENOMEM, "no memory for the arguments");
	char *rest = copy;
	for (char *item; (item = strsep(&rest, separator));) {
		struct fault inner = {.text = ""};
		if (*item == '\0')
			continue;
		if (list->n == most)
			return fault_set(f, -E2BIG, "%s: more than %zu values; %zu is the most", where, list->n,
					 list->n);
		int r = o->check ? placed(o->check(item, &inner), where, &inner, f) : 0;
		if (r < 0)
			return r;
		list->item[list->n++] = item;
	}
	return 0;
}

int option_set(const struct option *o, const char *value, const char *where, void *opts, struct fault *f)
{
	struct fault inner = {.text = ""};
	switch (o->type) {
	case OPTION_FLAG:
		return set_flag(o, value, where, opts, f);
	case OPTION_TEXT:
		*(const char **)field(o, opts) = value;
		return 0;
	case OPTION_U32:
		return set_u32(o, value, where, opts, f);
	case OPTION_SIZE:
		return placed(size_parse(value, field(o, opts), &inner), where, &inner, f);
	case OPTION_RATIO:
		return placed(ratio_parse(value, field(o, opts), &inner), where, &inner, f);
	case OPTION_DURATION:
		return placed(duration_parse(value, field(o, opts), &inner), where, &inner, f);
	case OPTION_CHOICE:
		return set_choice(o, value, where, opts, f);
	case OPTION_LIST:
		((struct option_list *)field(o, opts))->n = 0;
		return add_items(o, opts, value, where, f);
	}
	return fault_set(f, -EINVAL, "%s: an option of unknown type", where);
}

/* Formats numbers in the form that is typed: "512M", not "512 MiB". */
static void format_unit(uint64_t v, const uint64_t *factors, const char *const *units, size_t n, char *dst, size_t cap)
{
	size_t i = 0;
	if (v == UINT64_MAX) /* stands for "not given" */
		return;
	while (i + 1 < n && (v == 0 || v % factors[i] != 0))
		i++;
	(void)text_format(dst, cap, "%llu%s", (unsigned long long)(v / factors[i]), units[i]);
}

void option_format(const struct option *o, const void *opts, char *dst, size_t cap)
{
	static const uint64_t sizes[] = {GIB * 1024, GIB, MIB, KIB, 1};
	static const char *const size_units[] = {"T", "G", "M", "K", ""};
	static const uint64_t times[] = {
		24 * 3600 * NS_PER_S, 3600 * NS_PER_S, 60 * NS_PER_S, NS_PER_S, NS_PER_MS, NS_PER_US};
	static const char *const time_units[] = {"d", "h", "m", "s", "ms", "us"};
	const void *v = (const char *)opts + o->offset;
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	switch (o->type) {
	case OPTION_FLAG:
		buf_add(&b, *(const bool *)v ? "yes" : "no");
		break;
	case OPTION_TEXT:
		buf_add(&b, *(const char *const *)v ? *(const char *const *)v : "");
		break;
	case OPTION_U32:
		if (*(const uint32_t *)v != UINT32_MAX) /* not given */
			buf_printf(&b, "%u", *(const uint32_t *)v);
		break;
	case OPTION_SIZE:
		format_unit(*(const uint64_t *)v, sizes, size_units, ARRAY_SIZE(sizes), dst, cap);
		break;
	case OPTION_RATIO:
		buf_printf(&b, "%.10g", *(const double *)v);
		break;
	case OPTION_DURATION:
		format_unit(*(const uint64_t *)v, times, time_units, ARRAY_SIZE(times), dst, cap);
		break;
	case OPTION_CHOICE:
		for (int i = 0; o->choices[i]; i++)
			if (i == *(const int *)v)
				buf_add(&b, o->choices[i]);
		break;
	case OPTION_LIST:
		for (size_t i = 0; i < ((const struct option_list *)v)->n; i++)
			buf_printf(&b, "%s%s", i ? "," : "", ((const struct option_list *)v)->item[i]);
		break;
	}
}

/* "NAME:unit" -> NAME; *ret_unit is "" without one. */
static void foreign_name(const struct option *o, char dst[static 64], const char **ret_unit)
{
	text_copy(dst, 64, o->env);
	char *colon = strchr(dst, ':');
	const char *at = strchr(o->env, ':');
	*ret_unit = at ? at + 1 : "";
	if (colon)
		*colon = '\0';
}

static bool foreign_counts(const struct option *o, const void *opts)
{
	return o->env && (!o->env_if || *(const int *)((const char *)opts + o->env_if_offset) == o->env_if);
}

/* state and config have rules of their own. */
static bool names_a_place(const struct option *o)
{
	static const char *const kinds[] = {"FILE", "DIR", "URL", "PATH"};
	if (!o->arg || strcmp(o->name, "state") == 0 || strcmp(o->name, "config") == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(o->arg, kinds[i]))
			return true;
	return strcmp(o->name, "allow-host") == 0;
}

/*
 * A user's environment that sudo -E kept names no file that root reads, sends or writes, and no server: whoever could
 * set such a variable could have root overwrite any file, or send one.
 */
static bool is_refused(const struct option *o, const char *variable)
{
	const char *value = getenv(variable);
	return value && *value && names_a_place(o) && foreign_environ_given();
}

const char *option_environment(const struct option *o, const void *opts, char name[static 64])
{
	const char *value = getenv(option_variable(o, name));
	if (value && *value)
		return is_refused(o, name) ? NULL : value;
	if (!foreign_counts(o, opts))
		return NULL;
	const char *unit;
	foreign_name(o, name, &unit);
	value = getenv(name);
	if (!value || !*value)
		return NULL;
	return value[strspn(value, "0123456789.")] == '\0' ? keep(value, unit) : value;
}

int option_set_environment(const struct option *o, const char *value, const char *name, void *opts, struct fault *f)
{
	char own[64];
	int r = option_set(o, value, name, opts, f);
	if (r < 0 || !o->env_if || o->type != OPTION_DURATION || *(const uint64_t *)field(o, opts) > 0 ||
	    strcmp(name, option_variable(o, own)) == 0)
		return r;
	return fault_set(f, -EINVAL, "%s: '%s' is no time to wait; unset it, or switch it off with --%s 0", name,
			 getenv(name), option_name(o));
}

/*
 * given: [row] true if the option was given as a flag. NULL before flags are read: then variables without a condition
 * are applied, later those with one.
 */
static int set_from_environment(const struct command *c, const bool *given, void *opts, struct fault *f)
{
	for (const struct option *o = c->options; o && o->name; o++) {
		char name[64];
		size_t index = (size_t)(o - c->options);
		if ((o->env_if != 0) != (given != NULL) || (given && index < MAX_OPTIONS && given[index]))
			continue;
		if (is_refused(o, option_variable(o, name)))
			log_warning("%s is not used, as this environment is a user's (sudo -E, su -m); give --%s", name,
				    option_name(o));
		const char *value = option_environment(o, opts, name);
		int r = value ? option_set_environment(o, value, name, opts, f) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

struct parse {
	const struct command *c;
	int argc, at; /* at: index of the current argument */
	char **argv;
	void *opts;
	bool seen[MAX_OPTIONS]; /* [row] given as a flag; a list that is given again gets more items */
	struct fault *f;
};

/* What there is instead of an option of another program; NULL: it is none. */
static const char *instead_of(const struct command *c, const char *name)
{
	for (const struct option_absent *a = c->absent; a && a->name; a++)
		if (strcmp(a->name, name) == 0)
			return a->instead;
	return NULL;
}

static int unknown_option(const struct parse *p, const char *text)
{
	const char *instead = instead_of(p->c, text);
	if (instead)
		return fault_set(p->f, -EINVAL, "vigil %s: there is no --%s: %s", p->c->name, text, instead);
	const char *near = option_nearest(p->c, text);
	if (near)
		return fault_set(p->f, -EINVAL, "vigil %s: unknown option '--%s'; did you mean '--%s'?", p->c->name,
				 text, near);
	return fault_set(p->f, -EINVAL, "vigil %s: unknown option '--%s'; 'vigil %s --help' lists the options",
			 p->c->name, text, p->c->name);
}

static int set_given(struct parse *p, const struct option *o, const char *value, const char *where)
{
	size_t index = (size_t)(o - p->c->options);
	bool again = index < MAX_OPTIONS && p->seen[index];
	if (index < MAX_OPTIONS)
		p->seen[index] = true;
	if (again && o->type == OPTION_LIST)
		return add_items(o, p->opts, value, where, p->f);
	return option_set(o, value, where, p->opts, p->f);
}

/* The value of an option that is the next argument. */
static int next_value(struct parse *p, const struct option *o, const char *where, const char **ret)
{
	const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
	if (!next || (next[0] == '-' && next[1] == '-'))
		return fault_set(p->f, -EINVAL, "vigil %s: %s needs a value (%s)%s%s", p->c->name, where,
				 o->arg ? o->arg : "VALUE", next ? "; a value that begins with -- is written " : "",
				 next ? "--option=--value" : "");
	p->at++;
	*ret = next;
	return 0;
}

static int parse_long(struct parse *p, const char *text)
{
	char name[64], where[80];
	const char *equals = strchr(text, '=');
	span_copy((struct span){text, equals ? (size_t)(equals - text) : strlen(text)}, name, sizeof(name));
	TEXT_FORMAT(where, "--%s", name);
	if (strcmp(name, "help") == 0)
		return OPTION_HELP;
	const struct option *o = option_find(p->c, name);
	bool off = false;
	if (!o && strncmp(name, "no-", 3) == 0) {
		o = option_find(p->c, name + 3);
		off = o && has_negation(o);
		o = off ? o : NULL;
	}
	if (!o)
		return unknown_option(p, name);
	const char *value = equals ? equals + 1 : NULL;
	if (o->type == OPTION_FLAG && (!value || off)) {
		if (value)
			return fault_set(p->f, -EINVAL, "vigil %s: %s takes no value", p->c->name, where);
		return set_given(p, o, off ? "no" : "yes", where);
	}
	int r = value ? 0 : next_value(p, o, where, &value);
	return r < 0 ? r : set_given(p, o, value, where);
}

static const struct option *find_letter(const struct command *c, char letter)
{
	for (const struct option *o = c->options; o && o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static int unknown_letter(const struct parse *p, const char *where)
{
	const char *instead = instead_of(p->c, where + 1);
	if (instead)
		return fault_set(p->f, -EINVAL, "vigil %s: there is no %s: %s", p->c->name, where, instead);
	return fault_set(p->f, -EINVAL, "vigil %s: unknown option '%s'; 'vigil %s --help' lists the options",
			 p->c->name, where, p->c->name);
}

/* "-q", "-qn 4", "-n4" */
static int parse_letters(struct parse *p, const char *text)
{
	for (; *text; text++) {
		char where[8] = {'-', *text, '\0'};
		const struct option *o = find_letter(p->c, *text);
		if (!o && *text == 'h')
			return OPTION_HELP;
		if (!o)
			return unknown_letter(p, where);
		if (o->type == OPTION_FLAG) {
			int r = set_given(p, o, "yes", where);
			if (r < 0)
				return r;
			continue;
		}
		const char *value = text[1] ? text + 1 : NULL;
		int r = value ? 0 : next_value(p, o, where, &value);
		return r < 0 ? r : set_given(p, o, value, where);
	}
	return 0;
}

int option_parse(const struct command *c, int argc, char **argv, void *opts, int *ret_rest, struct fault *f)
{
	struct parse p = {.c = c, .argc = argc, .argv = argv, .opts = opts, .f = f};
	int r = set_from_environment(c, NULL, opts, f);
	int kept = 0; /* words among the options, moved to the front of argv for now */
	for (p.at = 0; p.at < argc && r == 0; p.at++) {
		char *text = argv[p.at];
		if (strcmp(text, "--") == 0) {
			p.at++;
			break;
		}
		if (text[0] == '-' && text[1] == '-') {
			r = parse_long(&p, text + 2);
		} else if (text[0] == '-' && text[1] != '\0') {
			r = parse_letters(&p, text + 1);
		} else if (c->stop_at_first_word) {
			break;
		} else {
			argv[kept++] = text;
		}
	}
	if (r == 0)
		r = set_from_environment(c, p.seen, opts, f);
	if (r != 0)
		return r;
	/* move these words from 0 … kept-1 to right before what is left */
	int rest = p.at - kept;
	memmove(argv + rest, argv, (size_t)kept * sizeof(*argv));
	*ret_rest = rest;
	return 0;
}
