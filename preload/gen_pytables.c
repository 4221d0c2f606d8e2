/* Prints the tables of preload/python.c from those that vigil itself reads Python with. Runs at build time. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "preload/pyfields.h"
#include "sense/python/pyrt.h"

static const struct {
	const char *name;
	size_t at;
} fields[] = {
#define FIELD(theirs, ours) {#ours, offsetof(struct pyoffsets, theirs)},
	PY_FIELDS(FIELD)
#undef FIELD
};

#define N (sizeof(fields) / sizeof(fields[0]))

int main(void)
{
	puts("static const struct layout py_fixed[] = {");
	for (uint8_t minor = PY_FIXED_FIRST; minor < PY_SELF_FIRST; minor++) {
		struct pyoffsets o;
		if (!pyoffsets_of(minor, &o))
			return 1;
		printf("\t{ /* 3.%u */\n", minor);
		for (size_t i = 0; i < N; i++) {
			uint64_t v = *(const uint64_t *)(const void *)((const char *)&o + fields[i].at);
			if (v != PYOFF_NONE)
				printf("\t\t.%s = %" PRIu64 ",\n", fields[i].name, v);
			else
				printf("\t\t.%s = PY_NONE,\n", fields[i].name);
		}
		puts("\t},");
	}
	puts("};\n/* Numbers of words. */\nstatic const struct layout py_words[] = {");
	for (uint8_t minor = PY_SELF_FIRST; minor <= PY_LAST; minor++) {
		printf("\t{ /* 3.%u */\n", minor);
		for (size_t i = 0; i < N; i++) {
			uint32_t word = 0;
			if (pyoffsets_word(minor, fields[i].at, &word))
				printf("\t\t.%s = %" PRIu32 ",\n", fields[i].name, word);
			else
				printf("\t\t.%s = PY_NONE,\n", fields[i].name);
		}
		puts("\t},");
	}
	puts("};\nstatic const uint32_t py_last_word[] = {");
	for (uint8_t minor = PY_SELF_FIRST; minor <= PY_LAST; minor++)
		printf("\t%" PRIu32 ",\n", pyoffsets_last_word(minor));
	puts("};");
	return 0;
}
