/*
 * Call frame information: for an address of a file, where the caller's registers are saved. Follows DWARF 5 section 6.4
 * with the changes of the Linux Standard Base 5 (.eh_frame, .eh_frame_hdr) and the processors' supplements (x86_64,
 * AArch64).
 *
 * A row is the answer for one address. It is computed by running the function's call frame program when the address is
 * first asked for, and kept, because return addresses repeat. The bytes are foreign: every read is bounded, every loop
 * ends, and information that contradicts itself is EH_BAD.
 */
#pragma once

#include "sense/native/native_parts.h"

enum {
	EH_NONE = 50, /* no information for this address */
	EH_BAD = 51, /* there is information, but it contradicts itself or uses features no compiler uses */
};

#define EH_REGS 33 /* AArch64 has 33; x86_64 has 17 */

enum eh_kind {
	EH_SAME,
	EH_UNDEFINED,
	EH_OFFSET, /* in memory at CFA + value */
	EH_VAL_OFFSET, /* is CFA + value */
	EH_REGISTER, /* is in register reg (for the CFA: reg + value) */
	EH_EXPR, /* in memory at the expression's value */
	EH_VAL_EXPR, /* is the expression's value */
};

struct eh_rule {
	uint8_t kind; /* enum eh_kind */
	uint8_t reg; /* which register holds the value (EH_REGISTER) */
	uint16_t len; /* of the expression */
	int32_t value; /* an offset, or the position of the expression in the section */
};

struct eh_row {
	uint64_t pc; /* the address that was asked for */
	uint64_t start; /* start of the function */
	int32_t state; /* 0, EH_NONE, EH_BAD: failures are kept too */
	bool signal; /* the frame a signal handler returns to: the caller's pc is exact */
	uint8_t ra; /* register that holds the return address */
	uint8_t n; /* used entries of what[] */
	struct eh_rule cfa; /* EH_REGISTER or EH_VAL_EXPR */
	struct {
		uint8_t reg;
		struct eh_rule rule;
	} what[EH_REGS]; /* registers whose rule differs from EH_SAME */
};

struct eh_section {
	uint8_t *bytes; /* malloc'ed; NULL: absent */
	size_t len;
	uint64_t vaddr;
};

/* Takes both sections, also on failure. hdr may be absent or unusable: an index is built then. EH_NONE. */
int must_check ehtable_from(struct eh_section frame, struct eh_section hdr, struct ehtable **ret);
/* *ret is borrowed until the next call. EH_NONE, EH_BAD. */
int must_check ehtable_row(struct ehtable *t, uint64_t vaddr, const struct eh_row **ret);
/* The bytes of a rule's expression. */
const uint8_t *ehtable_expression(const struct ehtable *t, const struct eh_rule *rule);

/* ehcfa.c: one function's entry, given by its position in the section. */
struct eh_function {
	uint64_t start, end;
	uint64_t code_align;
	int64_t data_align;
	size_t cie_at, cie_end; /* instructions of the common part */
	size_t at, end_at; /* its own instructions */
	uint8_t ra, encoding; /* encoding: DW_EH_PE_* of addresses */
	bool signal;
};
/* *ret_next: the entry behind it. EH_NONE: the entry is a common part or a terminator, not a function's. EH_BAD. */
int must_check eh_function_at(const struct eh_section *s, size_t at, struct eh_function *ret, size_t *ret_next);
int must_check eh_function_row(const struct eh_section *s, const struct eh_function *f, uint64_t pc,
			       struct eh_row *ret);

/* A reader of a section's bytes. Reads past the end give zeros and set `bad`. */
struct eh_bytes {
	const struct eh_section *section;
	size_t at, end;
	bool bad;
};
uint64_t eh_uint(struct eh_bytes *b, size_t width);
int64_t eh_sint(struct eh_bytes *b, size_t width);
uint64_t eh_uleb(struct eh_bytes *b);
int64_t eh_sleb(struct eh_bytes *b);
/* data_base: what DW_EH_PE_datarel counts from. Encodings that no linker writes set `bad`. */
uint64_t eh_pointer(struct eh_bytes *b, uint8_t encoding, uint64_t data_base);

/* ehexpr.c: a DWARF expression. */
struct eh_machine {
	const uint64_t *reg;
	uint64_t valid; /* bit n: reg[n] is known */
	bool (*load)(void *ctx, uint64_t addr, uint64_t *ret);
	void *ctx;
	bool unknown, fault; /* why it failed: an unknown register; unreadable memory */
};
/* push: pushed first if not NULL. EH_BAD for every failure; `unknown` and `fault` say which. */
int must_check eh_evaluate(struct eh_machine *m, const uint8_t *bytes, size_t len, const uint64_t *push, uint64_t *ret);
