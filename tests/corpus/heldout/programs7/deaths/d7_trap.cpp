#include <iostream>
#include <unistd.h>

int main()
{
    for (int n = 0; n < 8; n++) {
        std::cout << "quantized block " << n << std::endl;
        usleep(120000);
    }
    __builtin_trap();
}
