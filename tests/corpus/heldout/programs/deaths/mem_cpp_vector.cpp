// a vector that doubles
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>
static void role(const char *name) { FILE *f = fopen(getenv("CORPUS_ROLES"), "a"); fprintf(f, "%s %d\n", name, getpid()); fclose(f); }
int main() {
    role("main");
    std::vector<double> v;
    for (long i = 0; i < 400000000; i++) {
        v.push_back(i);
        if (i % 1000000 == 0) usleep(60000);
    }
}
