#include <iostream>
#include <unistd.h>

struct Kernel {
    Kernel() { prepare(); }
    virtual ~Kernel() = default;
    void prepare() { launch(); }
    virtual void launch() = 0;
};

struct Softmax : Kernel {
    void launch() override { std::cout << "softmax" << std::endl; }
};

int main()
{
    for (int n = 0; n < 8; n++) {
        std::cout << "tuned kernel " << n << std::endl;
        usleep(120000);
    }
    Softmax kernel;
    kernel.launch();
}
