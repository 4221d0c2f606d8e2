#include <cstdio>
#include <stdexcept>
#include <unistd.h>
struct Cache {
    ~Cache() { throw std::logic_error("cache index is inconsistent: 812 entries, 811 files"); }
};
int main()
{
    for (int n = 0; n < 10; n++) {
        printf("iteration %d\n", n);
        fflush(stdout);
        usleep(200000);
    }
    Cache cache;
}
