/* A batch has more tokens than the cache has room for; an assert() says so. */
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

struct cache {
	int n_tokens, capacity;
};

static void append(struct cache *cache, int n)
{
	cache->n_tokens += n;
	assert(cache->n_tokens <= cache->capacity);
}

int main(void)
{
	struct cache cache = { 0, 4096 };

	for (int step = 0; step < 1000; step++) {
		append(&cache, 128);
		if (step % 5 == 0) {
			printf("step %d tokens %d\n", step, cache.n_tokens);
			fflush(stdout);
		}
		usleep(80000);
	}
	return 0;
}
