#include "agent/run/sdnotify.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/base.h"

static void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(a.sun_path))
		return;
	memcpy(a.sun_path, path, strlen(path));
	if (path[0] == '@')
		a.sun_path[0] = '\0'; /* abstract name */
	cleanup(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (fd >= 0)
		ignore(sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&a, len),
		       "systemd may have gone");
}

void sd_notify_ready(void)
{
	notify("READY=1");
}

void sd_notify_alive(void)
{
	notify("WATCHDOG=1");
}
