/*
 * The exception table of a code object, 3.11 and later: which handler covers an instruction, and how deep the
 * evaluation stack is when it is entered. CPython: InternalDocs/exception_handling.md (Objects/exception_handling_notes
 * .txt before 3.14).
 */
#pragma once

#include "base/text.h"

struct pyexcept {
	uint32_t target; /* offset of the handler in the bytecode, in bytes */
	uint32_t depth; /* values that are on the evaluation stack all along the covered instructions */
};

/* The entry that covers the instruction at this offset, in bytes. False: none, or the table is cut. Pure. */
bool pyexcept_find(struct span table, uint32_t at, struct pyexcept *ret);
