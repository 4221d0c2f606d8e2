/*
 * run(): the pages of Python's state stand from now on, as those of a file whose server never answers, and the process
 * becomes user uid. Then memory grows to grow_mib after wait_s seconds; 0: it waits for ever. Never returns to Python.
 * Who would have to give the pages is a process of its own, which is no descendant and is named after "ready".
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int stand(char *at, size_t len)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register area = {.range = {(unsigned long)at, len}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, 0);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 ||
	    mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
	    ioctl(fd, UFFDIO_REGISTER, &area) < 0)
		_exit(3);
	return fd;
}

static pid_t keeper(int fd)
{
	int ends[2];
	pid_t pid = -1;
	if (pipe(ends) < 0)
		_exit(3);
	pid_t child = fork();
	if (child == 0) {
		char *argv[] = {"sleep", "600", NULL};
		(void)setsid();
		pid = fork();
		if (pid == 0)
			execvp(argv[0], argv); /* with the descriptor */
		_exit(write(ends[1], &pid, sizeof(pid)) == sizeof(pid) ? 0 : 1);
	}
	if (read(ends[0], &pid, sizeof(pid)) != sizeof(pid) || waitpid(child, NULL, 0) != child)
		_exit(3);
	(void)close(fd);
	return pid;
}

void run(char *at, long len, int uid, long wait_s, long grow_mib)
{
	char said[32];
	struct timespec wait = {wait_s, 0}, step = {0, 10000000};
	char *more = mmap(NULL, (size_t)grow_mib << 20 | 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int n = snprintf(said, sizeof(said), "ready %d\n", (int)keeper(stand(at, (size_t)len)));
	if (syscall(SYS_setresgid, uid, uid, uid) < 0 || syscall(SYS_setresuid, uid, uid, uid) < 0)
		_exit(4);
	if (write(1, said, (size_t)n) != n)
		_exit(5);
	(void)nanosleep(&wait, NULL);
	for (long i = 0; i < grow_mib; i++) {
		memset(more + ((size_t)i << 20), 1, 1 << 20);
		(void)nanosleep(&step, NULL);
	}
	for (;;)
		(void)pause();
}
