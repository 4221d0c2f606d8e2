#include "agent/heap/heapreport.h"

#include "agent/heap/heapread.h"
#include "tell/heap/heap_show.h"

#define STACKS 10

int heapreport_make(const struct world *w, const char *file, bool was_alive, struct js **ret, struct fault *f)
{
	cleanup(heapset_freep) struct heapset *set = heapset_new(HEAPSET_SAMPLED);
	/* Only what is shown is named: the rest would be time for nothing. */
	const struct heapread_want want = {.most_stacks = 200};
	cleanup(heapread_freep) struct heapread *reader = set ? heapread_new(w, set, &want) : NULL;
	if (!reader)
		return -ENOMEM;
	int r = heapread_file(reader, file, f);
	if (r)
		return r;
	const struct heap_show_want show = {.part = {.what = was_alive ? HEAPSET_LIVE : HEAPSET_PEAK, .lines = true},
					    .limit = STACKS};
	struct js *j = heap_incident_json(set, &show, file);
	if (!j)
		return -ENOMEM;
	*ret = j;
	return 0;
}
