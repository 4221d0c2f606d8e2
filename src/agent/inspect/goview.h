/*
 * The goroutines of a process of a job, looked at twice: whether its main one stands, where, and whether anybody in the
 * process is left who could let it go on (model/hang/gostand). Nothing is stopped.
 */
#pragma once

#include "model/hang/gostand.h"
#include "sense/go/goroutine.h"

struct goview {
	pid_t pid;
	int32_t rank; /* NO_RANK */
	struct goroutines first; /* owned */
};

/* The first look. GO_NONE, GO_UNKNOWN, WORLD_GONE, WORLD_DENIED, -errno. */
int must_check goview_look(const struct world *w, pid_t pid, int32_t rank, struct goview *ret);
void goview_done(struct goview *v);
/* Where a goroutine stands in the program's own code: "main.go:20 in main.main"; "": unknown. */
void goview_place(struct goproc *p, const struct goroutine *g, char *dst, size_t cap);
/* The second look, and what is concluded. Errors as before. */
int must_check goview_compare(const struct world *w, const struct goview *v, struct gostand *ret);
