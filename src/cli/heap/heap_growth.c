#include "cli/heap/heap_growth.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "agent/heap/growthset.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/screen/stopkey.h"

void heap_wait(uint64_t duration_ns, pid_t pid, const volatile bool *stop)
{
	const int slice_ms = 100; /* a signal that comes right before poll() is seen then */
	const uint64_t end_ns = clock_mono_ns() + duration_ns;
	while (!*stop && clock_mono_ns() < end_ns && !(kill(pid, 0) < 0 && errno == ESRCH)) {
		uint64_t left_ms = sub_floor(end_ns, clock_mono_ns()) / NS_PER_MS + 1;
		(void)poll(NULL, 0, (int)MIN(left_ms, (uint64_t)slice_ms));
	}
}

int heap_growth_load(const struct world *w, const struct subject *s, uint64_t duration_ns, struct heapset **ret,
		     char note[static 300], struct fault *f)
{
	const struct members_want members = subject_members(s);
	const struct growthset_want want = {
		.members = &members, .duration_ns = duration_ns, .stop = stopkey_begin(true)};
	char text[24];
	if (isatty(STDERR_FILENO))
		log_info("%s: watching where memory grows for %s", s->text, duration_format(duration_ns, text));
	return growthset_record(w, &want, ret, note, f);
}
