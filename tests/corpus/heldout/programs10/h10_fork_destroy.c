// A pool's thread waits for work. main forks an exporter, which has no such thread and tears the pool down as it ends: to destroy a condition, the C
// library waits until nobody waits for it.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

static void role(const char *name, int pid) {
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, pid);
        fclose(f);
    }
}

static void *pool(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&work, &lock);
}

static void tear_down(void) {
    pthread_cond_destroy(&work);
}

int main(void) {
    pthread_t t;
    int status;
    role("main", getpid());
    pthread_create(&t, NULL, pool, NULL);
    for (int k = 0; k < 12; k++) {
        usleep(200000);
        printf("iteration %d\n", k);
        fflush(stdout);
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        atexit(tear_down);
        printf("exported to model.onnx\n");
        exit(0);
    }
    role("exporter", pid);
    waitpid(pid, &status, 0);
    printf("export: %d\n", status);
    _exit(0);
}
