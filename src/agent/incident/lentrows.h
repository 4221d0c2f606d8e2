/*
 * The jobs of an ordinary user that a vigil of root watched: their rows, from the folder that root keeps for the user
 * (base/private, agent/incident/recorder), lent to a store that is open for reading.
 */
#pragma once

#include "tell/store/store.h"

/*
 * folder: "<state>/users/<uid>". *ret_jobs: how many jobs there are. -EACCES and others: the folder cannot be read;
 * what is wrong with a single job is passed over.
 */
int must_check lentrows_read(const char *folder, struct store *s, size_t *ret_jobs);
