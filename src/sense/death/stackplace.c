/* The first place in the program's own files in a stack below an error. */
#include <string.h>

#include "base/buf.h"
#include "sense/death/stackplace.h"

/* Parts of paths that are a language's own, or an installed package's. */
static bool of_others(struct span path)
{
	static const char *const parts[] = {"/node_modules/",	"/pkg/mod/",	"/go/src/",	"/go-1.", "/rustc/",
					    "/.cargo/registry/", "/rustlib/src/", "libsanitizer", "/compiler-rt/",
					    "/sysdeps/",	"/usr/include/", "/csu/",	"/vendor/"};
	if (span_starts(path, "node:") || span_starts(path, "internal/") || span_starts(path, "<"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (span_has(path, parts[i]))
			return true;
	return false;
}

/* "/srv/a.go:41 +0x1d" and "/srv/a.js:12:5": the path and the first number behind it. */
static bool path_and_line(struct span at, struct span *ret_path, uint64_t *ret_line)
{
	for (size_t n = 1; n + 1 < at.len; n++) {
		if (at.p[n] != ':' || at.p[n + 1] < '0' || at.p[n + 1] > '9')
			continue;
		*ret_path = (struct span){at.p, n};
		return span_u64_prefix((struct span){at.p + n + 1, at.len - n - 1}, ret_line) == 0;
	}
	return false;
}

/* Whether the place is the program's own, and then is kept. */
static bool keep(struct stackplace *s, struct span function, struct span at)
{
	struct span path = {NULL, 0};
	uint64_t line = 0;
	char name[80], file[120];
	if (span_starts(at, "file://"))
		at = (struct span){at.p + strlen("file://"), at.len - strlen("file://")};
	if (s->frame[0] || !path_and_line(at, &path, &line) || path.len + 1 >= sizeof(file) || of_others(path))
		return false;
	span_copy(path, file, sizeof(file));
	span_copy(function, name, sizeof(name));
	struct buf b = BUF_ON(s->frame);
	buf_reset(&b);
	buf_printf(&b, "in %s at %s:%llu", name[0] ? name : "a function without a name", file,
		   (unsigned long long)line);
	if (b.len + 1 >= sizeof(s->frame)) /* cut, so its end is no place */
		s->frame[0] = '\0';
	return s->frame[0] != '\0';
}

/* What stands in the last brackets of "load (/srv/a.js:12:5)"; the whole, and no function, where there are none. */
static struct span last_brackets(struct span text, struct span *ret_function)
{
	const char *open = span_rfind(text, "(");
	*ret_function = (struct span){NULL, 0};
	if (!open || text.p[text.len - 1] != ')')
		return text;
	const size_t n = (size_t)(open - text.p);
	*ret_function = span_trim((struct span){text.p, n});
	return (struct span){open + 1, text.len - n - 2};
}

/* "at load (/srv/a.js:12:5)", "at com.acme.Train.main(Train.java:12)". */
static void at_line(struct stackplace *s, struct span text)
{
	static const char *const java[] = {"java.", "javax.", "jdk.", "sun.", "com.sun.", "java.base/"};
	struct span function;
	const struct span at = last_brackets(text, &function);
	if (span_starts(function, "async "))
		function = span_after(function, "async ");
	for (size_t i = 0; i < ARRAY_SIZE(java); i++)
		if (span_starts(function, java[i]))
			return;
	keep(s, function, at);
}

/* "#1 0x5581 in load /srv/a.c:7:3": of a sanitizer; others put the file and an offset in brackets, which is no line. */
static void sanitizer_line(struct stackplace *s, struct span text)
{
	const struct span in = span_after(text, " in ");
	const struct span function = in.p ? span_before(in, " /") : in;
	if (in.p && function.len + 1 < in.len)
		keep(s, function, (struct span){in.p + function.len + 1, in.len - function.len - 1});
}

/* "main.(*Loader).load(0xc000, 0x1)" without its arguments. */
static struct span without_arguments(struct span line)
{
	const char *open = span_rfind(line, "(");
	return open ? (struct span){line.p, (size_t)(open - line.p)} : line;
}

/* "3: app::load" of a backtrace of Rust: its place stands below, after "at ". */
static struct span numbered_function(struct span text)
{
	size_t n = 0;
	while (n < text.len && text.p[n] >= '0' && text.p[n] <= '9')
		n++;
	if (n == 0 || n + 2 >= text.len || text.p[n] != ':' || text.p[n + 1] != ' ')
		return (struct span){NULL, 0};
	return span_trim((struct span){text.p + n + 1, text.len - n - 1});
}

void stackplace_line(struct stackplace *s, struct span line)
{
	const struct span text = span_trim(line), above = s->function;
	s->function = (struct span){NULL, 0};
	if (span_starts(text, "Caused by: ")) {
		s->frame[0] = '\0';
		return;
	}
	if (text.len == 0)
		return;
	const bool indented = line.p[0] == ' ' || line.p[0] == '\t';
	if (indented && span_starts(text, "at ")) {
		const struct span at = span_after(text, "at ");
		if (above.p)
			keep(s, above, at);
		else
			at_line(s, at);
	} else if (line.p[0] == '\t' && above.p) {
		keep(s, above, text);
	} else if (indented && span_starts(text, "#")) {
		sanitizer_line(s, text);
	} else if (indented) {
		s->function = numbered_function(text);
	} else if (line.p[line.len - 1] == ')' && !span_starts(line, "created by ")) {
		s->function = without_arguments(line);
	}
}
