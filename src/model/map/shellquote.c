#include "model/map/shellquote.h"

#include <string.h>

static void scan_bare(struct shell_scan *s, char c)
{
	if (c == '\'')
		s->in = SHELL_SINGLE;
	else if (c == '"')
		s->in = SHELL_DOUBLE;
	else if (c == '#' && !s->inside_word)
		s->comment = true;
	s->escaped = c == '\\';
	s->inside_word = !strchr(" \t\n;&|()", c);
}

static void scan_one(struct shell_scan *s, char c)
{
	if (s->comment) {
		s->comment = c != '\n';
	} else if (s->escaped) {
		s->escaped = false;
		s->inside_word = true;
	} else if (s->in == SHELL_BARE) {
		scan_bare(s, c);
	} else if (c == (s->in == SHELL_SINGLE ? '\'' : '"')) {
		s->in = SHELL_BARE;
	} else {
		s->escaped = c == '\\' && s->in == SHELL_DOUBLE;
	}
}

void shell_scan(struct shell_scan *s, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		scan_one(s, text.p[i]);
}

bool shell_has_quotes(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		const char c = s.p[i];
		const bool twice = i > 0 && s.p[i - 1] == c;
		if ((c && strchr("'\"\\`#", c)) || (twice && (c == '<' || c == '(')))
			return true;
	}
	return false;
}
