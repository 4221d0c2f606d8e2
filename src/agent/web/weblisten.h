/* The socket that the page's server listens on. */
#pragma once

#include "base/base.h"
#include "base/fault.h"

struct weblisten {
	int fd;
	bool is_unix, is_loopback;
	unsigned port; /* 0: a unix socket */
	char host[128]; /* as it is written in an address: "127.0.0.1", "[::1]"; "" for a unix socket */
	char path[108]; /* of a unix socket: removed in the end by weblisten_done */
	char note[300]; /* another port than the usual one, and why; "" */
};

/*
 * where: "ADDR:PORT", "[ADDR]:PORT", "unix:PATH"; NULL: 127.0.0.1. port: 0 takes the usual one, or the next of
 * WEBLISTEN_TRIES that is free; another one is taken, or refused with a sentence that says who has it. proc_fd: of
 * /proc, to say that; -1: it is not said.
 */
#define WEBLISTEN_TRIES 50
int must_check weblisten_open(const char *where, unsigned port, int proc_fd, struct weblisten *ret, struct fault *f);
void weblisten_done(struct weblisten *l);
/* True if sockets listen on this port of TCP, by whatever address, and all of them are this user's. */
bool weblisten_is_own(int proc_fd, unsigned port);
/* "ADDR:PORT" taken apart; a numeric address. -EINVAL with a sentence. Pure. */
int must_check weblisten_parse(const char *where, char *host, size_t cap, unsigned *ret_port, struct fault *f);
