#include <stdio.h>
#include <string.h>
#include <unistd.h>

#pragma GCC optimize("stack-protector-all")

static void name_of(const char *text, int size)
{
    char name[16];
    memcpy(name, text, size);
    printf("layer %s\n", name);
}

int main(void)
{
    static char text[64];
    memset(text, 'w', sizeof text - 1);
    for (int n = 0; n < 8; n++) {
        printf("read layer %d\n", n);
        fflush(stdout);
        usleep(120000);
    }
    volatile int size = sizeof text;
    name_of(text, size);
    return 0;
}
