/* The meeting of all ranks in each step (mpispin.c). */
#pragma once

#include <stdint.h>

/* Comes back once all ranks have come to this step, the first of which is 1. come: shared, 0 at first. */
void mpispin_meet(volatile uint32_t *come, uint32_t ranks, uint32_t step);
