/*
 * A job that stands for a while and is woken by what no list of holders shows. wakes WHAT SECONDS:
 *
 *   memory    a process that was made with its parent's memory posts a semaphore of it
 *   sibling   such a one which is no child of it, but a sister
 *   receive   a socket's own limit (SO_RCVTIMEO) ends a read, and `send` a write (SO_SNDTIMEO)
 *   untaken   a connection whose data nobody takes is ended by its TCP_USER_TIMEOUT
 *   watchdog  a thread shuts the socket down on which the main one waits for a child that stands
 *   limit     a thread ends the child for which the main one waits, and that stands
 *   folder    the kernel sends a signal, as somebody has made a file in the folder WAKES_FILE (F_NOTIFY)
 *   page      a read that has its data waits for the page to put them into, which another program brings (WAKES_FILE)
 *   brings    is that program
 *   fifo      a FIFO WAKES_FILE of no name is written by a program that opened it through another mount
 *   writes    is that program
 *   files     a thread with descriptors of its own writes to a pipe
 *   lock      the mutex in the shared memory WAKES_FILE is another program's, which gives it back
 *   keep      is that program: takes the mutex, says "kept", gives it back after SECONDS
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static sem_t woken;
static int ends[2];
static int seconds;

static void wait_seconds(void)
{
	const struct timespec t = {.tv_sec = seconds};
	(void)nanosleep(&t, NULL);
}

static void steps(int first, int n)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	for (int i = first; i < first + n; i++) {
		printf("step %d\n", i);
		fflush(stdout);
		(void)nanosleep(&pause, NULL);
	}
}

static void take(void)
{
	while (sem_wait(&woken) < 0)
		;
}

static int posts(void *unused)
{
	(void)unused;
	wait_seconds();
	(void)sem_post(&woken);
	return 0;
}

static void by_memory(int parent)
{
	static char stack[65536];
	if (clone(posts, stack + sizeof(stack), CLONE_VM | parent | SIGCHLD, NULL) < 0)
		err(1, "clone");
	take();
}

/* ---- options of sockets ---- */

static void connection(int pair[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);
	const int door = socket(AF_INET, SOCK_STREAM, 0);
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(door, (struct sockaddr *)&at, len) < 0 || listen(door, 1) < 0 ||
	    getsockname(door, (struct sockaddr *)&at, &len) < 0 || connect(pair[0], (struct sockaddr *)&at, len) < 0 ||
	    (pair[1] = accept(door, NULL, NULL)) < 0)
		err(1, "socket");
	(void)close(door);
}

/* Its end must be the one that was asked for: a limit, or that the connection was given up. */
static void by_option(int option, int expected)
{
	int pair[2], user_ms = seconds * 1000;
	static char much[1 << 20];
	ssize_t n;
	const struct timeval limit = {.tv_sec = seconds};
	connection(pair);
	if (option == TCP_USER_TIMEOUT && setsockopt(pair[0], IPPROTO_TCP, option, &user_ms, sizeof(user_ms)) < 0)
		err(1, "TCP_USER_TIMEOUT");
	if (option != TCP_USER_TIMEOUT && setsockopt(pair[0], SOL_SOCKET, option, &limit, sizeof(limit)) < 0)
		err(1, "a limit");
	do
		n = option == SO_RCVTIMEO ? read(pair[0], much, 1) : send(pair[0], much, sizeof(much), MSG_NOSIGNAL);
	while (n > 0);
	/* A send that was cut short by its limit tells how much it has sent, and the next one ends at once. */
	if (n == 0 || errno != expected)
		err(1, "it ended otherwise");
}

/* ---- a thread beside the one that waits ---- */

static _Noreturn void stands(void)
{
	sem_t never;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sem_init(&never, 0, 0);
	for (;;)
		(void)sem_wait(&never);
}

static int socket_end;
static pid_t child;

static void *shuts(void *unused)
{
	(void)unused;
	wait_seconds();
	(void)shutdown(socket_end, SHUT_RDWR);
	return NULL;
}

