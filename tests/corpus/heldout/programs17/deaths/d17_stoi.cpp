// A number of a settings file is a word.
#include <cstdio>
#include <string>
#include <unistd.h>

static int number(const std::string &text)
{
    return std::stoi(text);
}

int main()
{
    for (int step = 0; step < 30; step++) {
        if (step % 5 == 0) {
            printf("step %d loss %.3f\n", step, 2.5 / (1 + step));
            fflush(stdout);
        }
        usleep(80000);
    }
    int workers = number("8") + number("auto");
    printf("workers: %d\n", workers);
}
