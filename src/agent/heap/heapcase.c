#include "agent/heap/heapcase.h"

#include <limits.h>

#include "agent/heap/heapread.h"
#include "agent/heap/heapfiles.h"
#include "base/buf.h"
#include "tell/heap/heap_show.h"

#define TOP 5
#define FRAMES 12
#define PROCESSES_MOST 16

/* Path of the profile of a victim; *copy: it is the copy that was made when memory got short. */
static int heapcase_file_of(const char *folder, const struct proc_id *victim, bool *copy, char *path, size_t cap)
{
	*copy = false;
	int r = heapfiles_find(folder, victim->pid, victim->start_ticks, false, path, cap);
	if (r) {
		*copy = true;
		r = heapfiles_find(folder, victim->pid, victim->start_ticks, true, path, cap);
	}
	return r;
}

struct js *heapcase_json(const struct world *w, const char *folder, const struct proc_id *victims, size_t n,
			 const char *name)
{
	char path[PATH_MAX], first[PATH_MAX] = "";
	size_t n_read = 0;
	bool copies = true;
	const struct heapread_want want = {.n_who = 0, .most_stacks = 500};
	cleanup(heapset_freep) struct heapset *set = heapset_new(HEAPSET_SAMPLED);
	cleanup(heapread_freep) struct heapread *reader = set ? heapread_new(w, set, &want) : NULL;
	for (size_t i = 0; reader && i < n && n_read < PROCESSES_MOST; i++) {
		struct fault f = {.text = ""};
		bool copy;
		if (heapcase_file_of(folder, &victims[i], &copy, path, sizeof(path)) != 0 ||
		    heapread_file(reader, path, &f) != 0)
			continue;
		copies &= copy;
		if (n_read++ == 0)
			TEXT_COPY(first, path);
	}
	if (n_read == 0)
		return NULL;
	const struct heap_show_want show = {
		.part = {.what = copies ? HEAPSET_LIVE : HEAPSET_PEAK}, .limit = TOP, .frames = FRAMES, .title = name};
	struct js *j = heap_incident_json(set, &show, n_read == 1 ? first : folder);
	if (j && !copies &&
	    heapfiles_find(folder, victims[0].pid, victims[0].start_ticks, true, path, sizeof(path)) == 0)
		js_put_text(j, "before", path);
	if (j && n > 1)
		js_put_u64(j, "ended_processes", n);
	return j;
}
