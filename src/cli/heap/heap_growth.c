#include "cli/heap/heap_growth.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "agent/heap/growthset.h"
#include "base/log.h"
#include "base/units.h"

static volatile bool stop;

static void on_stop(int signal)
{
	(void)signal;
	stop = true;
}

int heap_growth_load(const struct world *w, const struct subject *s, uint64_t duration_ns, struct heapset **ret,
		     char note[static 300], struct fault *f)
{
	const struct members_want members = subject_members(s);
	const struct growthset_want want = {.members = &members, .duration_ns = duration_ns, .stop = &stop};
	const struct sigaction action = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};
	char text[24];
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	if (isatty(STDERR_FILENO))
		log_info("%s: watching where memory grows for %s", s->text, duration_format(duration_ns, text));
	return growthset_record(w, &want, ret, note, f);
}
