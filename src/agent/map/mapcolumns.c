#include "agent/map/mapcolumns.h"

#include <string.h>

/* "\\t" and its kin become the characters themselves, which patterns have no escape for. */
static size_t unescaped(const char *expression, char *dst, size_t cap)
{
	static const char letters[] = "tnrf", blanks[] = "\t\n\r\f";
	size_t n = 0;
	for (const char *p = expression; *p && n + 2 < cap; p++) {
		const char *letter = *p == '\\' && p[1] ? strchr(letters, p[1]) : NULL;
		if (*p == '\\' && p[1] && !letter)
			dst[n++] = *p++;
		else if (letter)
			p++;
		dst[n++] = letter ? blanks[letter - letters] : *p;
	}
	return n;
}

int mapcolumns_init(struct mapcolumns *c, const char *expression, struct fault *f)
{
	char text[PATTERN_TEXT], why[160];
	size_t at = 0, len = unescaped(expression, text, sizeof(text));
	struct span empty[PATTERN_GROUPS];
	int r = pattern_init(&c->pattern, (struct span){text, len}, why, &at);
	if (r < 0)
		return fault_set(f, r, "--colsep '%.60s': %s", expression, r == -ENOMEM ? "no memory" : why);
	if (len == 0 || pattern_match(&c->pattern, SPAN(""), empty)) {
		pattern_done(&c->pattern);
		return fault_set(f, -EINVAL,
				 "--colsep '%.60s': it matches where nothing is; expected a regular expression such "
				 "as ',' or '\\t' (a '|' is written '\\|')",
				 expression);
	}
	return 0;
}

void mapcolumns_done(struct mapcolumns *c)
{
	pattern_done(&c->pattern);
}

bool mapcolumns_next(const struct mapcolumns *c, struct span *rest, struct span *ret)
{
	struct span found[PATTERN_GROUPS];
	if (!rest->p)
		return false;
	*ret = *rest;
	if (rest->len > 0 && pattern_match(&c->pattern, *rest, found) && found[0].len > 0) {
		ret->len = (size_t)(found[0].p - rest->p);
		rest->len -= ret->len + found[0].len;
		rest->p = found[0].p + found[0].len;
	} else {
		*rest = (struct span){NULL, 0};
	}
	*ret = span_trim(*ret);
	return true;
}
