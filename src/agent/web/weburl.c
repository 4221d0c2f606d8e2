#include "agent/web/weburl.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/utf8.h"

static int weburl_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place up to the NUL. False: an escape that is none, a NUL or text that is not UTF-8. */
static bool decode(char *text, bool plus)
{
	char *to = text;
	for (const char *p = text; *p; p++) {
		if (*p != '%') {
			*to++ = plus && *p == '+' ? ' ' : *p;
			continue;
		}
		int high = weburl_digit(p[1]), low = high < 0 ? -1 : weburl_digit(p[2]);
		if (low < 0 || high * 16 + low == 0)
			return false;
		*to++ = (char)(high * 16 + low);
		p += 2;
	}
	*to = '\0';
	for (size_t at = 0, len = (size_t)(to - text); at < len;) {
		uint32_t code;
		size_t n = utf8_char(text + at, len - at, &code);
		if (n == 0)
			return false;
		at += n;
	}
	return true;
}

static bool segment_is_plain(const char *s)
{
	if (!*s || strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == '/' || *s == '\\' || *s == 127)
			return false;
	return true;
}

static int path_parse(struct weburl *u, char *path, struct fault *f)
{
	if (path[1] == '\0')
		return 0;
	for (char *p = path; p;) {
		char *from = p + 1, *end = strchr(from, '/');
		if (end)
			*end = '\0';
		if (u->n_segments == WEBURL_SEGMENTS)
			return fault_set(f, -EINVAL, "the path has more than %d parts; no route has as many",
					 WEBURL_SEGMENTS);
		if (!decode(from, false) || !segment_is_plain(from))
			return fault_set(f, -EINVAL,
					 "part %zu of the path is empty, \".\", \"..\" or no plain text; write the "
					 "path as the API lists it",
					 u->n_segments + 1);
		u->segment[u->n_segments++] = from;
		p = end;
	}
	return 0;
}

static int param_add(struct weburl *u, char *text, struct fault *f)
{
	char *equals = strchr(text, '=');
	if (!*text)
		return 0;
	if (equals)
		*equals = '\0';
	if (u->n_params == WEBURL_PARAMS)
		return fault_set(f, -EINVAL, "more than %d parameters; no route has as many", WEBURL_PARAMS);
	if (!decode(text, true) || (equals && !decode(equals + 1, true)))
		return fault_set(f, -EINVAL, "a parameter holds an escape or bytes that are no UTF-8 text");
	if (weburl_get(u, text))
		return fault_set(f, -EINVAL, "the parameter %.40s is given twice; give it once", text);
	u->param[u->n_params].name = text;
	u->param[u->n_params++].value = equals ? equals + 1 : "";
	return 0;
}

int weburl_parse(const char *target, struct weburl *ret, struct fault *f)
{
	*ret = (struct weburl){.n_segments = 0};
	if (target[0] != '/' || strchr(target, '#'))
		return fault_set(f, -EINVAL, "the target of the request must begin with '/' and have no '#'");
	if (strlen(target) >= sizeof(ret->text))
		return fault_set(f, -EINVAL, "the target of the request is longer than %d bytes",
				 WEBURL_MOST_BYTES - 1);
	TEXT_COPY(ret->text, target);
	if (strlen(ret->text) != strlen(target)) /* cut within a character */
		return fault_set(f, -EINVAL, "the target of the request is no text");
	char *query = strchr(ret->text, '?');
	if (query)
		*query++ = '\0';
	int r = path_parse(ret, ret->text, f);
	while (r == 0 && query) {
		char *end = strchr(query, '&');
		if (end)
			*end++ = '\0';
		r = param_add(ret, query, f);
		query = end;
	}
	return r;
}

const char *weburl_get(const struct weburl *u, const char *name)
{
	for (size_t i = 0; i < u->n_params; i++)
		if (strcmp(u->param[i].name, name) == 0)
			return u->param[i].value;
	return NULL;
}

int weburl_u64(const struct weburl *u, const char *name, uint64_t fallback, uint64_t least, uint64_t most,
	       uint64_t *ret, struct fault *f)
{
	const char *text = weburl_get(u, name);
	uint64_t v = fallback;
	if (text && (span_u64(span_of(text), &v) < 0 || v < least || v > most))
		return fault_set(f, -EINVAL, "%s=%.40s: a whole number from %llu to %llu is expected", name, text,
				 (unsigned long long)least, (unsigned long long)most);
	*ret = v;
	return 0;
}

int weburl_flag(const struct weburl *u, const char *name, bool *ret, struct fault *f)
{
	const char *text = weburl_get(u, name);
	if (text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
		return fault_set(f, -EINVAL, "%s=%.40s: 0 or 1 is expected", name, text);
	*ret = text && *text == '1';
	return 0;
}

int weburl_choice(const struct weburl *u, const char *name, const char *const *choices, size_t fallback, size_t *ret,
		  struct fault *f)
{
	const char *text = weburl_get(u, name);
	char list[200] = "";
	struct buf b = BUF_ON(list);
	if (!text) {
		*ret = fallback;
		return 0;
	}
	for (size_t i = 0; choices[i]; i++) {
		if (strcmp(choices[i], text) == 0) {
			*ret = i;
			return 0;
		}
		buf_printf(&b, "%s%s", i ? ", " : "", choices[i]);
	}
	return fault_set(f, -EINVAL, "%s=%.40s: one of %s is expected", name, text, list);
}

bool weburl_is_id(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@";
	size_t len = strspn(text, letters);
	return len > 0 && len <= 128 && !text[len] && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}
