#include "model/memory/wish.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "sense/rank.h"

bool wishes_add(struct wishes *w, const char *pattern, enum wish wish)
{
	if (w->n == WISHES_MAX || strlen(pattern) >= WISH_TEXT || !pattern[0])
		return false;
	TEXT_COPY(w->item[w->n].text, pattern);
	w->item[w->n++].wish = wish;
	return true;
}

/* *: any text, also none; ?: any one character. */
static bool glob_fits(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;
	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			again = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) { /* the star takes one more character */
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static const char *after_key(const char *text, const char *key)
{
	size_t n = strlen(key);
	return strncmp(text, key, n) == 0 ? text + n : NULL;
}

static bool number_fits(const char *pattern, bool known, long long value)
{
	char text[24];
	(void)snprintf(text, sizeof(text), "%lld", value);
	return known && glob_fits(pattern, text);
}

static bool wish_fits(const char *text, const struct wish_process *p)
{
	const char *of;
	if ((of = after_key(text, "command:")))
		return glob_fits(of, p->command);
	if ((of = after_key(text, "user:")))
		return number_fits(of, p->has_uid, p->uid);
	if ((of = after_key(text, "rank:")))
		return number_fits(of, p->rank != NO_RANK, p->rank);
	of = after_key(text, "name:");
	return glob_fits(of ? of : text, p->name);
}

enum wish wishes_of(const struct wishes *w, const struct wish_process *p)
{
	enum wish found = WISH_NONE;
	for (size_t i = 0; i < w->n && found != WISH_AVOID; i++)
		if (wish_fits(w->item[i].text, p))
			found = w->item[i].wish;
	return found;
}
