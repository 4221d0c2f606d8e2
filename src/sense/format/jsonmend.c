#include "sense/format/jsonmend.h"

#include <string.h>

#define DEPTH_MAX 64

struct mender {
	struct span in;
	size_t at;
	char *out;
	size_t len;
	char open[DEPTH_MAX]; /* '{' or '[' */
	unsigned depth;
	bool after_value; /* a comma or a closing bracket must come next */
	bool after_colon;
	size_t comma_at; /* index in out plus one; 0: the last token was not a comma */
	size_t safe_len; /* all values in out[0..safe_len) are complete */
	unsigned safe_depth;
	uint32_t n_commas;
};

static void put(struct mender *m, char c)
{
	m->out[m->len++] = c;
}

static bool in_object(const struct mender *m)
{
	return m->depth > 0 && m->open[m->depth - 1] == '{';
}

static void safe(struct mender *m)
{
	m->safe_len = m->len;
	m->safe_depth = m->depth;
}

static void value_begins(struct mender *m)
{
	if (m->after_value) {
		put(m, ',');
		m->n_commas++;
	}
	m->after_value = false;
	m->comma_at = 0;
}

/* A key of an object is not a value: a colon comes next. */
static void value_ends(struct mender *m)
{
	if (in_object(m) && !m->after_colon)
		return;
	m->after_colon = false;
	m->after_value = true;
	safe(m);
}

static int opens(struct mender *m, char c)
{
	value_begins(m);
	if (m->depth == DEPTH_MAX)
		return -EBADMSG;
	m->open[m->depth++] = c;
	m->after_colon = false;
	put(m, c);
	safe(m);
	return 0;
}

static int closes(struct mender *m, char c)
{
	if (m->depth == 0 || m->open[m->depth - 1] != (c == '}' ? '{' : '['))
		return -EBADMSG;
	if (m->comma_at) {
		m->out[m->comma_at - 1] = ' ';
		m->n_commas++;
	}
	m->comma_at = 0;
	m->depth--;
	put(m, c);
	m->after_value = true;
	m->after_colon = false;
	safe(m);
	return 0;
}

/* Copies a string. False if the text ends inside it. */
static bool string(struct mender *m)
{
	value_begins(m);
	put(m, m->in.p[m->at++]);
	while (m->at < m->in.len) {
		char c = m->in.p[m->at++];
		put(m, c);
		if (c == '\\' && m->at < m->in.len)
			put(m, m->in.p[m->at++]);
		else if (c == '"') {
			value_ends(m);
			return true;
		}
	}
	return false;
}

static bool is_bare(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
	       c == '.';
}

/* Copies a number or a word. False if the text ends after it, because it can be incomplete then. */
static bool bare(struct mender *m)
{
	value_begins(m);
	while (m->at < m->in.len && is_bare(m->in.p[m->at]))
		put(m, m->in.p[m->at++]);
	if (m->at == m->in.len)
		return false;
	value_ends(m);
	return true;
}

static int jsonmend_step(struct mender *m)
{
	char c = m->in.p[m->at];
	if (c == '"')
		return string(m) ? 0 : 1;
	if (is_bare(c))
		return bare(m) ? 0 : 1;
	m->at++;
	switch (c) {
	case '{':
	case '[':
		return opens(m, c);
	case '}':
	case ']':
		return closes(m, c);
	case ':':
		m->after_colon = true;
		break;
	case ',':
		m->after_value = false;
		m->comma_at = m->len + 1;
		break;
	default:
		break;
	}
	put(m, c);
	return 0;
}

int jsonmend_text(struct span in, struct jsonmend *ret)
{
	/* At most one comma is added per byte, and one closing bracket per level. */
	struct mender m = {.in = in, .out = malloc(2 * in.len + DEPTH_MAX + 1)};
	if (!m.out)
		return -ENOMEM;
	int r = 0;
	while (r == 0 && m.at < in.len)
		r = jsonmend_step(&m);
	if (r < 0) {
		free(m.out);
		return r;
	}
	bool cut = r > 0 || m.depth > 0;
	if (cut && (r > 0 || m.depth > 0) && m.safe_len > 0) {
		m.len = m.safe_len;
		for (unsigned d = m.safe_depth; d-- > 0;)
			put(&m, m.open[d] == '{' ? '}' : ']');
	}
	m.out[m.len] = '\0';
	*ret = (struct jsonmend){.text = m.out, .len = m.len, .n_commas = m.n_commas, .cut = cut};
	return 0;
}
