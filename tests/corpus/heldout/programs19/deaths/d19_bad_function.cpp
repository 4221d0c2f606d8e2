// A trainer calls what was set for the end of an epoch; nothing was set.
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>

struct Trainer {
	std::function<void(int)> step_done, epoch_done;

	void run()
	{
		for (int step = 0; step < 60; step++) {
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
			step_done(step);
			if (step == 35)
				epoch_done(0);
		}
	}
};

int main()
{
	Trainer trainer;
	trainer.step_done = [](int step) {
		if (step % 5 == 0) {
			printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
			fflush(stdout);
		}
	};
	trainer.run();
}
