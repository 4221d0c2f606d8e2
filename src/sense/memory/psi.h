/*
 * Pressure stall information (kernel: accounting/psi.rst): averages, and
 * triggers that wake a poller. Ratios are 0..1, times microseconds.
 */
#pragma once

#include "base/text.h"
#include "sense/world.h"

struct psi_line {
	double avg10_ratio, avg60_ratio, avg300_ratio;
	uint64_t total_us;
};
struct psi {
	struct psi_line some, full;
	bool has_full;
};
int must_check psi_parse(struct span text, struct psi *ret);
/* file: "pressure/memory" below /proc (dir = world's proc_fd), or "memory.pressure" below a group. */
int must_check psi_read(int dirfd, const char *file, struct psi *ret);

/*
 * Open a trigger: some|full stalled for stall_us within window_us. Poll the descriptor for EPOLLPRI. Without
 * CAP_SYS_RESOURCE the kernel takes only windows that are multiples of 2 s: the call then retries with 2 s and the same
 * ratio, and *ret_window_us is the window used. WORLD_ABSENT (no PSI), WORLD_DENIED.
 */
int must_check psi_trigger_open(int dirfd, const char *file, bool full, uint64_t stall_us, uint64_t window_us,
				int *ret_fd, uint64_t *ret_window_us);
