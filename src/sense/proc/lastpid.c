#include "sense/proc/lastpid.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int lastpid_parse(struct span text, pid_t *ret)
{
	struct span word, last = {.p = NULL};
	uint64_t pid;
	while (span_word(&text, &word))
		last = word;
	if (!last.p || span_u64(last, &pid) < 0 || pid == 0 || pid > INT32_MAX)
		return -EBADMSG;
	*ret = (pid_t)pid;
	return 0;
}

/* True if /proc has the numbers of our namespace. */
static bool lastpid_is_ours(const struct world *w)
{
	char self[16];
	uint64_t pid;
	if (w->recorded)
		return true;
	ssize_t n = readlinkat(w->proc_fd, "self", self, sizeof(self));
	return n > 0 && span_u64((struct span){self, (size_t)n}, &pid) == 0 && pid == (uint64_t)getpid();
}

static bool lastpid_read_of(const struct world *w, const char *path, const struct stat *proc, pid_t *ret)
{
	char text[128];
	struct stat st;
	cleanup(closep) int fd = openat(w->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != proc->st_dev)
		return false;
	ssize_t n = read(fd, text, sizeof(text));
	return n > 0 && lastpid_parse((struct span){text, (size_t)n}, ret) == 0;
}

int lastpid_read(const struct world *w, pid_t *ret)
{
	struct stat proc;
	if (w->proc_fd < 0 || fstat(w->proc_fd, &proc) < 0 || !lastpid_is_ours(w))
		return WORLD_ABSENT;
	if (lastpid_read_of(w, "sys/kernel/ns_last_pid", &proc, ret) || lastpid_read_of(w, "loadavg", &proc, ret))
		return 0;
	return WORLD_ABSENT;
}
