/*
 * A library of messages whose waits are loops on shared memory, as MPI's are between ranks of one machine. Its file is
 * called as theirs are (libmpi_spin.so), and tests/tool/mpislow.c is the job.
 */
#include "tests/tool/mpispin.h"

void mpispin_meet(volatile uint32_t *come, uint32_t ranks, uint32_t step)
{
	__atomic_add_fetch(come, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(come, __ATOMIC_SEQ_CST) < ranks * step)
		;
}
