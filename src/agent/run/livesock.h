/*
 * The live socket of a running job, "<job's folder>/live": whoever the kernel shows to be the job's owner or root may
 * connect, and is written lines; nothing may be asked. What a reader sends is never read.
 *
 * Its owner is one loop, which is never held up: nothing here waits. Lines are shared by all readers; a reader that
 * lags LIVESOCK_BEHIND lines behind is cut off. With no reader it costs nothing.
 *
 * A process that forks from its owner loses all descriptors of it at once (pthread_atfork), so that the socket is dead
 * the moment its owner is. A program may have several, all of one thread.
 */
#pragma once

#include "base/base.h"

#define LIVESOCK_READERS 128
#define LIVESOCK_BEHIND 8

struct livesock;

/* dir: the job's folder. -errno: there is none; the job goes on without. */
int must_check livesock_open(const char *dir, struct livesock **ret);
/* Removes the socket's name and cuts all readers off. Takes NULL, returns it. */
struct livesock *livesock_close(struct livesock *l);
/* To be waited for by poll or epoll; readable: call livesock_run. Borrowed. */
int livesock_fd(const struct livesock *l);
/* Takes new readers, and writes what waits. */
void livesock_run(struct livesock *l);
size_t livesock_readers(const struct livesock *l);
/* True if a reader has not been given the whole state yet. */
bool livesock_owed(const struct livesock *l);
/*
 * Gives each reader a line (without its end): news, or whole to those who have had nothing yet, who until then get no
 * news. NULL: none. -ENOMEM.
 */
int must_check livesock_give(struct livesock *l, const char *whole, const char *news);
