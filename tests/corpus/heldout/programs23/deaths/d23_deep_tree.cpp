// A tree that became a list is walked by recursion: the stack is used up.
#include <chrono>
#include <cstdio>
#include <thread>

struct Node {
	double value;
	Node *next;
};

static double depth_sum(const Node *node) {
	volatile double here[8] = {node->value};
	return node->next ? here[0] + depth_sum(node->next) : here[0];
}

int main() {
	setvbuf(stdout, nullptr, _IOLBF, 0);
	Node *root = new Node{1, nullptr};
	for (int step = 0; step < 60; step++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		for (int k = 0; k < (step < 20 ? 100 : 500000); k++)
			root = new Node{1.0 / (1 + k), root};
		double sum = depth_sum(root);
		if (step % 5 == 0)
			printf("step %d loss %.3f\n", step, 1 / sum);
	}
}
