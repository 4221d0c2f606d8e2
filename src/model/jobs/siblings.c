#include "model/jobs/siblings.h"

#include <ctype.h>
#include <string.h>

#include "base/hash.h"

/* Variables and options whose numbers count something else; compared without regard to case. */
static const char *const no_numbers[] = {"visible_devices", "seed", "fold", "trial", "port", "core", "device", "gpu"};
static const char *const no_sizes[] = {"shlvl", "thread", "epoch", "batch", "seed", "step", "port", "device", "gpu"};

/* Names of a number that say by themselves that it is one of several who work together. */
static const char *const own_numbers[] = {"rank",   "worker", "node",    "part",   "shard",
					  "peer",   "member", "replica", "process"};

static bool entry_next(struct span *rest, struct span *ret)
{
	if (rest->len == 0)
		return false;
	const char *end = memchr(rest->p, '\0', rest->len);
	ret->p = rest->p;
	ret->len = end ? (size_t)(end - rest->p) : rest->len;
	size_t used = ret->len + (end ? 1 : 0);
	rest->p += used;
	rest->len -= used;
	return true;
}

static bool entry_at(struct span block, size_t at, struct span *ret)
{
	for (size_t i = 0; entry_next(&block, ret); i++)
		if (i == at)
			return true;
	return false;
}

/* The number that an argument is, or that stands behind its last '='. */
static bool entry_number(struct span entry, int32_t *ret)
{
	uint64_t v;
	const char *equal = memrchr(entry.p, '=', entry.len);
	struct span text = equal ? (struct span){equal + 1, entry.len - (size_t)(equal + 1 - entry.p)} : entry;
	if (text.len == 0 || !isdigit((unsigned char)text.p[0]) || span_u64(text, &v) != 0 || v > SIBLINGS_MOST)
		return false;
	*ret = (int32_t)v;
	return true;
}

static bool has_word(struct span name, const char *word)
{
	size_t n = strlen(word);
	for (size_t i = 0; i + n <= name.len; i++)
		if (strncasecmp(name.p + i, word, n) == 0)
			return true;
	return false;
}

static bool name_has_any(struct span name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}

/* The value of a variable of this name ("NAME=" included). */
static bool variable_find(struct span block, struct span name, struct span *ret)
{
	struct span entry;
	while (entry_next(&block, &entry))
		if (entry.len >= name.len && memcmp(entry.p, name.p, name.len) == 0) {
			*ret = entry;
			return true;
		}
	return false;
}

/* One place where programs may differ: an argument, or a variable. name: what is said about the number there. */
struct place {
	bool variable;
	size_t argument;
	struct span name;
};

static bool place_number(const struct siblings_one *one, const struct place *at, int32_t *ret)
{
	struct span entry;
	bool found = at->variable ? variable_find(one->environment, at->name, &entry)
				  : entry_at(one->arguments, at->argument, &entry);
	return found && entry_number(entry, ret);
}

/* True if each of 0 to n - 1 stands there once. */
static bool is_count(const struct siblings_one *all, size_t n, const struct place *at, int32_t *number)
{
	bool seen[SIBLINGS_MOST] = {false};
	for (size_t i = 0; i < n; i++) {
		int32_t v;
		if (!place_number(&all[i], at, &v) || (size_t)v >= n || seen[v])
			return false;
		seen[v] = true;
		number[i] = v;
	}
	return !name_has_any(at->name, no_numbers, ARRAY_SIZE(no_numbers));
}

static bool is_size(const struct siblings_one *all, size_t n, const struct place *at, struct span parent_environment)
{
	struct span above;
	int32_t v;
	if (name_has_any(at->name, no_sizes, ARRAY_SIZE(no_sizes)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!place_number(&all[i], at, &v) || (size_t)v != n)
			return false;
	return !at->variable || !variable_find(parent_environment, at->name, &above) || !entry_number(above, &v) ||
	       (size_t)v != n;
}

/* What has been found so far, over all places. */
struct siblings_search {
	const struct siblings_one *all;
	size_t n;
	struct span parent_environment;
	int32_t *number;
	bool counted, sized, named, doubtful;
};

static void place_look(struct siblings_search *s, const struct place *at)
{
	int32_t number[SIBLINGS_MOST];
	if (is_size(s->all, s->n, at, s->parent_environment)) {
		s->sized = true;
		return;
	}
	if (!is_count(s->all, s->n, at, number))
		return;
	if (s->counted && memcmp(number, s->number, s->n * sizeof(*number)) != 0)
		s->doubtful = true;
	s->counted = true;
	s->named |= name_has_any(at->name, own_numbers, ARRAY_SIZE(own_numbers));
	memcpy(s->number, number, s->n * sizeof(*number));
}

static void arguments_look(struct siblings_search *s)
{
	struct span rest = s->all[0].arguments, entry, option = {"", 0};
	struct place at = {.variable = false};
	for (; entry_next(&rest, &entry); at.argument++) {
		const char *equal = memchr(entry.p, '=', entry.len);
		at.name = equal ? (struct span){entry.p, (size_t)(equal - entry.p)} : option;
		option = entry.len && entry.p[0] == '-' ? entry : (struct span){"", 0};
		if (at.argument > 0 && isdigit((unsigned char)(entry.len ? entry.p[entry.len - 1] : 0)))
			place_look(s, &at);
	}
}

static void environment_look(struct siblings_search *s)
{
	struct span rest = s->all[0].environment, entry;
	struct place at = {.variable = true};
	int32_t v;
	while (entry_next(&rest, &entry)) {
		const char *equal = memchr(entry.p, '=', entry.len);
		if (!equal || !entry_number(entry, &v))
			continue;
		at.name = (struct span){entry.p, (size_t)(equal + 1 - entry.p)};
		place_look(s, &at);
	}
}

uint64_t siblings_shape(struct span arguments)
{
	uint64_t hash = arguments.len ? 1 : 0;
	for (size_t i = 0; i < arguments.len; i++)
		if (!isdigit((unsigned char)arguments.p[i]))
			hash = hash_bytes(hash, &arguments.p[i], 1);
	return hash;
}

enum siblings siblings_number(const struct siblings_one *all, size_t n, struct span parent_environment,
			      int32_t *ret_number)
{
	struct siblings_search s = {.all = all, .n = n, .parent_environment = parent_environment, .number = ret_number};
	if (n < 2 || n > SIBLINGS_MOST)
		return SIBLINGS_NONE;
	arguments_look(&s);
	environment_look(&s);
	if (!s.counted || s.doubtful)
		return SIBLINGS_NONE;
	return s.sized || s.named ? SIBLINGS_RANKS : SIBLINGS_IF_LINKED;
}
