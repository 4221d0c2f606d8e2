#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly this size, so that a sanitizer sees every byte beyond it. */
static char *copy_of(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	assert(copy);
	memcpy(copy, data, size);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *args = copy_of(data, size);
	assert(mask_args(args, size) <= size);
	free(args);

	char *text = copy_of(data, size);
	size_t len = strnlen(text, size);
	char *line = calloc(len + 1, 1), *value = calloc(len + 1, 1);
	assert(line && value);
	memcpy(line, text, len);
	memcpy(value, text, len);
	mask_text(line);
	assert(strlen(line) <= len);
	mask_value("password", value);
	assert(strlen(value) <= len);
	free(value);
	free(line);
	free(text);
	return 0;
}
