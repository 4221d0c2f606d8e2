#include "testing.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>

#include "agent/guard/memmark.h"
#include "base/clock.h"
#include "base/file.h"

/* What stands for a group's folder: its control file is a FIFO, so that the test decides how long "the kernel" takes. */
static char folder[] = "/tmp/vigil-memmark-XXXXXX";
static struct memmarks marks; /* its thread goes on waiting in it */

static int folder_make(void **state)
{
	char path[64];
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/memory.usage_in_bytes", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	closep(&fd);
	(void)snprintf(path, sizeof(path), "%s/cgroup.event_control", folder);
	(void)signal(SIGPIPE, SIG_IGN);
	return mkfifo(path, 0600) < 0 ? -1 : memmarks_start(&marks);
}

static int folder_remove(void **state)
{
	char path[64];
	(void)state;
	(void)snprintf(path, sizeof(path), "%s/memory.usage_in_bytes", folder);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/cgroup.event_control", folder);
	(void)unlink(path);
	return rmdir(folder);
}

static int kernel_open(int dir)
{
	int fd = openat(dir, "cgroup.event_control", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	assert_true(fd >= 0);
	return fd;
}

static bool set_in_time(uint32_t ticket)
{
	const uint64_t end = clock_mono_ns() + 10 * NS_PER_S;
	const struct timespec pause = {.tv_nsec = 1000000};
	while (!memmarks_is_set(&marks, ticket) && clock_mono_ns() < end)
		(void)nanosleep(&pause, NULL);
	return memmarks_is_set(&marks, ticket);
}

/* Fills the FIFO, so that whoever writes to it waits; returns how much that took. */
static size_t kernel_stand(int kernel)
{
	char chunk[4096] = {0};
	size_t n = 0;
	for (ssize_t r; (r = write(kernel, chunk, sizeof(chunk))) > 0;)
		n += (size_t)r;
	return n;
}

static void kernel_go_on(int kernel, size_t n)
{
	char chunk[4096];
	for (ssize_t r; n > 0 && (r = read(kernel, chunk, MIN(n, sizeof(chunk)))) > 0;)
		n -= (size_t)r;
}

static void who_asks_does_not_wait_for_the_kernel(void **state)
{
	(void)state;
	cleanup(closep) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
	cleanup(closep) int kernel = kernel_open(dir);
	char text[100] = "";
	size_t filled = kernel_stand(kernel);
	uint32_t ticket = memmarks_ask(&marks, dir, event, 4096), other = memmarks_ask(&marks, dir, event, 8192);
	assert_true(ticket != 0 && other != 0);
	assert_false(memmarks_is_set(&marks, ticket));
	assert_false(memmarks_is_set(&marks, 0));
	kernel_go_on(kernel, filled);
	assert_true(set_in_time(ticket));
	assert_true(set_in_time(other));
	assert_true(read(kernel, text, sizeof(text) - 1) > 0);
	int event_fd, use_fd;
	unsigned long long bytes;
	assert_int_equal(sscanf(text, "%d %d %4llu", &event_fd, &use_fd, &bytes), 3);
	assert_int_equal(bytes, 4096);
	assert_true(event_fd != event); /* its own: the caller may close this one meanwhile */
}

static void what_is_refused_is_not_set(void **state)
{
	(void)state;
	cleanup(closep) int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(memmarks_ask(&marks, dir, event, 4096), 0);
}

static void no_more_than_there_is_room_for(void **state)
{
	(void)state;
	cleanup(closep) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
	cleanup(closep) int kernel = kernel_open(dir);
	size_t filled = kernel_stand(kernel);
	uint32_t last = 0;
	for (int i = 0; i < MEMMARK_QUEUE; i++) {
		uint32_t ticket = memmarks_ask(&marks, dir, event, 4096);
		assert_true(ticket != 0);
		last = ticket;
	}
	assert_int_equal(memmarks_ask(&marks, dir, event, 4096), 0);
	kernel_go_on(kernel, filled);
	assert_true(set_in_time(last));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_asks_does_not_wait_for_the_kernel),
		cmocka_unit_test(what_is_refused_is_not_set),
		cmocka_unit_test(no_more_than_there_is_room_for),
	};
	return cmocka_run_group_tests_name("agent/guard/memmark", tests, folder_make, folder_remove);
}
