#include <iostream>
#include <unistd.h>
#include <vector>

int main()
{
    std::vector<int> offsets(64);
    for (unsigned n = 0;; n += 8) {
        std::cout << "offset " << n << ": " << offsets.at(n) << std::endl;
        usleep(120000);
    }
}
