/* Shared by the files that implement sense/net/sockpeer.h. */
#pragma once

#include "sense/net/sockpeer.h"

int must_check sockpeer_add(struct sockpeer_table *t, const struct sockpeer *s);
void sockpeer_unmap(struct sockpeer *s);
/* The text tables of the namespace of pid. WORLD_GONE, WORLD_DENIED, -ENOMEM. */
int must_check sockpeer_tcp_text(const struct world *w, pid_t pid, uint64_t netns, struct sockpeer_table *t);
int must_check sockpeer_unix_text(const struct world *w, pid_t pid, uint64_t netns, struct sockpeer_table *t);
