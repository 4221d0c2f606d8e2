#include <assert.h>

#include "sense/python/pycode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte picks the format, the next four are the first line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 5)
		return 0;
	uint8_t minor = (uint8_t)(8 + data[0] % 8);
	int32_t first = (int32_t)((uint32_t)data[1] | (uint32_t)data[2] << 8 | (uint32_t)data[3] << 16 |
				  (uint32_t)data[4] << 24);
	struct pycode_line *rows = NULL;
	size_t n = 0;
	if (pylines_parse(minor, (struct span){(const char *)data + 5, size - 5}, first, &rows, &n) != 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		assert(rows[i].line >= 0 && (i == 0 || rows[i].start > rows[i - 1].start));
	const struct pyrt rt = {.minor = minor, .instr_in_units = minor == 10};
	const struct pycode code = {.lines = rows, .n_lines = n, .first_line = first, .code_start = 0x1000};
	for (uint64_t at = 0; at < 64; at++)
		assert(pycode_line(&rt, &code, 0x1000 + at) >= 0 && pycode_line(&rt, &code, at) >= 0);
	free(rows);
	return 0;
}
