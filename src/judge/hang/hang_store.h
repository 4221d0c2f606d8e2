/* Verdicts of ranks that all wait, of which some wait for the store (TCPStore, FileStore, init_process_group). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hang_work;

/* How many ranks the job has, by the environment; 0: unknown. */
uint32_t hang_world_size(const struct hang_work *w);
/* True if it decides, also that it is too early. All ranks wait for the store, or its server has ended. */
bool hang_store_waits(struct hang_work *w);
/* The same where some ask for a key of the program's own while the others are in a collective. */
bool hang_key_beside_calls(struct hang_work *w);
