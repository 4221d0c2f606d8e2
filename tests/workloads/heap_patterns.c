/* 64 MiB of small blocks, 32 MiB of large ones, half of them touched, and as much again that is given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile sink;

__attribute__((noinline)) void *small_blocks(void)
{
	void *last = NULL;
	for (int i = 0; i < 65536; i++) {
		void **block = malloc(1024);
		*block = last;
		last = block;
	}
	return last;
}

__attribute__((noinline)) void *large_untouched(void)
{
	return malloc(32u << 20);
}

__attribute__((noinline)) void *given_back(void)
{
	void *block = NULL;
	for (int i = 0; i < 64; i++) {
		block = malloc(1u << 20);
		memset(block, 1, 1u << 20);
		sink = block;
		free(block);
	}
	return block;
}

int main(void)
{
	void *keep[2] = {small_blocks(), large_untouched()};
	sink = keep;
	given_back();
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
