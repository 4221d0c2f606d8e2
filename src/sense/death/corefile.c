#include "sense/death/corefile.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/buf.h"
#include "base/path.h"

/*
 * The kernel forms the name, and the time in it, when it begins to write the core. So times from 30 s
 * before to 2 s after the recorded end are tried.
 */
#define SECONDS_BEFORE 30
#define SECONDS_AFTER 2

static void name_append(struct buf *b, const char *text)
{
	/* The kernel replaces '/' too: a process must not choose another folder by its name. */
	for (const char *p = text; *p; p++)
		buf_printf(b, "%c", *p == '/' ? '!' : *p);
}

static bool field_append(struct buf *b, char field, const struct corefile_facts *f, int64_t time_s)
{
	pid_t inner = f->ns_pid ? f->ns_pid : f->pid;
	const char *text = field == 'e' ? f->comm : field == 'E' ? f->exe : field == 'h' ? f->host : NULL;
	const bool exe_is_path = f->exe && strchr(f->exe, '/');
	switch (field) {
	case '%':
		buf_printf(b, "%%");
		return true;
	case 'p':
		buf_printf(b, "%d", (int)inner);
		return true;
	case 'P':
		buf_printf(b, "%d", (int)f->pid);
		return true;
	case 'u':
		buf_printf(b, "%u", (unsigned)f->uid);
		return true;
	case 'g':
		buf_printf(b, "%u", (unsigned)f->gid);
		return true;
	case 's':
		buf_printf(b, "%d", f->signal);
		return true;
	case 't':
		buf_printf(b, "%lld", (long long)time_s);
		return true;
	case 'f':
		if (!exe_is_path)
			return false;
		name_append(b, path_name(f->exe));
		return true;
	default: /* thread ids and limits are not known after the death */
		if (!text || !*text)
			return false;
		name_append(b, text);
		return true;
	}
}

int corefile_expand(const char *pattern, const struct corefile_facts *f, int64_t time_s, char *dst, size_t cap)
{
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	bool has_pid = false;
	if (pattern[0] == '|' || pattern[0] == '@' || pattern[0] == '\0')
		return COREFILE_PIPED;
	if (pattern[0] != '/') {
		if (!f->cwd || f->cwd[0] != '/')
			return COREFILE_PIPED;
		buf_printf(&b, "%s/", f->cwd);
	}
	for (const char *p = pattern; *p; p++) {
		if (*p != '%') {
			buf_printf(&b, "%c", *p);
			continue;
		}
		if (*++p == '\0')
			break;
		has_pid |= *p == 'p';
		if (!field_append(&b, *p, f, time_s))
			return COREFILE_PIPED;
	}
	if (!has_pid && f->uses_pid)
		buf_printf(&b, ".%d", (int)(f->ns_pid ? f->ns_pid : f->pid));
	return b.cut ? -ENAMETOOLONG : 0;
}

/* ret_own, unless NULL: it is of the process's user, or root's, as the kernel may make it (fs.suid_dumpable). */
static bool is_its_core(int dir, const char *path, const struct corefile_facts *f, bool *ret_own)
{
	struct stat st;
	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (ret_own)
		*ret_own = st.st_uid == f->uid || st.st_uid == 0;
	/* Timestamps of files may be up to 1 s old, as file systems store them coarsely. */
	return (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 + 1000 >= f->start_unix_ms;
}

int corefile_find(const char *pattern, const struct corefile_facts *f, char *dst, size_t cap)
{
	int64_t end_s = f->end_unix_ms / 1000;
	int tries = strstr(pattern, "%t") ? SECONDS_BEFORE + SECONDS_AFTER : 1;
	bool own = false, found = false;
	char path[PATH_MAX];
	for (int i = 0; i < tries && !own; i++) {
		int r = corefile_expand(pattern, f, end_s + SECONDS_AFTER - i, path, sizeof(path));
		if (r != 0)
			return r;
		/* in a shared folder others may have put files at the times beside it; a process may change its user */
		bool this_own = false;
		if (!is_its_core(AT_FDCWD, path, f, &this_own) || (found && !this_own))
			continue;
		text_copy(dst, cap, path);
		found = true;
		own = this_own;
	}
	return found ? 0 : COREFILE_NONE;
}

/* core.COMM.UID.BOOT.PID.MICROSECONDS, optionally with .zst: the pid is the number before the last one. */
static bool named_for(const char *name, const struct corefile_facts *f)
{
	char middle[48];
	TEXT_FORMAT(middle, ".%d.", (int)f->pid);
	const char *at = strncmp(name, "core.", 5) == 0 ? strstr(name + 5, middle) : NULL;
	if (!at)
		return false;
	at += strlen(middle);
	size_t digits = strspn(at, "0123456789");
	return digits >= 10 && (at[digits] == '\0' || at[digits] == '.');
}

int corefile_find_kept(const char *folder, const struct corefile_facts *f, char *dst, size_t cap)
{
	cleanup(closedirp) DIR *d = opendir(folder);
	struct dirent *e;
	if (!d)
		return COREFILE_NONE;
	while ((e = readdir(d))) {
		if (!named_for(e->d_name, f) || !is_its_core(dirfd(d), e->d_name, f, NULL))
			continue;
		(void)text_format(dst, cap, "%s/%s", folder, e->d_name);
		return 0;
	}
	return COREFILE_NONE;
}
