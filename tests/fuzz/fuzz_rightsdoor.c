/*
 * What comes to the door of vigil-rights. The first byte says what comes along: no descriptor, a network namespace,
 * another namespace, or a file. Root is answered; whatever comes, nothing but the kernel's log or a socket is handed
 * over, and no descriptor stays open.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sense/fdpass.h"
#include "sense/rightsdoor.h"

static int along(uint8_t what)
{
	static const char *const names[] = {"/proc/self/ns/net", "/proc/self/ns/uts", "/dev/null"};
	return what % 4 == 0 ? -1 : open(names[what % 4 - 1], O_RDONLY | O_CLOEXEC);
}

static int next_fd(void)
{
	int fd = dup(0);
	(void)close(fd);
	return fd;
}

static void handed_over_check(int fd, uint8_t with, const uint8_t *ask)
{
	struct stat st;
	uint32_t what;
	memcpy(&what, ask, sizeof(what));
	assert(fstat(fd, &st) == 0);
	assert(S_ISSOCK(st.st_mode) ? what == 2 && with % 4 == 1 : what == 1 && S_ISCHR(st.st_mode));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2], given = -1;
	int32_t result = -EPIPE;
	const int before = next_fd();
	if (size == 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return 0;
	int fd = along(data[0]);
	int sent = fdpass_send(pair[0], data + 1, size - 1, fd);
	closep(&fd);
	int r = rightsdoor_serve(pair[1]);
	closep(&pair[1]);
	int answered = fdpass_receive(pair[0], &result, sizeof(result), &given);
	assert(r <= 0 && (geteuid() == 0 || r == -EPERM));
	assert(r == 0 || answered != 0);
	assert(sent != 0 || size - 1 == 16 || r != 0);
	assert(given < 0 || (answered == 0 && result == 0));
	if (given >= 0)
		handed_over_check(given, data[0], data + 1);
	closep(&given);
	closep(&pair[0]);
	assert(next_fd() == before);
	return 0;
}
