/* Versions in the constants of a library that a process has mapped, and in its log. */
#include <assert.h>
#include <string.h>

#include "sense/collective/ncclversion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = {(const char *)data, size};
	char found[16];
	struct ncclras_version v = {.known = false}, again = {.known = false};
	if (nccl_version_find(text, found)) {
		assert(memchr(found, '\0', sizeof(found)) && found[0] >= '0' && found[0] <= '9');
		assert(strspn(found, "0123456789.") == strlen(found));
	}
	if (nccl_version_own(text, &v))
		assert(v.known);
	if (ncclras_version_parse(text, &again))
		assert(again.known);
	return 0;
}
