/* A core_pattern and the names that a process chose for itself, parted by 0xff: pattern, comm, exe, host, cwd. */
#include <stdint.h>
#include <string.h>

#include "sense/death/corefile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char part[5][512] = {"", "", "", "", ""}, path[300];
	for (size_t i = 0; i < 5 && size > 0; i++) {
		const uint8_t *end = memchr(data, 0xff, size);
		size_t n = end ? (size_t)(end - data) : size, kept = MIN(n, sizeof(part[i]) - 1);
		memcpy(part[i], data, kept);
		n += end ? 1 : 0;
		data += n;
		size -= n;
	}
	struct corefile_facts f = {.pid = 1, .comm = part[1], .exe = part[2], .host = part[3], .cwd = part[4]};
	int r = corefile_expand(part[0], &f, 0, path, sizeof(path));
	if (r == 0 && strlen(path) >= sizeof(path))
		__builtin_trap();
	return 0;
}
