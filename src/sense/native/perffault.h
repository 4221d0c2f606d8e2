/*
 * Page faults of one thread, sampled by the kernel: perf_event_open(2), the software event PERF_COUNT_SW_PAGE_FAULTS,
 * each 128th with the registers and the top of the stack at that instant. Resident memory grows where a program touches
 * new memory, whichever allocator it uses. Nothing is changed in the program and it is never stopped.
 *
 * A fault of small pages adds 4 KiB, so a sample stands for 512 KiB; faults of huge pages add 2 MiB each and are
 * counted too low. The kernel may drop samples when they come faster than they are read: they are counted.
 */
#pragma once

#include <sys/types.h>

#include "sense/native/unwind.h"
#include "sense/proc/perfring.h"

#define PERFFAULT_PERIOD 128

struct perffault {
	struct perfring ring;
	pid_t tid;
	uint64_t lost;
};

/* One sample of the ring buffer. */
struct perffault_sample {
	pid_t pid, tid;
	uint64_t addr; /* the address that was touched */
	struct unwind_regs regs;
	struct unwind_stack stack;
};

enum perffault_record { PERFFAULT_OTHER, PERFFAULT_SAMPLE, PERFFAULT_LOST };

/*
 * WORLD_GONE, WORLD_DENIED (perf_event_paranoid, another user's process), WORLD_ABSENT (no such event here), -ENOMEM
 * (RLIMIT_MEMLOCK).
 */
int must_check perffault_open(pid_t tid, struct perffault *ret);
void perffault_close(struct perffault *p);
/* The next sample; false: none is ready. */
bool perffault_next(struct perffault *p, struct perffault_sample *ret);
/* Parses one record as the kernel writes it, with its header. *ret_lost: of PERFFAULT_LOST. -EBADMSG. Pure. */
int must_check perffault_parse(const uint8_t *record, size_t len, struct perffault_sample *ret,
			       enum perffault_record *ret_kind, uint64_t *ret_lost);
