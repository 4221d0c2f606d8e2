/* A job's output of any bytes: hints stay within their array, named and terminated. */
#include <assert.h>
#include <string.h>

#include "sense/death/deathlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct log_hint hints[4];
	static struct killer_line lines[4];
	struct killerlog k;
	killerlog_init(&k, "log", lines, 4);
	struct deathlog d = {.hints = hints, .cap = 4, .killers = &k};
	deathlog_parse(&d, (struct span){(const char *)data, size}, "fuzz", NO_RANK);
	assert(d.n <= 4 && k.n <= 4);
	for (size_t i = 0; i < d.n; i++) {
		assert(hints[i].id[0] != '\0' && hints[i].pid >= 0);
		assert(memchr(hints[i].text, 0, sizeof(hints[i].text)));
	}
	return 0;
}
