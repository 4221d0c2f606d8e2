/*
 * That somebody had vigil's page send a signal to a process of a job: an event of the job, written before the signal
 * goes, so that the death that follows is told as what it is. The name of the process is foreign: it may hold anything,
 * so only what stands around it counts. Pure.
 */
#pragma once

#include "model/jobs/job.h"

struct page_signal {
	int signal; /* SIGTERM or SIGKILL */
	pid_t target;
	pid_t sender; /* who serves the page */
	uid_t sender_uid;
	int64_t time_unix_ms;
};

/* Fills in kind, time and text; name: of the target. */
void page_signal_write(const struct page_signal *s, const char *name, struct job_event *e);
/* False: the event is no such one. */
bool page_signal_parse(const struct job_event *e, struct page_signal *ret);
