/*
 * gopeek PID [SECONDS]: what can be seen of a program made by Go; text, for finding out why something is not shown.
 * With SECONDS it looks again after them, and says what is concluded of goroutine 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/host/world_open.h"
#include "agent/inspect/goview.h"
#include "sense/go/goroutine.h"

static void frames_print(struct goproc *p, const struct goroutine *g)
{
	struct goroutine_frame f[GOROUTINE_FRAMES];
	size_t n = 0;
	bool cut = false;
	if (goroutine_frames(p, g, f, &n, &cut) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		printf("    %.*s %.*s:%d%s\n", (int)f[i].name.len, f[i].name.p, (int)f[i].file.len, f[i].file.p,
		       f[i].line, f[i].pc ? "" : " (inlined)");
	if (cut)
		printf("    (cut)\n");
}

static int conclude(const struct world *w, pid_t pid, const char *seconds)
{
	static const char *const kinds[] = {"unknown", "lives", "outside", "somebody", "nobody"};
	struct goview v;
	struct gostand s;
	const struct timespec nap = {.tv_sec = (time_t)strtol(seconds, NULL, 10)};
	int e = goview_look(w, pid, NO_RANK, &v);
	if (e)
		return e;
	(void)nanosleep(&nap, NULL);
	uint64_t began_ns = w->mono_ns();
	e = goview_compare(w, &v, &s);
	goview_done(&v);
	if (e == 0)
		printf("%s%s%s: %s; %s; %u of %u stand; %llu us\n", kinds[s.kind], s.serves ? " (serves)" : "",
		       s.owed ? " (owed)" : "", s.text, s.other, s.n_stand, s.n,
		       (unsigned long long)((w->mono_ns() - began_ns) / 1000));
	return e;
}

int main(int argc, char **argv)
{
	struct world w;
	struct remote r;
	cleanup(goproc_done) struct goproc p = {.table = NULL};
	cleanup(goroutines_done) struct goroutines s = {.n = 0};
	struct fault fault = {.text = ""};
	if (argc < 2 || argc > 3 || world_open(NULL, &w, &fault) < 0)
		return 2;
	if (argc == 3)
		return conclude(&w, (pid_t)strtol(argv[1], NULL, 10), argv[2]);
	remote_open(&w, (pid_t)strtol(argv[1], NULL, 10), &r);
	int e = goproc_open(&w, &r, &p);
	printf("%s: %d, allgs %#llx\n", p.version, e, (unsigned long long)p.allgs);
	if (e == 0)
		e = goroutines_read(&p, &s);
	printf("%zu of %llu (%d), %llu reads\n", s.n, (unsigned long long)s.n_all, e, (unsigned long long)r.calls);
	for (size_t i = 0; i < s.n; i++) {
		const struct goroutine *g = &s.item[i];
		printf("  %llu %s [%s] turns %u on %#llx (%u%s) fd %d%s\n", (unsigned long long)g->id,
		       goroutine_state_name(g->state), g->reason, g->turns, (unsigned long long)g->on[0], g->n_on,
		       g->by_timer ? ", by a timer" : "", g->fd, g->to_write ? " to write" : "");
		frames_print(&p, g);
	}
	remote_done(&r);
	world_close(&w);
	return e;
}
