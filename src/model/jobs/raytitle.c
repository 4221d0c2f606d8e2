#include "model/jobs/raytitle.h"

#include <string.h>

#define PREFIX "ray::"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

static const char *const agents[] = {"DashboardAgent", "RuntimeEnvAgent"};
/* the second and third move objects to and from the disk */
static const char *const idle[] = {"IDLE", "IDLE_SpillWorker", "IDLE_RestoreWorker"};

bool raytitle_of(struct span command, struct raytitle *ret)
{
	struct span title = span_trim(command);
	if (!span_starts(title, PREFIX) || title.len == PREFIX_LEN)
		return false;
	struct span name = {title.p + PREFIX_LEN, title.len - PREFIX_LEN};
	for (size_t i = 0; i < ARRAY_SIZE(agents); i++)
		if (span_eq(name, agents[i]))
			return false;
	*ret = (struct raytitle){.name = name};
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		ret->idle |= span_eq(name, idle[i]);
	return true;
}

bool raytitle_is(struct span command, const char *name)
{
	struct raytitle t;
	bool full = strncmp(name, PREFIX, PREFIX_LEN) == 0;
	const char *asked = full ? name + PREFIX_LEN : name;
	if (!raytitle_of(command, &t) || *asked == '\0' || (t.idle && !full))
		return false;
	if (span_eq(t.name, asked))
		return true;
	const char *dot = memchr(t.name.p, '.', t.name.len);
	return dot && span_eq((struct span){t.name.p, (size_t)(dot - t.name.p)}, asked);
}

bool raytitle_moves_objects(struct span comm)
{
	static const char *const starts[] = {"ray::IDLE_Spill", "ray::IDLE_Resto", "ray::SPILL_Spil",
					     "ray::RESTORE_Re"};
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (span_starts(comm, starts[i]))
			return true;
	return false;
}
