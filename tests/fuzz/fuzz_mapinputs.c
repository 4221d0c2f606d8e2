/* Streams and inputs of any bytes, cut into blocks and columns: nothing is lost, and it comes to an end. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/map/mapblocks.h"
#include "agent/map/mapcolumns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All blocks together are the stream, and each but the last ends with a record. */
static void blocks(const char *text, size_t len, struct mapblocks b)
{
	size_t at = 0, end_len = strlen(b.end);
	struct fault f = {.text = ""};
	int in = memfd_create("fuzz", MFD_CLOEXEC), fd = -1;
	uint64_t n = 0;
	assert(in >= 0 && write(in, text, len) == (ssize_t)len && lseek(in, 0, SEEK_SET) == 0);
	while (mapblocks_next(&b, in, &fd, &n, &f) == 0) {
		char last[16];
		assert(n > 0 && at + n <= len && lseek(fd, 0, SEEK_END) == (off_t)n);
		at += n;
		assert(at == len ||
		       (n >= end_len && pread(fd, last, end_len, (off_t)(n - end_len)) == (ssize_t)end_len &&
			memcmp(last, b.end, end_len) == 0));
		closep(&fd);
	}
	assert(at == len);
	mapblocks_done(&b);
	closep(&in);
}

/* Columns stand in the input, one after the other, and come to an end. */
static void columns(struct span text, const char *expression)
{
	struct mapcolumns c;
	struct fault f = {.text = ""};
	struct span rest = text, column;
	const char *before = text.p;
	if (mapcolumns_init(&c, expression, &f) < 0)
		return;
	for (size_t i = 0; mapcolumns_next(&c, &rest, &column); i++) {
		assert(i <= text.len && column.p >= before && column.p + column.len <= text.p + text.len);
		before = column.p + column.len;
	}
	mapcolumns_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char expression[64];
	size_t n = size < sizeof(expression) ? size : sizeof(expression) - 1;
	blocks(text, size, (struct mapblocks){.records = 1 + size % 3, .end = "\n"});
	blocks(text, size, (struct mapblocks){.block_bytes = 1 + size % 20, .end = "\n"});
	blocks(text, size, (struct mapblocks){.block_bytes = 1 + size % 7, .end = "ab"});
	/* It ends with NUL, because sanitizers treat the text given to regexec as a string. */
	char *line = malloc(size + 1);
	if (!line)
		return 0;
	memcpy(line, text, size);
	line[size] = '\0';
	columns((struct span){line, size}, "[,;] *");
	columns((struct span){line, size}, "\\t");
	memcpy(expression, text, n);
	expression[n] = '\0';
	columns((struct span){line, size}, expression);
	free(line);
	return 0;
}
