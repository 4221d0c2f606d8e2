#include "base/dynlib.h"

#include <dlfcn.h>
#include <string.h>

bool dynlib_symbol(void *library, const char *name, void *slot)
{
	void *f = dlsym(library, name);
	if (!f)
		return false;
	memcpy(slot, &f, sizeof(f)); /* ISO C has no cast from object to function pointer */
	return true;
}

void *dynlib_load(const char *const *names, size_t n_names, int flags, const struct dynlib_symbol *symbols,
		  size_t n_symbols)
{
	void *library = NULL;
	for (size_t i = 0; i < n_names && !library; i++)
		library = dlopen(names[i], flags);
	for (size_t i = 0; library && i < n_symbols; i++) {
		if (!dynlib_symbol(library, symbols[i].name, symbols[i].slot))
			return NULL;
	}
	return library;
}
