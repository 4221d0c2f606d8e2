#include "agent/speed/tracefile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/foreign.h"
#include "base/gzip.h"

#define TRACEFILE_PART (256 * KIB)

struct tracefile {
	struct chrometrace trace;
	struct tracefacts *facts;
	struct gunzip *gunzip; /* NULL: not packed */
	bool damaged; /* what is packed ends or breaks within */
};

static void on_event(void *ctx, const struct chrometrace_event *e)
{
	struct tracefile *t = ctx;
	tracefacts_event(t->facts, e);
}

static int on_part(void *ctx, const char *data, size_t len)
{
	struct tracefile *t = ctx;
	return chrometrace_feed(&t->trace, data, len);
}

/* The first two bytes of each gzip file. */
static bool is_packed(const char *data, size_t len)
{
	return len >= 2 && (unsigned char)data[0] == 0x1f && (unsigned char)data[1] == 0x8b;
}

static int tracefile_part_read(int fd, char *buf, size_t *ret_len)
{
	ssize_t n;
	do
		n = read(fd, buf, TRACEFILE_PART);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*ret_len = (size_t)n;
	return 0;
}

static int parts(struct tracefile *t, int fd, const volatile bool *stop)
{
	cleanup(freep) char *buf = malloc(TRACEFILE_PART);
	size_t len = 0;
	if (!buf)
		return -ENOMEM;
	for (bool first = true; !(stop && *stop) && !t->trace.json.done; first = false) {
		int r = tracefile_part_read(fd, buf, &len);
		if (r < 0)
			return r;
		if (len == 0)
			break;
		if (first && is_packed(buf, len)) {
			r = gunzip_open(&t->gunzip);
			if (r < 0)
				return r;
		}
		r = t->gunzip ? gunzip_feed(t->gunzip, buf, len, on_part, t) : on_part(t, buf, len);
		if (r < 0)
			return r;
		if (r > 0) {
			t->damaged = true;
			break;
		}
		if (t->facts->no_memory)
			return -ENOMEM;
	}
	return 0;
}

static int refuse(const struct tracefile *t, const char *path, struct fault *f)
{
	if (t->trace.json.fed == 0 && t->gunzip)
		return fault_set(f, TRACEFILE_OTHER, "%s is damaged: nothing of it can be unpacked", path);
	if (t->trace.json.fed == 0 && !t->damaged)
		return fault_set(f, TRACEFILE_OTHER, "%s is empty; expected a trace in Chrome's format", path);
	if (!t->trace.found)
		return fault_set(
			f, TRACEFILE_OTHER,
			"%s is no trace in Chrome's format: expected a JSON array of events, or an object with "
			"\"traceEvents\" (`ray timeline`, torch.profiler's export_chrome_trace write such files)",
			path);
	return fault_set(f, TRACEFILE_OTHER, "%s has no event with a time and a duration", path);
}

int tracefile_read(const char *path, const volatile bool *stop, struct tracefacts *ret, struct fault *f)
{
	const struct foreign_place at = {.dirfd = AT_FDCWD, .flags = FOREIGN_TYPED | FOREIGN_LINKS};
	struct tracefacts facts = {.n_rows = 0};
	cleanup(closep) int fd = -1;
	int r = foreign_open(&at, path, &fd);
	if (r > 0)
		return fault_set(f, TRACEFILE_OTHER, "%s is no regular file", path);
	if (r < 0)
		return fault_set(f, r, "cannot open %s: %s", path, strerror(-r));
	struct tracefile *t = calloc(1, sizeof(*t));
	if (!t)
		return fault_set(f, -ENOMEM, "cannot read %s: %s", path, strerror(ENOMEM));
	t->facts = &facts;
	chrometrace_init(&t->trace, on_event, t);
	r = parts(t, fd, stop);
	tracefacts_seal(&facts);
	facts.n_events = t->trace.n_events;
	facts.n_bytes = t->trace.json.fed;
	facts.cut_off = t->damaged || !t->trace.json.done;
	facts.cut_at = t->trace.json.fed;
	if (r < 0)
		r = fault_set(f, r, "cannot read %s: %s", path, strerror(-r));
	else if (facts.n_tasks == 0)
		r = refuse(t, path, f);
	ignore(gunzip_free(t->gunzip), "freed");
	free(t);
	if (r)
		tracefacts_done(&facts);
	else
		*ret = facts;
	return r;
}
