#include "act/oomadj.h"

#include "base/file.h"
#include "base/buf.h"

static int proc_fd = -1; /* /proc of the world; -1: nothing was changed */
static char before[16];

int oomadj_exempt_self(const struct world *w)
{
	char old[sizeof(before)];
	size_t len = 0;
	if (proc_fd >= 0) /* lowered already, by this process or by the one it was forked from */
		return 0;
	int r = file_read_at(w->proc_fd, "self/oom_score_adj", old, sizeof(old), &len);
	if (r != 0)
		return r < 0 ? r : -EIO;
	r = file_write_at(w->proc_fd, "self/oom_score_adj", "-1000");
	if (r < 0)
		return r;
	TEXT_COPY(before, old);
	proc_fd = w->proc_fd;
	return 0;
}

void oomadj_restore(void)
{
	if (proc_fd >= 0)
		ignore(file_write_at(proc_fd, "self/oom_score_adj", before), "raising it is always allowed");
}
