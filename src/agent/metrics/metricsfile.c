#include "agent/metrics/metricsfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/foreign.h"

int metricsfile_write(const char *folder, const char *text, size_t len, struct fault *f)
{
	struct foreign_place at = {.dirfd = AT_FDCWD, .flags = FOREIGN_TYPED};
	struct foreign_user owner;
	cleanup(closep) int fd = -1;
	int r = foreign_folder(&at, folder, &fd);
	if (r == FOREIGN_OTHER)
		return fault_set(f, -ENOTDIR,
				 "--textfile: %s is no folder, or a link to one; expected the folder that "
				 "node_exporter reads (--collector.textfile.directory)",
				 folder);
	if (r < 0)
		return fault_set(f, r, "--textfile: cannot open the folder %s: %s", folder, strerror(-r));
	const struct foreign_place in = {.dirfd = fd, .as = foreign_owner(fd, &owner)};
	mode_t before = umask(0022); /* node_exporter is another user */
	r = foreign_replace(&in, METRICSFILE_NAME, text, len, 0644);
	(void)umask(before);
	if (r != 0)
		return fault_set(f, r < 0 ? r : -EEXIST,
				 "--textfile: cannot write %s/%s: %s; the old file stays as it was", folder,
				 METRICSFILE_NAME, r < 0 ? strerror(-r) : "something else has that name");
	return 0;
}
