// A tree of a degenerate form is gone down by recursion until the stack is used up.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct node {
    struct node *next;
};

static int depth(const struct node *n) {
    volatile char scratch[2048];
    scratch[0] = 1;
    return n ? depth(n->next) + scratch[0] : 0;
}

int main(void) {
    struct node *top = NULL;
    for (int k = 0; k < 6; k++) {
        printf("boosting round %d\n", k);
        fflush(stdout);
        usleep(200000);
    }
    for (int k = 0; k < 200000; k++) {
        struct node *n = malloc(sizeof *n);
        n->next = top;
        top = n;
    }
    printf("%d\n", depth(top));
    return 0;
}
