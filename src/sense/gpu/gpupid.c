#include "sense/gpu/gpupid.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"

#define HOST_NAMESPACE "pid:[4026531836]" /* PROC_PID_INIT_INO, fixed since Linux 3.8 */
#define DESCRIPTORS_MAX 4096

static void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

static bool holds_device(const struct world *w, pid_t pid)
{
	char path[48], link[128];
	TEXT_FORMAT(path, "%d/fd", pid);
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(closedirp) DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir)
		return false;
	int at = take_fd(&fd), looked = 0;
	for (struct dirent *e; (e = readdir(dir)) && looked < DESCRIPTORS_MAX; looked++) {
		ssize_t n = readlinkat(at, e->d_name, link, sizeof(link) - 1);
		struct span s = {link, n > 0 ? (size_t)n : 0};
		if (span_starts(s, "/dev/nvidia") || span_starts(s, "/dev/davinci") || span_starts(s, "/dev/kfd") ||
		    span_starts(s, "/dev/dri/"))
			return true;
	}
	return false;
}

static bool exists(const struct world *w, pid_t pid)
{
	char path[32];
	TEXT_FORMAT(path, "%d/stat", pid);
	return faccessat(w->proc_fd, path, F_OK, 0) == 0;
}

bool gpupid_fill(const struct world *w, struct gpu_set *set)
{
	char name[64];
	ssize_t n = readlinkat(w->proc_fd, "self/ns/pid", name, sizeof(name) - 1);
	bool ours = w->recorded || (n > 0 && span_eq((struct span){name, (size_t)n}, HOST_NAMESPACE));
	for (uint32_t i = 0; i < set->n; i++) {
		for (uint32_t k = 0; k < set->gpu[i].n_processes; k++) {
			struct gpu_process *p = &set->gpu[i].process[k];
			if (p->pid == 0 && exists(w, p->driver_pid) && (ours || holds_device(w, p->driver_pid)))
				p->pid = p->driver_pid;
		}
	}
	return !ours;
}
