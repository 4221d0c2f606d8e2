#include <string.h>

#include "sense/native/unwind_parts.h"

/* Hand-written kernels of BLAS libraries have stack buffers of 32 KiB. */
#define SCAN_BYTES (48 * KIB)
/* Bytes at a function's start in which it takes its room on the stack. */
#define PROLOGUE_BYTES 64
/* Maximum number of words that look like return addresses and are followed. */
#define SCAN_TRIES 32
/* A function saves the registers it must restore within this distance of its return address. */
#define SCAN_SAVED_BYTES UINT64_C(160)

#if defined(__x86_64__)
static void note_copy(struct prologue *p, unsigned x86_reg)
{
	/* DWARF's number of each register of the instruction set */
	static const uint8_t dwarf[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
	if (p->n_copies < PROLOGUE_COPIES && dwarf[x86_reg] != REG_SP) {
		p->copy[p->n_copies].reg = dwarf[x86_reg];
		p->copy[p->n_copies++].room = p->room;
	}
}

/* Bytes of the instruction at c (8 are readable) if it changes or copies the stack pointer; else 0. */
static size_t prologue_step(struct prologue *p, const uint8_t *c)
{
	int32_t by = (int8_t)c[3];
	size_t len = 4;
	if (c[0] == 0x48 && c[1] == 0x81) {
		memcpy(&by, c + 3, sizeof(by));
		len = 7;
	}
	if (c[0] == 0x48 && (c[1] == 0x81 || c[1] == 0x83) && c[2] == 0xec && by > 0 && !p->aligns) {
		p->room += (uint64_t)by;
		p->takes = true;
		return len;
	}
	if (c[0] == 0x48 && (c[1] == 0x81 || c[1] == 0x83) && c[2] == 0xe4) {
		p->aligns = true;
		return len;
	}
	if ((c[0] == 0x48 || c[0] == 0x49) && c[1] == 0x89 && (c[2] & 0xf8) == 0xe0 && !p->aligns) {
		note_copy(p, (c[2] & 7u) + (c[0] == 0x49 ? 8u : 0u)); /* mov %rsp,%reg */
		return 3;
	}
	return 0;
}
#endif

/* Reads the code from the function's start up to pc. This is no full decoder: its result must be proved. */
bool prologue_read(const struct walk *w, uint64_t function, uint64_t pc, struct prologue *ret)
{
	*ret = (struct prologue){.room = 0};
#if defined(__x86_64__)
	uint8_t code[PROLOGUE_BYTES + 8] = {0};
	size_t n = (size_t)MIN(pc - function, (uint64_t)PROLOGUE_BYTES), i = 0;
	if (n < 4 || remote_read(native_remote(w->native), function, code, n) != 0)
		return false;
	for (; i < n && ((code[i] & 0xf8) == 0x50 || (code[i] == 0x41 && (code[i + 1] & 0xf8) == 0x50)); i++) {
		i += code[i] == 0x41;
		ret->room += 8;
	}
	while (i < n) {
		size_t len = prologue_step(ret, code + i);
		i += len ? len : 1;
	}
#else
	(void)w;
	(void)function;
	(void)pc;
#endif
	return ret->takes;
}

#if defined(__x86_64__)
/*
 * Finds the first `sub $n,%rsp`; 0: there is none. False if the stack pointer is then changed by a value that is only
 * known at run time.
 */
static bool room_taken(const uint8_t *code, size_t n, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i + 7 <= n; i++) {
		struct prologue p = {.room = 0};
		size_t len = prologue_step(&p, code + i);
		if (p.aligns)
			return false;
		if (code[i] == 0x48 && code[i + 1] == 0x29 && (code[i + 2] & 0xc7) == 0xc4) /* sub %reg,%rsp */
			return false;
		if (p.takes && *ret == 0)
			*ret = p.room;
		i += len ? len - 1 : 0;
	}
	return true;
}

static bool is_return_at(struct walk *w, uint64_t at)
{
	uint64_t pc;
	return at % 8 == 0 && unwind_load(w, at, &pc) && unwind_call_of(w, pc) != CALL_NONE;
}

