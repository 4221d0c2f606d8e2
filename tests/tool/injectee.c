/* What injecttool loads: a function that shows that it ran, as heavy on the stack and the allocator as a real one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct block {
	uint64_t in, out;
};

int64_t injectee_call(void *arg, uint64_t bytes);

int64_t injectee_call(void *arg, uint64_t bytes)
{
	struct block *b = arg;
	char *room = malloc(4096);
	if (!room || bytes != sizeof(*b))
		return -1;
	memset(room, (int)b->in, 4096);
	b->out = b->in * 2;
	free(room);
	return (int64_t)b->in + 41;
}
