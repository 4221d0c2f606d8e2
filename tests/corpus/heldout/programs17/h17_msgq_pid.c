// Two forked ranks ask a service of seeds by a SysV message queue: an answer has the type of the pid in the request.
// From step 40 on rank 1 lets a child write its request, to go on with its own work meanwhile: the request has the
// child's pid, the answer too, and rank 1 waits for one of its own pid. Rank 0 waits for rank 1 in the sum.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST = 1 };

struct message {
    long type;
    int from, value;
};

static void told_role(const char *role, int pid)
{
    const char *path = getenv("CORPUS_ROLES");
    if (!path)
        return;
    FILE *f = fopen(path, "a");
    fprintf(f, "%s %d\n", role, pid);
    fclose(f);
}

static void serve(int queue)
{
    struct message m;
    while (msgrcv(queue, &m, sizeof m - sizeof m.type, REQUEST, 0) >= 0) {
        m.type = m.from;
        m.value = m.value * 7 % 31;
        msgsnd(queue, &m, sizeof m - sizeof m.type, 0);
    }
}

static void ask(int queue, int step)
{
    struct message m = {.type = REQUEST, .from = getpid(), .value = step};
    msgsnd(queue, &m, sizeof m - sizeof m.type, 0);
}

static int take_answer(int queue)
{
    struct message m;
    if (msgrcv(queue, &m, sizeof m - sizeof m.type, getpid(), 0) < 0)
        exit(1);
    return m.value;
}

static void ask_in_background(int queue, int step)
{
    pid_t child = fork();
    if (child == 0) {
        ask(queue, step);
        _exit(0);
    }
    usleep(50000);
    waitpid(child, NULL, 0);
}

static void train(int rank, int queue, int to, int from)
{
    for (int step = 0; step < 400; step++) {
        usleep(200000);
        if (rank == 1 && step >= 40)
            ask_in_background(queue, step);
        else
            ask(queue, step);
        double mine = take_answer(queue), other;
        if (write(to, &mine, sizeof mine) < 0 || read(from, &other, sizeof other) <= 0)
            exit(1);
        if (rank == 0 && step % 5 == 0) {
            printf("step %d loss %.3f\n", step, (mine + other) / (step + 1));
            fflush(stdout);
        }
    }
}

static pid_t child_of(const char *name)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        told_role(name, getpid());
    }
    return pid;
}

int main(void)
{
    int queue = msgget(IPC_PRIVATE, 0600), down[2], up[2];
    if (queue < 0 || pipe(down) || pipe(up))
        return 1;
    told_role("launcher", getpid());
    if (child_of("server") == 0) {
        serve(queue);
        return 0;
    }
    pid_t ranks[2];
    for (int r = 0; r < 2; r++) {
        char name[8], number[4];
        snprintf(name, sizeof name, "rank%d", r);
        snprintf(number, sizeof number, "%d", r);
        setenv("RANK", number, 1);
        ranks[r] = child_of(name);
        if (ranks[r] == 0) {
            close(r ? down[1] : down[0]);
            close(r ? up[0] : up[1]);
            train(r, queue, r ? up[1] : down[1], r ? down[0] : up[0]);
            return 0;
        }
    }
    for (int r = 0; r < 2; r++)
        waitpid(ranks[r], NULL, 0);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
