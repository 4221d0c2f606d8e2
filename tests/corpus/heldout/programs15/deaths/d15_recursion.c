/* A tree of a dataset has a circle, and the function that walks it calls itself until the stack is used up. */
#include <stdio.h>
#include <unistd.h>

struct node {
    struct node *next;
    char name[200];
};

static int depth(const struct node *n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/", n->name);
    return n->next ? depth(n->next) + path[0] : 0;
}

int main(void)
{
    struct node a = {0, "train"}, b = {&a, "val"};
    int sum = 0;
    for (int step = 0; step < 100; step++) {
        if (step % 5 == 0) {
            printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
        usleep(100000);
        if (step == 70)
            a.next = &b;
        sum += depth(&b);
    }
    return sum == 0;
}
