#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/text.h"
#include "model/heap/heapset_parts.h"

#define PATH_MAX_FRAMES 256

/* True for a frame of the interpreter, the C library or an allocator: every allocation passes through these. */
static bool is_plumbing(const struct frame *f)
{
	static const char *const starts[] = {"libc.",  "libc-",	      "ld-linux",    "libstdc++",  "libpython",
					     "python", "libgcc_s",    "libvigil",    "libm.",	   "libpthread",
					     "[vdso]", "libjemalloc", "libtcmalloc", "libmimalloc"};
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (strncmp(f->module, starts[i], strlen(starts[i])) == 0)
			return true;
	return f->module[0] == '\0';
}

/* True for code of the program, not of a package or of the standard library. */
static bool own_python(const struct frame *f)
{
	const char *brief = frame_file_short(f->file);
	const char *slash = strrchr(f->file, '/');
	return f->file[0] && f->file[0] != '<' &&
	       (brief == f->file || (slash && brief == slash + 1 && !strchr(brief, '/'))) &&
	       !strstr(f->file, "/lib/python") && !strstr(f->file, "-packages/");
}

/* "numpy" for "numpy/core/_multiarray_umath.cpython-311.so"; "libtorch_cpu" for "libtorch_cpu.so". */
static struct span package_of(const char *path)
{
	struct span s = span_of(path);
	const char *end = strchr(path, '/');
	if (!end)
		end = strstr(path, ".cpython");
	if (!end)
		end = strstr(path, ".so");
	if (!end)
		end = strstr(path, ".py");
	if (end)
		s.len = (size_t)(end - path);
	return s;
}

static struct span library_of(const struct frame *f)
{
	if (f->kind == FRAME_NATIVE && !is_plumbing(f))
		return package_of(f->module);
	if (f->kind == FRAME_PYTHON && f->file[0] && f->file[0] != '<' && !own_python(f))
		return package_of(frame_file_short(f->file));
	return (struct span){NULL, 0};
}

static void put_python(struct buf *b, const struct frame *f)
{
	buf_add(b, path_name(f->file));
	if (f->line > 0)
		buf_printf(b, ":%d", f->line);
	buf_printf(b, " %s", f->name);
}

/* The index of the innermost frame for which is() holds; n: none. */
static size_t first(const struct frame *const *path, size_t n, bool (*is)(const struct frame *f))
{
	for (size_t i = 0; i < n; i++)
		if (is(path[i]))
			return i;
	return n;
}

static bool is_own(const struct frame *f)
{
	return f->kind == FRAME_PYTHON && own_python(f);
}

static bool is_python(const struct frame *f)
{
	return f->kind == FRAME_PYTHON;
}

/* True for a function with a name. A stripped function has only an address, so a frame further out is preferred. */
static bool is_named(const struct frame *f)
{
	return f->kind == FRAME_NATIVE && !is_plumbing(f) && strncmp(f->name, "0x", 2) != 0;
}

static bool is_library(const struct frame *f)
{
	return f->kind == FRAME_NATIVE && !is_plumbing(f);
}

void heapset_headline(const struct heapset *h, uint32_t node, char *dst, size_t cap)
{
	const struct frame *path[PATH_MAX_FRAMES];
	char label[300];
	struct buf b = {.text = dst, .cap = cap};
	size_t n = heapset_path(h, node, path, PATH_MAX_FRAMES);
	buf_reset(&b);
	size_t at = first(path, n, is_own);
	if (at == n)
		at = first(path, n, is_python);
	if (at == n) {
		at = first(path, n, is_named);
		if (at == n)
			at = first(path, n, is_library);
		if (n > 0) {
			frame_label(path[at < n ? at : 0], label, sizeof(label));
			buf_add(&b, label);
			if (n > 1 && path[n - 1]->kind == FRAME_NOTE)
				buf_printf(&b, " %s", path[n - 1]->name);
		} else {
			buf_add(&b, "[no stack]");
		}
		return;
	}
	put_python(&b, path[at]);
	for (size_t i = 0; i < at; i++) {
		struct span library = library_of(path[i]);
		if (library.len == 0)
			continue;
		buf_printf(&b, " -> %.*s", (int)MIN(library.len, (size_t)80), library.p);
		return;
	}
}