bool unwind_frame_by_code(struct walk *w, uint64_t function, uint64_t saved_bytes, uint64_t *ret_return_at)
{
	uint8_t code[PROLOGUE_BYTES + 8] = {0};
	uint64_t room, sp = w->now.reg[REG_SP], pc = w->now.reg[REG_PC];
	size_t n = pc > function ? (size_t)MIN(pc - function, (uint64_t)sizeof(code)) : 0;
	if (!known(&w->now, REG_SP) || n < 4 || saved_bytes < 16 ||
	    remote_read(native_remote(w->native), function, code, n) != 0 || !room_taken(code, n, &room))
		return false;
	uint64_t at = sp + room + saved_bytes - 8;
	bool found = is_return_at(w, at);
	/*
	 * "push %rax" makes room for one word and is not described. Only one of the two places may be a return address.
	 */
	if (room == 0 && is_return_at(w, at + 8)) {
		if (found)
			return false;
		at += 8;
		found = true;
	}
	*ret_return_at = at;
	return found;
}
#else
bool unwind_frame_by_code(struct walk *w, uint64_t function, uint64_t saved_bytes, uint64_t *ret_return_at)
{
	(void)w;
	(void)function;
	(void)saved_bytes;
	(void)ret_return_at;
	return false;
}
#endif

/* Walks as if the innermost function had returned to pc, which was at `at`. */
static int walk_from(struct walk *w, size_t n, uint64_t pc, uint64_t at, const uint64_t *fp)
{
	w->trace->n = n;
	w->trace->frame[n - 1].cfa = w->floor = at + 8;
	w->now.valid = 0;
	set(&w->now, REG_PC, pc);
	set(&w->now, REG_SP, at + 8);
	if (fp)
		set(&w->now, REG_FP, *fp);
	w->by_pointer = w->exact = false;
	return unwind_on(w);
}

/*
 * The caller depends on the frame pointer, which the function may have kept in its register, or saved next to its
 * return address.
 */
static int walk_with_pointer(struct walk *w, const struct unwind_regs *innermost, size_t n, uint64_t pc, uint64_t at)
{
	const uint64_t lowest = MAX(innermost->reg[REG_SP], at - MIN(at, SCAN_SAVED_BYTES));
	uint64_t fp = innermost->reg[REG_FP];
	if (known(innermost, REG_FP) && fp > at && walk_from(w, n, pc, at, &fp) == UNWIND_COMPLETE)
		return UNWIND_COMPLETE;
	for (uint64_t saved = at - 8; saved >= lowest; saved -= 8) {
		if (!unwind_load(w, saved, &fp) || fp % 8 != 0 || fp <= at || fp - at > MIB)
			continue;
		if (walk_from(w, n, pc, at, &fp) == UNWIND_COMPLETE)
			return UNWIND_COMPLETE;
	}
	return UNWIND_NO_INFO;
}

/*
 * True if the word at `at` is the innermost function's return address: it is behind a call, and the walk from there is
 * complete.
 */
static bool returns_at(struct walk *w, const struct unwind_regs *innermost, size_t n, uint64_t at)
{
	uint64_t pc;
	if (!unwind_load(w, at, &pc) || pc < PAGE_BYTES || pc >> 47 != 0)
		return false;
	w->now.reg[REG_PC] = innermost->reg[REG_PC]; /* unwind_call_of compares with it */
	if (unwind_call_of(w, pc) == CALL_NONE)
		return false;
	w->tries++;
	return walk_from(w, n, pc, at, NULL) == UNWIND_COMPLETE ||
	       walk_with_pointer(w, innermost, n, pc, at) == UNWIND_COMPLETE;
}

/*
 * For an innermost function without call frame information, or with one that does not describe the room it took on the
 * stack: hand-written code. The return address follows from the code at its start; else it is the word nearest to the
 * stack pointer that is behind a call and from which the walk reaches the thread's first function. The registers that
 * the function must restore are unknown afterwards.
 */
int unwind_scan(struct walk *w, const struct prologue *p)
{
	const struct unwind_regs innermost = w->now;
	const size_t n = w->trace->n;
	const uint64_t sp = innermost.reg[REG_SP], end = sp + SCAN_BYTES;
	bool found = false;
	if (w->scanned || !known(&innermost, REG_SP) || end < sp || RETURN_ON_STACK == 0)
		return UNWIND_NO_INFO;
	w->scanned = true;
	for (size_t i = 0; i < p->n_copies && !found; i++) {
		uint64_t at = innermost.reg[p->copy[i].reg] + p->copy[i].room;
		found = known(&innermost, p->copy[i].reg) && at % 8 == 0 && at >= sp && at - sp < MIB &&
			returns_at(w, &innermost, n, at);
	}
	if (!found && !p->aligns)
		found = returns_at(w, &innermost, n, sp + p->room);
	for (uint64_t at = (sp + 7) & ~UINT64_C(7); !found && at < end && w->tries < SCAN_TRIES; at += 8)
		found = returns_at(w, &innermost, n, at);
	if (found)
		return UNWIND_COMPLETE;
	w->trace->n = n;
	w->now = innermost; /* this result is final */
	w->exact = true;
	w->floor = sp;
	return UNWIND_NO_INFO;
}
