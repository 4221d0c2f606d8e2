#include "agent/run/callrun.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/datadir.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/private.h"

static int plugin_find(const struct world *w, char dst[static PATH_MAX], struct fault *f)
{
	char looked[PATH_MAX];
	const char *data = getenv("VIGIL_DATA_DIR");
	int r = datadir_find(w, "python", "plugins/python", "sitecustomize.py", dst, looked);
	if (r == 0)
		return 0;
	if (data && *data)
		return fault_set(f, r,
				 "calls cannot be counted: there is no python/sitecustomize.py in VIGIL_DATA_DIR (%s)",
				 data);
	return fault_set(
		f, r,
		"calls cannot be counted: vigil's own files for Python are not in %s; set VIGIL_DATA_DIR to the "
		"folder that holds python/sitecustomize.py",
		looked);
}

int callrun_prepare(const struct world *w, struct callrun *c, struct fault *f)
{
	char dir[PATH_MAX];
	const char *was = getenv("PYTHONPATH");
	int r = plugin_find(w, dir, f);
	if (r < 0)
		return r;
	if (strchr(dir, ':'))
		return fault_set(f, -EINVAL,
				 "calls cannot be counted: PYTHONPATH cannot name %s, which has a colon in it", dir);
	size_t cap = strlen("PYTHONPATH=") + strlen(dir) + 1 + (was ? strlen(was) : 0) + 1;
	c->python_path = malloc(cap);
	if (!c->python_path)
		return fault_set(f, -ENOMEM, "no memory to start");
	bool has_old = was && *was;
	(void)text_format(c->python_path, cap, "PYTHONPATH=%s%s%s", dir, has_old ? ":" : "", has_old ? was : "");
	return 0;
}

int callrun_attempt(struct callrun *c, const char *job_dir, uint32_t attempt)
{
	char dir[400], whole[PATH_MAX];
	c->dir[0] = '\0';
	if (job_dir[0] == '\0')
		return -ENOENT;
	TEXT_FORMAT(dir, "%s/attempt-%u/calls", job_dir, attempt);
	int r = private_mkdirs(dir);
	if (r < 0)
		return r;
	/* an absolute path, because the job may change its folder */
	if (!realpath(dir, whole))
		return -errno;
	if (text_format(c->dir, sizeof(c->dir), "VIGIL_CALLS_DIR=%s", whole) >= (int)sizeof(c->dir)) {
		c->dir[0] = '\0';
		return -ENAMETOOLONG;
	}
	return 0;
}

void callrun_done(struct callrun *c)
{
	free(c->python_path);
	*c = (struct callrun){.python_path = NULL};
}
