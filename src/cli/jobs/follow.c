#include "cli/jobs/follow.h"

#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>

#include "agent/jobs/jobfolder.h"
#include "base/buf.h"
#include "tell/store/store.h"

#define CHANGES (IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE)

void follow_done(struct follow *f)
{
	closep(&f->inotify_fd);
	closep(&f->pid_fd);
}

int follow_open(const char *state_dir, struct follow *ret)
{
	struct follow f = {.pid_fd = -1, .inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
	if (f.inotify_fd < 0)
		return -errno;
	f.store_watch = inotify_add_watch(f.inotify_fd, state_dir, CHANGES | IN_ONLYDIR);
	if (f.store_watch < 0) {
		int r = -errno;
		follow_done(&f);
		return r;
	}
	*ret = f;
	return 0;
}

int follow_folder(struct follow *f, const char *log_dir, const char *folder)
{
	char path[40];
	cleanup(jobfolder_done) struct jobfolder of = {.fd = -1};
	int r = jobfolder_open(log_dir, folder, &of);
	if (r < 0)
		return r;
	/* the folder that was opened, whatever has its name now */
	TEXT_FORMAT(path, "/%s/self/fd/%d", "proc", of.fd);
	return inotify_add_watch(f->inotify_fd, path, CHANGES | IN_ONLYDIR) < 0 ? -errno : 0;
}

void follow_process(struct follow *f, pid_t pid)
{
	closep(&f->pid_fd);
	f->pid_fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static unsigned event_bits(const struct follow *f, const struct inotify_event *e)
{
	if (e->wd != f->store_watch || e->len == 0)
		return FOLLOW_FILES;
	if (strcmp(e->name, STORE_FILE) == 0 && (e->mask & (IN_CREATE | IN_MOVED_TO)))
		return FOLLOW_STORE | FOLLOW_NEW_STORE;
	return strncmp(e->name, STORE_FILE, strlen(STORE_FILE)) == 0 ? FOLLOW_STORE : 0;
}

/* Read all events that wait, and return their bits. */
static unsigned drain(const struct follow *f)
{
	_Alignas(struct inotify_event) char events[4096];
	unsigned what = 0;
	ssize_t n;
	while ((n = read(f->inotify_fd, events, sizeof(events))) > 0) {
		for (char *p = events; p < events + n;) {
			const struct inotify_event *e = (const struct inotify_event *)(const void *)p;
			what |= (e->mask & IN_Q_OVERFLOW) ? FOLLOW_STORE | FOLLOW_FILES : event_bits(f, e);
			p += sizeof(*e) + e->len;
		}
	}
	return what;
}

int follow_wait(struct follow *f, unsigned *ret_what)
{
	unsigned what = 0;
	while (what == 0) {
		struct pollfd p[] = {
			{.fd = f->inotify_fd, .events = POLLIN},
			{.fd = f->pid_fd, .events = POLLIN},
			{.fd = STDOUT_FILENO, .events = 0}, /* errors only */
		};
		if (poll(p, ARRAY_SIZE(p), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (p[0].revents)
			what |= drain(f);
		if (p[1].revents) {
			follow_process(f, 0);
			what |= FOLLOW_GONE;
		}
		if (p[2].revents & (POLLERR | POLLNVAL))
			what |= FOLLOW_NO_READER;
	}
	*ret_what = what;
	return 0;
}
