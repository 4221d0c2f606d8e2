/* A tree of parse nodes that has a loop: recursion without an end. */
#include <stdio.h>
#include <unistd.h>

struct node { struct node *left, *right; int value; };

static int depth(const struct node *n)
{
	char text[512];
	snprintf(text, sizeof text, "%d", n->value);
	return 1 + depth(n->left) + text[0];
}

int main(void)
{
	struct node a = {0}, b = {0};
	a.left = &b, b.left = &a;
	for (int s = 0; s < 10; s++)
		printf("tree %d\n", s), fflush(stdout), usleep(100000);
	return depth(&a);
}
