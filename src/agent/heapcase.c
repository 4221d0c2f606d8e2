#include "agent/heapcase.h"

#include <limits.h>

#include "agent/heapread.h"
#include "agent/heaprun.h"
#include "base/buf.h"
#include "tell/heap_show.h"

#define TOP 5
#define FRAMES 12

struct js *heapcase_json(const struct world *w, const char *folder, const struct proc_id *victim, const char *name)
{
	char path[PATH_MAX];
	struct fault f = {.text = ""};
	bool copy = false;
	int r = heaprun_find(folder, victim->pid, victim->start_ticks, false, path, sizeof(path));
	if (r) {
		copy = true;
		r = heaprun_find(folder, victim->pid, victim->start_ticks, true, path, sizeof(path));
	}
	if (r)
		return NULL;
	struct heapread_who who = {.inner_pid = victim->pid, .start_ticks = victim->start_ticks, .rank = NO_RANK};
	TEXT_COPY(who.name, name);
	const struct heapread_want want = {.who = &who, .n_who = 1};
	cleanup(heapset_freep) struct heapset *set = heapset_new(HEAPSET_SAMPLED);
	cleanup(heapread_freep) struct heapread *reader = set ? heapread_new(w, set, &want) : NULL;
	if (!reader || heapread_file(reader, path, &f) != 0)
		return NULL;
	const struct heap_show_want show = {
		.part = {.what = copy ? HEAPSET_LIVE : HEAPSET_PEAK}, .limit = TOP, .frames = FRAMES, .title = name};
	return heap_incident_json(set, &show, path);
}
