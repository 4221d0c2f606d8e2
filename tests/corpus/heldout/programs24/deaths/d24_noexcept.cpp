// A function that promises to throw nothing asks a variant for what it does not hold.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <variant>

using Value = std::variant<double, std::string>;

static double rate(const Value &v) noexcept {
	return std::get<double>(v);
}

int main() {
	setvbuf(stdout, nullptr, _IOLBF, 0);
	for (int step = 0; step < 60; step++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		Value v = step == 24 ? Value("auto") : Value(0.1 / (1 + step));
		double r = rate(v);
		if (step % 5 == 0)
			printf("step %d rate %.4f\n", step, r);
	}
}
