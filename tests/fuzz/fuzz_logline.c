/* Lines of a job's output and of system logs, and terminal sequences that are split anywhere. */
#include <assert.h>
#include <string.h>

#include "sense/log/logline.h"
#include "sense/log/logprefix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void part_check(struct span part, struct span whole)
{
	assert(part.len == 0 || (part.p >= whole.p && part.p + part.len <= whole.p + whole.len));
}

/* The same text in two blocks gives the same as in one. */
static void stripped_check(const uint8_t *data, size_t size)
{
	size_t cut = size ? data[0] % (size + 1) : 0;
	char *whole = malloc(size + 1), *parts = malloc(size + 1);
	assert(whole && parts);
	if (size) {
		memcpy(whole, data, size);
		memcpy(parts, data, size);
	}
	struct ansi one = {.state = 0}, two = {.state = 0};
	size_t n = ansi_strip(&one, whole, size);
	size_t first = ansi_strip(&two, parts, cut), second = ansi_strip(&two, parts + cut, size - cut);
	memmove(parts + first, parts + cut, second);
	assert(n <= size && n == first + second && (n == 0 || memcmp(whole, parts, n) == 0));
	free(whole);
	free(parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = {(const char *)data, size};
	struct span rest = text, line;
	while (span_line(&rest, &line)) {
		struct logline l;
		struct logprefix p;
		logline_parse(line, &l);
		part_check(l.text, line);
		assert(l.rank >= NO_RANK);
		logprefix_parse(line, &p);
		part_check(p.text, line);
		/* it may be a word of the parser's own: "kernel" */
		assert(!p.ident.p || p.ident.len <= line.len + 16);
		assert(p.pid >= 0);
	}
	stripped_check(data, size);
	return 0;
}
