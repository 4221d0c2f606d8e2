/*
 * The kernel's line about a fault that ended a process, taken apart:
 *
 *   python3[619]: segfault at 0 ip 00007f2c6a82e219 sp 00007ffeceae15c8 error 4 in libc.so.6[7f2c6a6fe000+156000]
 *   traps: a.out[71] trap divide error ip:4011a2 sp:7ffe1000 error:0 in a.out[401000+1000]
 *
 * Pure. The name of the file is as the process chose it, so it is hostile: it is kept printable, and cut.
 * Sources: arch/x86/mm/fault.c (show_signal_msg), arch/x86/kernel/traps.c, mm/memory.c (print_vma_addr) of Linux.
 */
#pragma once

#include "base/base.h"
#include "base/text.h"

struct faultline {
	bool valid;
	bool has_address;          /* of a page fault; a trap has none */
	bool trap;                 /* no access to memory: a division, an instruction that is none, a breakpoint */
	bool present, write, fetch; /* x86, by the error code: the page was there; a write; a jump */
	uint64_t address;          /* that was touched */
	uint64_t ip, sp;           /* instruction and stack pointers */
	char file[64];             /* the mapped file with the instruction; "": none, or it was not told */
	bool has_offset;
	uint64_t offset;           /* of the instruction in the file; where the kernel does not tell: in its mapping */
	bool in_file;              /* the offset is the file's, as kernels since 6.10 tell it */
};

/* said: what follows "name[pid]". false: it is no such. *ret is set always. */
bool faultline_parse(struct span said, struct faultline *ret);
