/*
 * gopeek PID: what can be seen of a program made by Go; text, for finding out why something is not shown.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/host/world_open.h"
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

int main(int argc, char **argv)
{
	struct world w;
	struct remote r;
	cleanup(goproc_done) struct goproc p = {.table = NULL};
	cleanup(goroutines_done) struct goroutines s = {.n = 0};
	struct fault fault = {.text = ""};
	if (argc != 2 || world_open(NULL, &w, &fault) < 0)
		return 2;
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
