/*
 * gonodes PID: the goroutines of a program made by Go, and which of them come to what others wait for, in how many
 * steps; text, for finding out why the graph of waits has other arrows than was thought.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/host/world_open.h"
#include "agent/inspect/goview.h"
#include "sense/go/gonear.h"

int main(int argc, char **argv)
{
	struct world w;
	struct remote r;
	cleanup(goproc_done) struct goproc p = {.table = NULL};
	cleanup(goroutines_done) struct goroutines s = {.n = 0};
	cleanup(gonear_done) struct gonear near = {.n = 0};
	struct fault fault = {.text = ""};
	if (argc != 2 || world_open(NULL, &w, &fault) < 0)
		return 2;
	remote_open(&w, (pid_t)strtol(argv[1], NULL, 10), &r);
	int e = goproc_open(&w, &r, &p);
	if (e == 0)
		e = goroutines_read(&p, &s);
	uint64_t began_ns = w.mono_ns();
	if (e == 0)
		e = gonear_find(&p, &s, &near);
	printf("%s: %d%s, %llu us\n", p.version, e, near.cut ? ", cut" : "",
	       (unsigned long long)((w.mono_ns() - began_ns) / 1000));
	for (size_t i = 0; e == 0 && i < s.n; i++) {
		char place[200];
		const struct goroutine *g = &s.item[i];
		goview_place(&p, g, place, sizeof(place));
		printf("%llu %s [%s] fd %d %s%s\n", (unsigned long long)g->id, goroutine_state_name(g->state),
		       g->reason, g->fd, place, near.clock && near.clock[i] ? " (clock)" : "");
		for (size_t k = 0; k < near.n; k++)
			if (near.link[k].to == i)
				printf("    %llu comes to it in %u\n",
				       (unsigned long long)s.item[near.link[k].by].id, near.link[k].steps);
	}
	remote_done(&r);
	world_close(&w);
	return e;
}
