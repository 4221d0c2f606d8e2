/* Sorts large arrays for 64 s without a word, between two lists that it prints. */
#include "../programs4/note.h"
#include <stdint.h>

static uint32_t key[1 << 22];

static int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void print(const char *what)
{
    for (int n = 0; n < 15; n++) {
        step_of(120);
        printf("%s %d %u\n", what, n, key[n]);
        fflush(stdout);
    }
}

int main(void)
{
    uint32_t seed = 12345;
    time_t end;

    note("main");
    print("read");
    for (end = time(NULL) + 64; time(NULL) < end;) {
        for (size_t k = 0; k < sizeof(key) / sizeof(*key); k++)
            key[k] = seed = seed * 1664525 + 1013904223;
        qsort(key, sizeof(key) / sizeof(*key), sizeof(*key), by_key);
    }
    print("sorted");
}
