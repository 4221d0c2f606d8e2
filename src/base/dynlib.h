/*
 * Libraries that are loaded on first use instead of linked, so that other starts of vigil do not pay for them.
 * One .c file per library keeps a struct of function pointers and a table of their names.
 */
#pragma once

#include "base/base.h"

struct dynlib_symbol {
	const char *name;
	void *slot; /* address of the function pointer to set */
};

/*
 * Open the first of n_names libraries that exists, with the flags of dlopen, and set each slot. NULL if none can be
 * loaded or a symbol is missing; dlerror() says why. The handle is kept open until the process ends, or given to
 * dlclose by the caller.
 */
void *dynlib_load(const char *const *names, size_t n_names, int flags, const struct dynlib_symbol *symbols,
		  size_t n_symbols);
/* One symbol of an open library; false, and the slot unchanged, if it has none of that name. */
bool dynlib_symbol(void *library, const char *name, void *slot);
