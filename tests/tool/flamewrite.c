/*
 * A recording on standard input (JSON or folded), written in another form on
 * standard output: what tests of the writers stand on.
 *
 *   flamewrite FORMAT [OPTION...]     --view --rank-lanes --thread-lanes --idle --gil --no-lines
 *   flamewrite FORMAT --diff OTHER    the recording of standard input against that of the file OTHER
 *   flamewrite summary
 */
#include <string.h>

#include "base/base.h"
#include "tell/stacks/flame.h"

static int fail(const char *what, int r, const struct fault *f)
{
	(void)fprintf(stderr, "flamewrite: %s: %s%s%s\n", what, strerror(-r), f->text[0] ? ": " : "", f->text);
	return 1;
}

static int load(const char *path, struct stackset **ret, struct fault *f)
{
	cleanup(freep) char *text = NULL;
	size_t len = 0, cap = 0;
	FILE *from = path ? fopen(path, "re") : stdin;
	if (!from)
		return -errno;
	for (size_t n = 1; n > 0;) {
		if (len == cap) {
			cap = cap ? cap * 2 : 65536;
			char *more = realloc(text, cap);
			if (!more)
				return -ENOMEM;
			text = more;
		}
		n = fread(text + len, 1, cap - len, from);
		len += n;
	}
	if (path)
		(void)fclose(from);
	return flame_read(text, len, ret, f);
}

static int format_of(const char *name)
{
	static const char *const names[] = {
		[FLAME_SVG] = "svg",	   [FLAME_HTML] = "html",
		[FLAME_FOLDED] = "folded", [FLAME_SPEEDSCOPE] = "speedscope",
		[FLAME_PPROF] = "pprof",   [FLAME_JSON] = "json",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

static bool has(char **argv, const char *option)
{
	for (; *argv; argv++)
		if (strcmp(*argv, option) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct fault f = {0};
	cleanup(stackset_freep) struct stackset *s = NULL, *other = NULL, *view = NULL;
	if (argc < 2)
		return 2;
	int r = load(NULL, &s, &f);
	if (r < 0)
		return fail("reading", r, &f);
	if (strcmp(argv[1], "summary") == 0) {
		flame_summary(s, stdout);
		return 0;
	}
	int format = format_of(argv[1]);
	if (format < 0)
		return 2;
	if (argc > 3 && strcmp(argv[2], "--diff") == 0) {
		r = load(argv[3], &other, &f);
		if (r == 0)
			r = flame_diff_write(s, other, (enum flame_format)format, stdout);
		return r < 0 ? fail("difference", r, &f) : 0;
	}
	if (has(argv, "--view")) {
		const struct stack_want want = {
			.idle = has(argv, "--idle"),
			.gil = has(argv, "--gil"),
			.lines = !has(argv, "--no-lines"),
			.lanes = has(argv, "--rank-lanes")     ? LANES_RANK
				 : has(argv, "--thread-lanes") ? LANES_THREAD
							       : LANES_ALL,
		};
		bool only_idle;
		r = stackset_view(s, &want, &view, &only_idle);
		if (r == 0 && only_idle)
			(void)fputs("flamewrite: nothing ran\n", stderr);
	}
	if (r == 0)
		r = flame_write(view ? view : s, (enum flame_format)format, stdout);
	return r < 0 ? fail("writing", r, &f) : 0;
}
