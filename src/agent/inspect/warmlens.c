#include "agent/inspect/warmlens.h"

#include <string.h>

#include "agent/incident/caseend.h"
#include "sense/wait/threadwait.h"

/* Of a program without Python: its own tables and those of the first libraries; larger files would hold up the supervisor. */
#define PREPARE_FILE_BYTES (32 * MIB)
/* At one go; whoever is left has his turn at the next change. */
#define BUDGET_NS (4 * NS_PER_MS)

static bool wanted(pid_t pid, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static bool is_kept(const struct warmlens *k, pid_t pid)
{
	for (size_t i = 0; i < GUARD_WARM; i++)
		if (k->place[i].lens && k->place[i].lens->pid == pid)
			return true;
	return false;
}

/* Nobody is stopped for this: a thread's Python frames are read as it runs, and of native code only what lies in files. */
static void look_round(struct lens *l, const struct world *w, uint64_t end_ns)
{
	char where[CGROUP_PATH_MAX];
	const struct pythread *threads;
	struct pystack stack;
	size_t n;
	(void)process_is_frozen(w, l->pid, where, sizeof(where)); /* finds out where its group is */
	if (l->native)
		native_prepare(l->native, PREPARE_FILE_BYTES, end_ns);
	if (!l->stacks || lens_python_threads(l, &threads, &n) != 0)
		return;
	for (size_t i = 0; i < n && w->mono_ns() < end_ns; i++)
		ignore(pystacks_read(l->stacks, &threads[i], false, &stack), "names are known the sooner");
}

static void keep_one(struct warmlens *k, const struct world *w, pid_t pid, uint64_t end_ns)
{
	size_t i = 0;
	while (i < GUARD_WARM && k->place[i].lens)
		i++;
	if (i == GUARD_WARM || w->mono_ns() >= end_ns)
		return;
	struct lens_want want = {.natives = k->natives, .native_without_python = true};
	struct fault f = {.text = ""};
	if (lens_open(w, pid, &want, &k->place[i].lens, &f) == 0)
		look_round(k->place[i].lens, w, end_ns);
	else
		k->place[i].lens = NULL;
}

void warmlens_keep(struct warmlens *k, const struct world *w, const pid_t *pids, size_t n, uint64_t budget_ns)
{
	uint64_t end_ns = w->mono_ns() + budget_ns;
	for (size_t i = 0; i < GUARD_WARM; i++)
		if (k->place[i].lens && !wanted(k->place[i].lens->pid, pids, n))
			k->place[i].lens = lens_close(k->place[i].lens);
	if (!k->natives)
		k->natives = natives_new();
	for (size_t i = 0; i < n && k->natives; i++)
		if (pids[i] > 0 && !is_kept(k, pids[i]))
			keep_one(k, w, pids[i], end_ns);
}

static void lenses_close(struct warmlens *k)
{
	for (size_t i = 0; i < GUARD_WARM; i++)
		k->place[i].lens = lens_close(k->place[i].lens);
	k->natives = natives_free(k->natives);
}

void warmlens_refresh(struct warmlens *k, const struct guard_shm *shm)
{
	pid_t pids[GUARD_WARM];
	if (!k->fore || shm->now.state < GUARD_WARN)
		return;
	memcpy(pids, shm->now.warm, sizeof(pids));
	forelook_ask(k->fore, pids, GUARD_WARM);
}

void warmlens_guard(struct warmlens *k, const struct world *w, struct guard_shm *shm)
{
	pid_t pids[GUARD_WARM];
	if (shm->now.state < GUARD_WARN) {
		lenses_close(k); /* an agent lives for months, and has seen many programs */
		return;
	}
	if (guard_case_pending(shm))
		return;
	memcpy(pids, shm->now.warm, sizeof(pids));
	if (!k->fore)
		k->fore = forelook_new(w);
	warmlens_refresh(k, shm);
	atomic_store(&shm->warming, 1);
	caseend_prepare(shm);
	warmlens_keep(k, w, pids, GUARD_WARM, BUDGET_NS);
	atomic_store(&shm->warming, 0);
}

static bool still_it(struct lens *l, const struct world *w)
{
	struct proc_stat st;
	if (proc_stat_read(w, l->pid, &st) != 0 || st.start_ticks != l->start_ticks || lens_lost(l) || lens_changed(l))
		return false;
	if (l->python_later && lens_code_changed(l)) /* the tables of its files are kept all the same */
		lens_again(l);
	return true;
}

struct lens *warmlens_take(struct warmlens *k, const struct world *w, pid_t pid)
{
	for (size_t i = 0; i < GUARD_WARM; i++) {
		if (!k->place[i].lens || k->place[i].lens->pid != pid)
			continue;
		cleanup(lens_closep) struct lens *l = take(&k->place[i].lens);
		return still_it(l, w) ? take(&l) : NULL;
	}
	return NULL;
}

void warmlens_done(struct warmlens *k)
{
	lenses_close(k);
	k->fore = forelook_free(k->fore);
}
