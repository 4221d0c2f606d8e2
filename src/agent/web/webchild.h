/*
 * Children of the page's server: vigil itself with other arguments, for whatever looks into processes or takes long. No
 * shell, and each argument is one that the server made or checked. They end with the server, whatever ends it.
 */
#pragma once

#include "agent/web/web.h"

#define WEBCHILDREN_MOST 12

struct webchild_want {
	const char *const *argv; /* NULL at the end, without the program */
	int out_fd; /* becomes its stdout; stays the caller's */
	uint64_t limit_ns; /* then it is told to end */
	bool background; /* nobody waits for it: its priority is lower from the start */
	/* It has ended. said: the last line of its stderr, without "vigil: ". */
	void (*done)(void *ctx, int wait_status, const char *said);
	void *ctx;
};

struct webchild;
/* -EAGAIN: too many run. The child is freed after done was called. */
int must_check webchild_start(struct web *w, const struct webchild_want *want, struct webchild **ret);
/* SIGINT, and SIGKILL some seconds later. */
void webchild_cancel(struct webchild *c);
struct pollfd;
/* Descriptors to wait for, at most WEBCHILDREN_MOST; their number. */
size_t webchild_fds(const struct web *w, struct pollfd *dst);
/* Looks who has ended. Milliseconds after which it must be called again; -1: none runs. */
int webchild_turn(struct web *w);
/* Ends all, without calling done. */
void webchild_free(struct web *w);
