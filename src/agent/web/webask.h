/*
 * Routes whose answer a child makes: the command's own output. Those who ask the same while it runs, and for some
 * seconds after, share one child.
 */
#pragma once

#include "agent/web/web.h"

struct webask {
	const char *key; /* what is asked: the same key gives the same answer */
	const char *const *argv;
	const char *type; /* of the answer */
	const char *attachment; /* a file's name to save it as; NULL: it is shown */
	uint64_t limit_ns;
	uint64_t keep_ns; /* so long it is given again */
	bool finds; /* exit status 1 is an answer, too: doctor */
	/* The command prints an object a line; they become an array behind this text, and "]}" ends it. NULL: no. */
	const char *list_head;
};

/* Ends the call, now or later. */
void webask(const struct webcall *c, const struct webask *ask);
/* This call waits no longer. */
void webask_gone(struct web *w, struct httpd_call *call);
void webask_free(struct web *w);

/* Handlers. */
void web_node(const struct webcall *c);
void web_doctor(const struct webcall *c);
void web_processes_now(const struct webcall *c, const struct job *j);
void web_timeline(const struct webcall *c);
void web_waits(const struct webcall *c);
void web_stacks(const struct webcall *c);
void web_ray_traceback(const struct webcall *c);
void web_ray_cpu(const struct webcall *c);
void web_ray_memory(const struct webcall *c);
