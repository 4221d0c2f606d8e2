/*
 * The inside of the hang watcher's process: looks about once a second at the
 * jobs of the mapping, asks judge/hang, gathers evidence on suspicion, and
 * sends what it finds. It costs at most a 500th of a core while all is well:
 * looks become rarer where they cost more.
 */
#pragma once

#include "agent/hang/hangshm.h"

/* Never returns in practice: it is ended with its owner. wake_fd: eventfd of the owner. */
void hangwatch_main(struct hang_shm *shm, int wake_fd);
