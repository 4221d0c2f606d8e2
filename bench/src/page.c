#include "page.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/base.h"

static int map_fd(int fd, struct page **ret)
{
	void *m = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);

	if (m == MAP_FAILED)
		return -errno;
	*ret = m;
	return 0;
}

int page_make(const char *path, struct page **ret)
{
	cleanup(closep) int fd = -1;

	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)sizeof(struct page)) < 0)
		return -errno;
	return map_fd(fd, ret);
}

int page_map(const char *path, struct page **ret)
{
	cleanup(closep) int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return map_fd(fd, ret);
}

void page_unmap(struct page *p)
{
	if (p)
		munmap(p, sizeof(*p));
}

void page_add(struct page *p, pid_t pid)
{
	uint32_t i = atomic_fetch_add(&p->n_pids, 1);

	if (i < PAGE_PIDS)
		atomic_store(&p->pid[i], pid);
}

uint32_t page_count(struct page *p)
{
	uint32_t n = atomic_load(&p->n_pids);

	return MIN(n, PAGE_PIDS);
}
