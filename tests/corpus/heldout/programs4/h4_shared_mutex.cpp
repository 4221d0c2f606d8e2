// Counters in shared memory under a process-shared mutex; a process ends itself in the middle.
#include "note.h"
#include <iostream>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>

struct Shared {
    pthread_mutex_t mutex;
    long rows;
};

static void read_rows(Shared *s, int k)
{
    with_parent();
    note(("reader" + std::to_string(k)).c_str());
    for (int i = 0; i < 1000; i++) {
        step_of(100);
        pthread_mutex_lock(&s->mutex);
        s->rows += 64;
        if (k == 2 && i == 12) {
            std::cerr << "reader 2: corrupt record, giving up\n";
            _exit(0);
        }
        pthread_mutex_unlock(&s->mutex);
        if (k == 0)
            std::cout << "rows read: " << s->rows << std::endl;
    }
    _exit(0);
}

int main()
{
    auto *s = static_cast<Shared *>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pthread_mutexattr_t a;
    note("main");
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->mutex, &a);
    for (int k = 0; k < 4; k++)
        if (fork() == 0)
            read_rows(s, k);
    while (wait(nullptr) > 0)
        ;
}
