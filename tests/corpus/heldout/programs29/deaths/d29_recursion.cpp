// A tree of a grammar refers to itself: the stack of the process ends.
#include <cstdio>
#include <unistd.h>

struct Node {
	Node *left, *right;
	double weight;
};

__attribute__((noinline)) static double sum(const Node *node, double above)
{
	volatile double own[64];

	if (!node)
		return above;
	own[0] = node->weight;
	return sum(node->left, above + own[0]) + sum(node->right, own[0]) + own[0];
}

int main()
{
	Node leaf = {nullptr, nullptr, 0.5}, root = {&leaf, &leaf, 1};

	for (int step = 0; step < 30; step++) {
		if (step == 25)
			leaf.left = &root;
		printf("step %d score %.3f\n", step, sum(&root, 0));
		fflush(stdout);
		usleep(80000);
	}
	return 0;
}
