/*
 * The main loop of the hang watcher's process: takes a sample of each job in
 * the mapping about once a second, asks judge/hang, gathers evidence on
 * suspicion, and sends its verdicts. While no job is suspected it uses at most
 * 0.2 % of a core: where a sample costs more, samples become rarer.
 */
#pragma once

#include "agent/hang/hangshm.h"

/* Returns only if it cannot start; it is killed with its owner. wake_fd: eventfd of the owner. */
void hangwatch_main(struct hang_shm *shm, int wake_fd);
