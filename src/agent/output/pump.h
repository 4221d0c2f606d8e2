/*
 * Passes the output of a job's ranks on, in a thread of its own: whatever the supervisor waits for (its store, the
 * memory lock of a process, a report), output goes on. The thread waits for nothing but the outputs, and the reader
 * where that is a file.
 *
 * The lock is held while bytes are moved. Whoever uses a tee or an outbuf of the pump takes it (pump_lock), but for the
 * thread itself.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "agent/output/keeper.h"
#include "agent/output/outbuf.h"
#include "agent/output/tee.h"
#include "base/base.h"

#define PUMP_TEES 128

struct pump {
	pthread_mutex_t lock;
	pthread_mutex_t next; /* held by who waits for the lock, so that the busy thread lets it have it */
	pthread_t thread;
	bool started;
	pid_t pid; /* of the process that has the thread */
	int news_fd; /* eventfd, borrowed: written to when an output has ended */
	_Atomic bool stop;
	int epoll_fd, wake_fd;
	struct outbuf out, err; /* our stdout and stderr */
	struct outbuf *err_to; /* &out where both are one */
	bool *mid_line; /* of out and err, shared with children, whose messages begin a line as well; NULL: no memory */
	bool out_polled, err_polled;
	struct tee *tee[PUMP_TEES]; /* borrowed */
	uint32_t n;
};

/* Begins. The outbufs have been opened by the caller. */
int must_check pump_start(struct pump *p, int news_fd);
void pump_lock(struct pump *p);
/* Polls what can move since the lock was taken. */
void pump_unlock(struct pump *p);
/* An attempt begins: the tees of the one before are forgotten. Both with the lock. */
void pump_forget(struct pump *p);
/* Takes an opened tee. */
void pump_add(struct pump *p, struct tee *t);
/* Ends the thread; the outbufs stay. */
void pump_stop(struct pump *p);
