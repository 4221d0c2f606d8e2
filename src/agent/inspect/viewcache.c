#include "agent/inspect/viewcache.h"

#include <string.h>

#include "sense/proc/proc.h"
#include "sense/memory/cgroup.h"
#include "sense/wait/threadlist.h"

/*
 * For a program without Python: its own symbol tables and those of the first libraries are read. Larger files would
 * take the supervisor too long.
 */
#define PREPARE_FILE_BYTES (32 * MIB)

static bool wanted(pid_t pid, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static bool is_kept(const struct viewcache *k, pid_t pid)
{
	for (size_t i = 0; i < VIEWCACHE_PLACES; i++)
		if (k->place[i].view && k->place[i].view->pid == pid)
			return true;
	return false;
}

/*
 * Reads each Python thread once, so that names of code are known later. Stops no thread: frames are read while it runs,
 * native symbols from files only.
 */
static void frames_read(struct procview *l, const struct world *w, uint64_t end_ns)
{
	char where[CGROUP_PATH_MAX];
	const struct pythread *threads;
	struct pystack stack;
	size_t n;
	(void)process_is_frozen(w, l->pid, where, sizeof(where)); /* remembers where its control group is */
	if (l->native)
		native_prepare(l->native, PREPARE_FILE_BYTES, end_ns);
	if (!l->stacks || procview_python_threads(l, &threads, &n) != 0)
		return;
	for (size_t i = 0; i < n && w->mono_ns() < end_ns; i++)
		ignore(pystacks_read(l->stacks, &threads[i], false, &stack), "names are known the sooner");
}

static void keep_one(struct viewcache *k, const struct world *w, pid_t pid, uint64_t end_ns)
{
	size_t i = 0;
	while (i < VIEWCACHE_PLACES && k->place[i].view)
		i++;
	if (i == VIEWCACHE_PLACES || w->mono_ns() >= end_ns)
		return;
	struct procview_want want = {.natives = k->natives, .native_without_python = true};
	struct fault f = {.text = ""};
	if (procview_open(w, pid, &want, &k->place[i].view, &f) == 0)
		frames_read(k->place[i].view, w, end_ns);
	else
		k->place[i].view = NULL;
}

void viewcache_keep(struct viewcache *k, const struct world *w, const pid_t *pids, size_t n, uint64_t budget_ns)
{
	uint64_t end_ns = w->mono_ns() + budget_ns;
	for (size_t i = 0; i < VIEWCACHE_PLACES; i++)
		if (k->place[i].view && !wanted(k->place[i].view->pid, pids, n))
			k->place[i].view = procview_close(k->place[i].view);
	if (!k->natives)
		k->natives = natives_new();
	for (size_t i = 0; i < n && k->natives; i++)
		if (pids[i] > 0 && !is_kept(k, pids[i]))
			keep_one(k, w, pids[i], end_ns);
}

void viewcache_clear(struct viewcache *k)
{
	for (size_t i = 0; i < VIEWCACHE_PLACES; i++)
		k->place[i].view = procview_close(k->place[i].view);
	k->natives = natives_free(k->natives);
}

static bool still_it(struct procview *l, const struct world *w)
{
	struct proc_stat st;
	if (proc_stat_read(w, l->pid, &st) != 0 || st.start_ticks != l->start_ticks || procview_lost(l) ||
	    procview_changed(l))
		return false;
	if (l->python_later && procview_code_changed(l)) /* the symbol tables of its files are kept */
		procview_again(l);
	return true;
}

struct procview *viewcache_take(struct viewcache *k, const struct world *w, pid_t pid)
{
	for (size_t i = 0; i < VIEWCACHE_PLACES; i++) {
		if (!k->place[i].view || k->place[i].view->pid != pid)
			continue;
		cleanup(procview_closep) struct procview *l = take(&k->place[i].view);
		return still_it(l, w) ? take(&l) : NULL;
	}
	return NULL;
}
