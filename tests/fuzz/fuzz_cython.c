#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sense/native/cython.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same bytes as a name, and as a C file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1), dst[CYTHON_NAME_MAX], file[64];
	struct cython_source s;
	uint32_t line;
	if (!name)
		abort();
	memcpy(name, data, size);
	name[size] = '\0';
	if (cython_name(name, "m.so", dst))
		assert(strlen(dst) > 0 && strlen(dst) < sizeof(dst));
	if (cython_parse((struct span){(const char *)data, size}, &s) == 0) {
		for (uint32_t at = 0; at < 20; at++)
			if (cython_line(&s, "/a/b.c", at, file, sizeof(file), &line))
				assert(line > 0 && strlen(file) < sizeof(file));
		cython_done(&s);
	}
	free(name);
	return 0;
}
