/*
 * Functions that Cython made out of a .pyx file. Cython writes C; a function's name there is made of those of its
 * modules and classes, and before the code of each line stands a comment with the .pyx file and the line
 * (Cython/Compiler/Naming.py, Code.py). Pure, but for cython_read.
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

#define CYTHON_NAME_MAX 256

/*
 * The name in the .pyx: "cy_inner", "Plain.go" of "__pyx_pw_7cy_part_5Plain_1go". module: the file that has it,
 * "cy_part.cpython-311-x86_64-linux-gnu.so"; what is above it in the name is left out. False: no such function.
 */
bool cython_name(const char *symbol, const char *module, char dst[static CYTHON_NAME_MAX]);

/* One comment of the C file: code from here on, up to the next one, is of that line; 0: of none. */
struct cython_mark {
	uint32_t c_line, line;
	uint32_t file_at, file_len; /* in the C file's text: "pkg/cy_part.pyx" */
};

struct cython_source {
	char *text; /* owned; NULL: could not be read */
	struct cython_mark *marks; /* owned; by c_line */
	size_t n;
};

/* Takes a copy of the C text. -ENOMEM. */
int must_check cython_parse(struct span c, struct cython_source *ret);
/*
 * Reads the C file as the process sees it. before_s: not if it was changed after that time (unix). Positive conditions
 * of rootfile_open; WORLD_ABSENT also if it is newer, too large, or has no such comments; -errno.
 */
int must_check cython_read(const struct world *w, pid_t pid, const char *path, int64_t before_s,
			   struct cython_source *ret);
void cython_done(struct cython_source *s);
/* The place of a line of the C file. c_path: its path, next to which its .pyx is looked for. False: unknown. */
bool cython_line(const struct cython_source *s, const char *c_path, uint32_t c_line, char *file, size_t cap,
		 uint32_t *ret_line);
