#include "agent/rules/rulefiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/host/datadir.h"
#include "base/buf.h"
#include "base/file.h"

#define LARGEST_FILE (1 << 20)
#define MOST_FILES 32

int rulefiles_add(struct rulebook *b, const char *path, struct fault *f)
{
	cleanup(freep) char *text = NULL;
	size_t len;
	struct stat st;
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* waits for no writer */
	int r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
	if (r == 0 && !S_ISREG(st.st_mode))
		return fault_set(f, -EISDIR, "the rules %s are not a plain file; they are read again after each death",
				 path);
	if (r == 0)
		r = file_slurp_fd(fd, LARGEST_FILE, &text, &len);
	if (r < 0)
		return fault_set(f, r, "cannot read the rules %s: %s", path, strerror(-r));
	return rulebook_add(b, (struct span){text, len}, path, f);
}

static int rulefiles_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int own_find(const struct world *w, char dir[static PATH_MAX], struct fault *f)
{
	char looked[PATH_MAX];
	int r = datadir_find(w, "rules", "rules", "kernel.rules", dir, looked);
	if (r < 0)
		return fault_set(f, r,
				 "vigil's own rules are not in %s; set VIGIL_DATA_DIR to the folder that holds rules/",
				 looked);
	return 0;
}

int rulefiles_there(const struct world *w, struct fault *f)
{
	char dir[PATH_MAX];
	return own_find(w, dir, f);
}

int rulefiles_own(const struct world *w, struct rulebook *b, struct fault *f)
{
	char dir[PATH_MAX], path[PATH_MAX];
	char *names[MOST_FILES];
	size_t n = 0;
	int r = own_find(w, dir, f);
	if (r < 0)
		return r;
	cleanup(closedirp) DIR *d = opendir(dir);
	if (!d)
		return fault_set(f, -errno, "cannot read %s: %s", dir, strerror(errno));
	for (struct dirent *e = readdir(d); e && n < MOST_FILES; e = readdir(d)) {
		size_t len = strlen(e->d_name);
		bool wanted = len > 6 && e->d_name[0] != '.' && strcmp(e->d_name + len - 6, ".rules") == 0;
		names[n] = wanted ? strdup(e->d_name) : NULL;
		n += names[n] != NULL;
	}
	/* the order of the rules must not depend on the file system */
	qsort(names, n, sizeof(names[0]), rulefiles_order);
	for (size_t i = 0; i < n; i++) {
		if (r == 0)
			r = text_format(path, sizeof(path), "%s/%s", dir, names[i]) < PATH_MAX
				    ? rulefiles_add(b, path, f)
				    : -ENAMETOOLONG;
		free(names[i]);
	}
	return r;
}

int rulefiles_add_list(struct rulebook *b, const char *list, struct fault *f)
{
	struct span rest = span_of(list ? list : "");
	int r = 0;
	while (r == 0 && rest.len > 0) {
		char path[PATH_MAX];
		struct span one = span_trim(span_before(rest, ",")), after = span_after(rest, ",");
		span_copy(one, path, sizeof(path));
		if (one.len > 0)
			r = rulefiles_add(b, path, f);
		rest = after.p ? after : (struct span){rest.p, 0};
	}
	return r == 0 ? rulebook_check(b, f) : r;
}

int rulefiles_try(const struct world *w, const char *list, struct fault *f)
{
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	int r = rulefiles_own(w, &b, f);
	return r == 0 ? rulefiles_add_list(&b, list, f) : r;
}
