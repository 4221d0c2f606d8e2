/*
 * Which Go made a program, and where the fields of its runtime's structures lie.
 *
 * The version is read from what the linker leaves in every program since Go 1.18 (section .go.buildinfo, which
 * stripping keeps; debug/buildinfo in Go's library is its reader). The offsets of g, sudog, hchan and pollDesc were
 * read from the debugging information of programs made by Go 1.19 and 1.21 to 1.26 for linux/amd64, and are told apart
 * by version. Of any other version nothing is known, and nothing is guessed. Pure.
 */
#pragma once

#include "base/text.h"

enum {
	GO_NONE = 9, /* it is no program made by Go, or has not started */
	GO_UNKNOWN = 10, /* a version, or a processor, of which the layout is not known */
};

#define GO_VERSION_MAX 32

struct golayout {
	/* in runtime.g; those of the stack, sched.sp, sched.pc and sched.g are the same in all versions */
	uint16_t syscall_sp, syscall_pc;
	uint16_t status; /* atomicstatus, 32 bits */
	uint16_t goid, waitsince, waitreason;
	uint16_t tracking_seq; /* a byte: how often it has left the processor, modulo 256 */
	uint16_t gopc, startpc, waiting;
	uint16_t sudog_link, sudog_c; /* in sudog; those of g and elem are 0 and 24 */
	uint16_t chan_timer; /* in hchan; 0: this version has no such field */
	uint16_t chan_type; /* in hchan: its elements' type */
	uint16_t poll_rg; /* in pollDesc; wg is behind it, fd is 8 */
	uint16_t gofunc; /* in moduledata */
	uint16_t p_timers; /* in runtime.p: the slice of its timers, behind a mutex from 1.23 on */
	uint8_t timer_bytes; /* of one in that slice, which begins with a pointer to it */
	uint32_t arena_spans; /* in runtime.heapArena */
	/* in runtime.mspan, where startAddr is 24 and npages 32: its class, with the state behind it, and elemsize */
	uint16_t span_class, span_elem;
};

#define GO_G_STACK 0
#define GO_G_SP 56
#define GO_G_PC 64
#define GO_G_SELF 72
#define GO_G_BYTES 400 /* as much of a g is read */

/* The version in the bytes of .go.buildinfo, as in "go1.26.8". GO_NONE: there is none, or it is elsewhere. */
int must_check goversion_parse(struct span buildinfo, char ret[static GO_VERSION_MAX]);
/* GO_UNKNOWN. */
int must_check golayout_of(const char *version, struct golayout *ret);
