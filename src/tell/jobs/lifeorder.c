#include "tell/jobs/lifeorder.h"

#include "tell/store/series.h"

int lifeorder_by_pid(const void *a, const void *b)
{
	const struct lifeorder *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->start_ticks < y->start_ticks ? -1 : x->start_ticks > y->start_ticks;
}

int lifeorder_same(const void *a, const void *b)
{
	const struct series_process *x = a, *y = b;
	const struct lifeorder lx = {x->pid, x->start_ticks}, ly = {y->pid, y->start_ticks};
	return lifeorder_by_pid(&lx, &ly);
}

int lifeorder_latest_last(const void *a, const void *b)
{
	const struct series_process *x = a, *y = b;
	int r = lifeorder_same(a, b);
	if (r != 0)
		return r;
	if ((x->ended_unix_ms == 0) != (y->ended_unix_ms == 0))
		return x->ended_unix_ms == 0 ? -1 : 1;
	return x->ended_unix_ms < y->ended_unix_ms ? -1 : x->ended_unix_ms > y->ended_unix_ms;
}

int lifeorder_by_start(const void *a, const void *b)
{
	const struct series_process *x = a, *y = b;
	if (x->started_unix_ms != y->started_unix_ms)
		return x->started_unix_ms < y->started_unix_ms ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}
