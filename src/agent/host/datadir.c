#include "agent/host/datadir.h"

#include <string.h>

#include "base/buf.h"
#include "base/foreign_path.h"
#include "base/path.h"

static bool datadir_has(const char *dir, const char *probe)
{
	char path[PATH_MAX];
	return text_format(path, sizeof(path), "%s/%s", dir, probe) < PATH_MAX && access(path, R_OK) == 0;
}

/* Folder of the running program, without a slash at its end. */
static int program_dir(const struct world *w, char dst[static PATH_MAX])
{
	ssize_t n = readlinkat(w->proc_fd, "self/exe", dst, PATH_MAX - 1);
	if (n <= 0)
		return n < 0 ? -errno : -ENOENT;
	dst[n] = '\0';
	return path_cut(dst) ? 0 : -ENOENT;
}

/* True if dir is in the build folder: a program that was copied elsewhere must not use files from there. */
static bool in_build_tree(const char *dir)
{
	size_t n = strlen(VIGIL_BUILD_ROOT);
	return strncmp(dir, VIGIL_BUILD_ROOT, n) == 0 && (dir[n] == '/' || dir[n] == '\0');
}

int datadir_find(const struct world *w, const char *name, const char *source, const char *probe,
		 char dst[static PATH_MAX], char ret_looked[static PATH_MAX])
{
	char program[PATH_MAX];
	const char *data = foreign_path_variable("VIGIL_DATA_DIR");
	if (data) {
		int n = text_format(dst, PATH_MAX, "%s/%s", data, name);
		text_copy(ret_looked, PATH_MAX, dst);
		return n < PATH_MAX && datadir_has(dst, probe) ? 0 : -ENOENT;
	}
	(void)text_format(ret_looked, PATH_MAX, "share/vigil/%s", name);
	if (program_dir(w, program) < 0)
		return -ENOENT;
	if (text_format(ret_looked, PATH_MAX, "%s/../share/vigil/%s", program, name) < PATH_MAX &&
	    datadir_has(ret_looked, probe) && realpath(ret_looked, dst))
		return 0;
	(void)text_format(dst, PATH_MAX, VIGIL_SOURCE_ROOT "/%s", source);
	return in_build_tree(program) && datadir_has(dst, probe) ? 0 : -ENOENT;
}

/* Some distributions keep libraries in a folder for each architecture: lib/x86_64-linux-gnu. */
static const char *const library_dirs[] = {VIGIL_LIBDIR, "lib"};

int datadir_library(const struct world *w, const char *file, const char *built, char dst[static PATH_MAX],
		    char ret_looked[static PATH_MAX])
{
	char program[PATH_MAX], path[PATH_MAX];
	const char *data = foreign_path_variable("VIGIL_DATA_DIR");
	if (data && datadir_has(data, file)) {
		text_copy(ret_looked, PATH_MAX, data);
		(void)text_format(path, sizeof(path), "%s/%s", data, file);
		return realpath(path, dst) ? 0 : -errno;
	}
	(void)text_copy(ret_looked, PATH_MAX, VIGIL_LIBDIR "/vigil");
	if (program_dir(w, program) < 0)
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(library_dirs); i++) {
		char dir[PATH_MAX];
		if (text_format(dir, sizeof(dir), "%s/../%s/vigil", program, library_dirs[i]) >= PATH_MAX)
			continue;
		if (i == 0)
			text_copy(ret_looked, PATH_MAX, dir);
		if (!datadir_has(dir, file))
			continue;
		(void)text_format(path, sizeof(path), "%s/%s", dir, file);
		return realpath(path, dst) ? 0 : -errno;
	}
	if (text_format(path, sizeof(path), VIGIL_BUILD_ROOT "/%s", built) >= PATH_MAX)
		return -ENOENT;
	(void)text_format(dst, PATH_MAX, "%s/%s", path, file);
	return in_build_tree(program) && datadir_has(path, file) ? 0 : -ENOENT;
}
