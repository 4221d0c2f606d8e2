#include "sense/native/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/*
 * A hostile name of 100 bytes can stand for gigabytes of text. libiberty can only be stopped by leaving its callback
 * with longjmp.
 */
struct output {
	char *text; /* owned */
	size_t len, cap;
	jmp_buf enough;
};

static void part_append(const char *part, size_t len, void *ctx)
{
	struct output *o = ctx;
	if (o->len + len >= DEMANGLE_TEXT_MAX)
		longjmp(o->enough, 1);
	if (o->len + len >= o->cap) {
		size_t cap = MAX(o->cap * 2, o->len + len + 1);
		char *more = realloc(o->text, cap);
		if (!more)
			longjmp(o->enough, 1);
		o->text = more;
		o->cap = cap;
	}
	memcpy(o->text + o->len, part, len);
	o->len += len;
}

/*
 * libiberty refuses names of more than 1,024 bytes unless told otherwise, so as not to run out of stack; C++ templates
 * have longer ones. The stack needed for names up to DEMANGLE_NAME_MAX was measured (tests/unit/sense/test_demangle.c)
 * and is available.
 */
static int options_for(const char *name)
{
	int options = DMGL_PARAMS | DMGL_ANSI;
	return strlen(name) > DEMANGLE_RECURSION_LIMIT / 2 ? options | DMGL_NO_RECURSE_LIMIT : options;
}

static bool demangle_run(const char *name, struct output *o)
{
	/*
	 * Both kinds begin with _R or _ZN. Rust's older names differ from C++ only at their end, so Rust is tried
	 * first.
	 */
	if (setjmp(o->enough))
		return false;
	if (rust_demangle_callback(name, DMGL_PARAMS | DMGL_ANSI, part_append, o))
		return true;
	o->len = 0;
	return strncmp(name, "_Z", 2) == 0 && cplus_demangle_v3_callback(name, options_for(name), part_append, o);
}

static void output_done(struct output *o)
{
	free(o->text);
}

char *demangle(const char *name)
{
	cleanup(output_done) struct output o = {};
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, DEMANGLE_NAME_MAX + 1) > DEMANGLE_NAME_MAX)
		return NULL;
	if (!demangle_run(name, &o) || o.len == 0)
		return NULL;
	o.text[o.len] = '\0';
	return take(&o.text);
}
