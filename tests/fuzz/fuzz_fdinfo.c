/* Files in /proc/PID/fdinfo, of any kind of descriptor. */
#include <assert.h>
#include <fcntl.h>

#include "sense/proc/fdinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = {(const char *)data, size};
	struct fdinfo f;
	struct epoll_member m;
	struct inotify_watch x;
	struct span watches = text;
	size_t n = 0;
	fdinfo_parse(text, &f);
	assert(f.access >= 0 && f.access <= O_ACCMODE && f.locks < 8);
	while (epoll_member_next(&text, &m)) {
		assert(m.fd >= 0);
		n++;
	}
	assert(n <= size);
	for (n = 0; inotify_watch_next(&watches, &x); n++)
		assert(x.minor < 1 << 20);
	assert(n <= size);
	return 0;
}