static void *ends_child(void *unused)
{
	(void)unused;
	wait_seconds();
	(void)kill(child, SIGKILL);
	return NULL;
}

static void by_thread(void *(*what)(void *))
{
	int pair[2];
	char byte;
	pthread_t t;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || (child = fork()) < 0)
		err(1, "fork");
	if (child == 0) {
		(void)close(pair[0]);
		stands();
	}
	(void)close(pair[1]);
	socket_end = pair[0];
	if (pthread_create(&t, NULL, what, NULL) != 0)
		err(1, "a thread");
	if (what == shuts && read(socket_end, &byte, 1) != 0)
		err(1, "read");
	if (what == shuts)
		(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}

/* ---- what comes from outside ---- */

static void on_signal(int number)
{
	(void)number;
	(void)sem_post(&woken);
}

static void by_folder(void)
{
	const char *path = getenv("WAKES_FILE");
	const struct sigaction a = {.sa_handler = on_signal};
	const int fd = path ? open(path, O_RDONLY) : -1;
	if (fd < 0 || sigaction(SIGRTMIN, &a, NULL) < 0 || fcntl(fd, F_SETSIG, SIGRTMIN) < 0 ||
	    fcntl(fd, F_NOTIFY, DN_CREATE) < 0)
		err(1, "F_NOTIFY");
	take();
}

static int unix_socket(struct sockaddr_un *at)
{
	const char *path = getenv("WAKES_FILE");
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (!path || (size_t)snprintf(at->sun_path, sizeof(at->sun_path), "%s", path) >= sizeof(at->sun_path))
		errx(1, "WAKES_FILE");
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

/* The descriptor goes with the address of the page, and nobody of the job keeps it. */
static void pass(int to, void *page, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = {0};
	struct iovec part = {.iov_base = &page, .iov_len = sizeof(page)};
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(fd))};
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(to, &m, 0) < 0)
		err(1, "sendmsg");
	(void)close(fd);
	(void)close(to);
}

