#include "agent/heap/heapfit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "sense/native/elffile.h"

#define SCRIPTS 4 /* as many interpreters in a row as the kernel follows */
#define INTERPRETER_MAX 256

const char *heapfit_words(enum heapfit fit)
{
	switch (fit) {
	case HEAPFIT_STATIC:
		return "it is a static program, into which no library is loaded; dynamic programs that it starts leave "
		       "one, and 'vigil heap PID --what growth' shows where its own memory grows";
	case HEAPFIT_OTHER_LIBC:
		return "it is no program of glibc (musl?) and would not start with the library, so it is started "
		       "without; 'vigil heap PID --what growth' shows where its memory grows";
	case HEAPFIT_OTHER_KIND:
		return "it is no 64-bit program of this machine, and the library is one; programs of that kind that it "
		       "starts leave one";
	case HEAPFIT_SECURE:
		return "it gets other rights than its caller's (set-user-ID, set-group-ID or file capabilities), and "
		       "such programs take no foreign library; run it as the user whose rights it gets, or attach: "
		       "'vigil heap PID --attach'";
	case HEAPFIT_FINE:
		break;
	}
	return "";
}

/* Searches PATH as execvp does. False: there is no such program. */
static bool heapfit_search(const char *name, char *path, size_t cap)
{
	const char *places = getenv("PATH");
	struct span rest = span_of(places && *places ? places : "/bin:/usr/bin");
	if (strchr(name, '/'))
		return text_format(path, cap, "%s", name) < (int)cap;
	while (rest.len > 0) {
		struct stat st;
		struct span place = span_before(rest, ":");
		size_t skip = MIN(place.len + 1, rest.len);
		if (text_format(path, cap, "%.*s/%s", (int)place.len, place.len ? place.p : ".", name) < (int)cap &&
		    access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
			return true;
		rest.p += skip;
		rest.len -= skip;
	}
	return false;
}

/* Path of the interpreter that a script names; false: the file is no script. */
static bool script(int fd, char *path, size_t cap)
{
	char head[INTERPRETER_MAX];
	size_t len = 0;
	struct span line, rest, word;
	if (file_read_from(fd, 0, head, sizeof(head), &len) < 0 || len < 3 || head[0] != '#' || head[1] != '!')
		return false;
	rest = (struct span){head + 2, len - 2};
	if (!span_line(&rest, &line) || !span_word(&line, &word))
		return false;
	span_copy(word, path, cap);
	return true;
}

/* True: the program gets rights that its caller lacks. Root gains nothing from set-user-ID root or capabilities. */
static bool gains_rights(const char *path, int fd)
{
	struct stat st;
	char value[64];
	if (fstat(fd, &st) < 0)
		return false;
	return ((st.st_mode & S_ISUID) && st.st_uid != getuid()) || ((st.st_mode & S_ISGID) && st.st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", value, sizeof(value)) > 0);
}

static enum heapfit by_loader(const struct elf *e)
{
	char loader[INTERPRETER_MAX];
	const Elf64_Phdr *interp = elf_segment(e, PT_INTERP);
	if (!interp)
		return HEAPFIT_STATIC;
	size_t len = MIN((size_t)interp->p_filesz, sizeof(loader) - 1);
	if (len == 0 || elf_read(e, interp->p_offset, loader, len) != 0)
		return HEAPFIT_FINE;
	loader[len] = '\0';
	const char *name = path_name(loader);
	/*
	 * glibc: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld64.so.2; some systems have links to these with other
	 * names
	 */
	return strstr(name, "musl") || strstr(name, "uClibc") || strcmp(loader, "/system/bin/linker64") == 0
		       ? HEAPFIT_OTHER_LIBC
		       : HEAPFIT_FINE;
}

enum heapfit heapfit_of(const char *argv0, char *path, size_t cap)
{
	char next[PATH_MAX];
	struct elf e;
	if (!heapfit_search(argv0, path, cap))
		return HEAPFIT_FINE;
	for (int i = 0; i < SCRIPTS; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			return HEAPFIT_FINE;
		if (script(fd, next, sizeof(next))) { /* the kernel ignores these bits of scripts */
			(void)close(fd);
			text_copy(path, cap, next);
			continue;
		}
		bool secure = gains_rights(path, fd);
		int r = elf_open_fd(fd, &e);
		if (r == ELF_FOREIGN)
			return HEAPFIT_OTHER_KIND;
		if (r != 0)
			return HEAPFIT_FINE;
		enum heapfit fit = by_loader(&e);
		elf_done(&e);
		return fit == HEAPFIT_FINE && secure ? HEAPFIT_SECURE : fit;
	}
	return HEAPFIT_FINE;
}
