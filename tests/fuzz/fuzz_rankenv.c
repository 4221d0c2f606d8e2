/* Environments of some processes: blocks with an empty entry between. */
#include <assert.h>
#include <string.h>

#include "model/jobs/rankenv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void line_check(void *data, const char *line)
{
	size_t *n = data;
	(*n)++;
	assert(strlen(line) < 512);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rankenv e;
	struct rankenv_process p[16];
	struct span rest = {(const char *)data, size};
	size_t n = 0, lines = 0;
	while (n < 16 && rest.len > 0) {
		const char *end = memmem(rest.p, rest.len, "\0\0", 2);
		size_t len = end ? (size_t)(end - rest.p) : rest.len;
		p[n] = (struct rankenv_process){.pid = (pid_t)n + 10, .environ = {rest.p, len}, .known_rank = NO_RANK};
		n++;
		len += end ? 2 : 0;
		rest.p += len;
		rest.len -= len;
	}
	rankenv_compare(p, n, &e);
	assert(e.n_findings <= RANKENV_FINDINGS);
	for (size_t i = 0; i < e.n_findings; i++)
		assert(e.finding[i].n_ranks <= RANKENV_RANKS &&
		       memchr(e.finding[i].text, 0, sizeof(e.finding[i].text)));
	rankenv_lines(p, n, &e, line_check, &lines);
	assert(lines <= 257);
	return 0;
}
