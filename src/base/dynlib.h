/*
 * Libraries that are loaded when they are first needed instead of linked, so that no other start of vigil pays for them.
 * One .c a library keeps a struct of function pointers and a table of their names.
 */
#pragma once

#include "base/base.h"

struct dynlib_symbol {
	const char *name;
	void *slot; /* address of the function pointer to set */
};

/*
 * Open the first of the named libraries that is there (n_names of them) with dlopen's flags, and set each slot. NULL if none
 * can be loaded or a symbol is missing; dlerror() says why. The handle is kept open until the process ends, or given to
 * dlclose by the caller.
 */
void *dynlib_load(const char *const *names, size_t n_names, int flags, const struct dynlib_symbol *symbols,
		  size_t n_symbols);
/* One symbol of an open library; false, and the slot unchanged, if it has none of that name. */
bool dynlib_symbol(void *library, const char *name, void *slot);