static void by_page(void)
{
	struct sockaddr_un at;
	int pipe_ends[2];
	struct uffdio_api api = {.api = UFFD_API};
	const int to = unix_socket(&at), faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register part = {.range = {(uintptr_t)page, 4096}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	if (page == MAP_FAILED || faults < 0 || ioctl(faults, UFFDIO_API, &api) < 0 ||
	    ioctl(faults, UFFDIO_REGISTER, &part) < 0 || connect(to, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    pipe(pipe_ends) < 0 || write(pipe_ends[1], "words", 5) != 5)
		err(1, "userfaultfd");
	pass(to, page, faults);
	if (read(pipe_ends[0], page, 5) != 5)
		err(1, "read");
}

static void brings(void)
{
	static char bytes[4096] __attribute__((aligned(4096)));
	struct sockaddr_un at;
	void *page = NULL;
	int faults = -1;
	char control[CMSG_SPACE(sizeof(faults))] = {0};
	struct iovec part = {.iov_base = &page, .iov_len = sizeof(page)};
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	const int door = unix_socket(&at);
	if (bind(door, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(door, 1) < 0)
		err(1, "bind");
	puts("kept");
	fflush(stdout);
	if (recvmsg(accept(door, NULL, NULL), &m, 0) < 0 || !CMSG_FIRSTHDR(&m))
		err(1, "recvmsg");
	memcpy(&faults, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(faults));
	wait_seconds();
	if (ioctl(faults, UFFDIO_COPY,
		  &(struct uffdio_copy){.dst = (uintptr_t)page, .src = (uintptr_t)bytes, .len = sizeof(bytes)}) < 0)
		err(1, "UFFDIO_COPY");
}

static void *writes(void *unused)
{
	(void)unused;
	if (unshare(CLONE_FILES) < 0)
		err(1, "unshare");
	(void)sem_post(&woken);
	wait_seconds();
	if (write(ends[1], "x", 1) != 1)
		err(1, "write");
	return NULL;
}

static void by_files(void)
{
	pthread_t t;
	char byte;
	if (pipe(ends) < 0 || pthread_create(&t, NULL, writes, NULL) != 0)
		err(1, "pipe");
	take();
	(void)close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		err(1, "read");
	(void)pthread_join(t, NULL);
}

static pthread_mutex_t *shared_lock(void)
{
	const char *path = getenv("WAKES_FILE");
	const int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0 || ftruncate(fd, 4096) < 0)
		err(1, "%s", path ? path : "WAKES_FILE");
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		err(1, "mmap");
	(void)close(fd);
	return at;
}

static void keep(void)
{
	pthread_mutexattr_t a;
	pthread_mutex_t *lock = shared_lock();
	(void)pthread_mutexattr_init(&a);
	(void)pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	(void)pthread_mutex_init(lock, &a);
	(void)pthread_mutex_lock(lock);
	puts("kept");
	fflush(stdout);
	wait_seconds();
	(void)pthread_mutex_unlock(lock);
}

/* It has both ends open, and takes the name away once the other one has it too. */
static void by_fifo(void)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	const char *path = getenv("WAKES_FILE"), *opened = getenv("WAKES_OPENED");
	char byte;
	const int fd = path && opened && mkfifo(path, 0600) == 0 ? open(path, O_RDWR) : -1;
	if (fd < 0)
		err(1, "a FIFO");
	while (access(opened, F_OK) < 0)
		(void)nanosleep(&pause, NULL);
	(void)unlink(path);
	if (read(fd, &byte, 1) != 1)
		err(1, "read");
}

/* The folder of the FIFO is mounted once more, for this process alone. */
static void writes_fifo(void)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	const char *path = getenv("WAKES_FILE"), *opened = getenv("WAKES_OPENED"), *mount_point = getenv("WAKES_MOUNT");
	char folder[256], other[512];
	if (!path || !opened || !mount_point || !strrchr(path, '/'))
		errx(1, "WAKES_FILE, WAKES_OPENED, WAKES_MOUNT");
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	(void)snprintf(other, sizeof(other), "%s%s", mount_point, strrchr(path, '/'));
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(folder, mount_point, NULL, MS_BIND, NULL) < 0)
		err(77, "mount");
	puts("kept");
	fflush(stdout);
	while (access(other, F_OK) < 0)
		(void)nanosleep(&pause, NULL);
	const int fd = open(other, O_RDWR);
	if (fd < 0 || close(open(opened, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) < 0)
		err(1, "%s", other);
	wait_seconds();
	if (write(fd, "x", 1) != 1)
		err(1, "write");
}

static void stand(const char *what)
{
	if (strcmp(what, "memory") == 0)
		by_memory(0);
	else if (strcmp(what, "sibling") == 0)
		by_memory(CLONE_PARENT);
	else if (strcmp(what, "files") == 0)
		by_files();
	else if (strcmp(what, "receive") == 0)
		by_option(SO_RCVTIMEO, EAGAIN);
	else if (strcmp(what, "send") == 0)
		by_option(SO_SNDTIMEO, EAGAIN);
	else if (strcmp(what, "untaken") == 0)
		by_option(TCP_USER_TIMEOUT, ETIMEDOUT);
	else if (strcmp(what, "watchdog") == 0)
		by_thread(shuts);
	else if (strcmp(what, "limit") == 0)
		by_thread(ends_child);
	else if (strcmp(what, "folder") == 0)
		by_folder();
	else if (strcmp(what, "page") == 0)
		by_page();
	else if (strcmp(what, "fifo") == 0)
		by_fifo();
	else
		(void)pthread_mutex_lock(shared_lock());
}

int main(int argc, char **argv)
{
	if (argc != 3 || sem_init(&woken, 0, 0) < 0)
		errx(2, "usage: wakes WHAT SECONDS");
	seconds = (int)strtol(argv[2], NULL, 10);
	if (strcmp(argv[1], "keep") == 0) {
		keep();
	} else if (strcmp(argv[1], "brings") == 0) {
		brings();
	} else if (strcmp(argv[1], "writes") == 0) {
		writes_fifo();
	} else {
		steps(0, 20);
		stand(argv[1]);
		steps(20, 10);
	}
	return 0;
}
