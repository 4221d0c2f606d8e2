#include <assert.h>

#include "sense/proc/lastpid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pid_t pid = 0;
	int r = lastpid_parse((struct span){(const char *)data, size}, &pid);
	assert(r == 0 ? pid > 0 : r == -EBADMSG && pid == 0);
	return 0;
}
