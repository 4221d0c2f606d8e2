// After an epoch the training starts a checkpoint's writer by std::async, gives it the state by a promise and goes on.
// In the newer code of the third epoch nobody keeps the future: it waits in its destructor for the writer, and the
// writer waits for the state, which comes in the next line.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>

static void told_role(const char *role)
{
    if (const char *path = getenv("CORPUS_ROLES")) {
        FILE *f = fopen(path, "a");
        fprintf(f, "%s %d\n", role, (int)getpid());
        fclose(f);
    }
}

static void write_checkpoint(std::future<std::string> state)
{
    std::string bytes = state.get();
    if (FILE *f = fopen("latest.ckpt", "w")) {
        fwrite(bytes.data(), 1, bytes.size(), f);
        fclose(f);
    }
}

static void save(int epoch)
{
    std::promise<std::string> state;
    if (epoch < 2) {
        auto writer = std::async(std::launch::async, write_checkpoint, state.get_future());
        state.set_value(std::string(4096, 'w'));
        writer.get();
    } else {
        (void)std::async(std::launch::async, write_checkpoint, state.get_future());
        state.set_value(std::string(4096, 'w'));
    }
}

int main()
{
    told_role("main");
    for (int step = 0; step < 200; step++) {
        usleep(160000);
        if (step % 5 == 0) {
            printf("step %d loss %.4f\n", step, 2.5 / (1 + 0.1 * step));
            fflush(stdout);
        }
        if (step % 20 == 19)
            save(step / 20);
    }
    puts("training done");
}
