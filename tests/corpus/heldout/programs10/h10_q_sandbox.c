// Code that was made by a model runs in a sandbox: the kernel asks its supervisor about every openat. One question is looked at by a person, who
// answers after a minute.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void role(const char *name, int pid) {
    FILE *f = getenv("CORPUS_ROLES") ? fopen(getenv("CORPUS_ROLES"), "a") : NULL;
    if (f) {
        fprintf(f, "%s %d\n", name, pid);
        fclose(f);
    }
}

static int filter(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void give(int to, int fd) {
    char byte = 'f', space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    if (sendmsg(to, &m, 0) != 1)
        exit(1);
}

static int take(int from) {
    char byte, space[CMSG_SPACE(sizeof(int))];
    int fd = -1;
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(from, &m, 0) == 1)
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

static void sandboxed(int link, int report) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int listener = filter();
    if (listener < 0)
        exit(3);
    give(link, listener);
    close(listener);
    for (int k = 0; k < 40; k++) {
        int fd = open("/etc/hostname", O_RDONLY);
        if (fd >= 0)
            close(fd);
        usleep(100000);
        if (k % 4 == 3 && write(report, "tests passed\n", 13) != 13)
            exit(1);
    }
    exit(0);
}

static void answer(int listener) {
    struct seccomp_notif question;
    struct seccomp_notif_resp reply;
    memset(&question, 0, sizeof question);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
        exit(4);
    memset(&reply, 0, sizeof reply);
    reply.id = question.id;
    reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
}

int main(void) {
    int pair[2], report[2];
    char line[64];
    role("main", getpid());
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(report))
        return 1;
    pid_t pid = fork();
    if (pid == 0)
        sandboxed(pair[1], report[1]);
    role("sandbox", pid);
    close(report[1]);
    int listener = take(pair[0]);
    if (listener < 0)
        return 3;
    for (int k = 0; k < 10; k++) {
        for (int q = 0; q < 4; q++) {
            if (k == 5 && q == 1)
                sleep(59);
            answer(listener);
        }
        if (read(report[0], line, sizeof line) <= 0)
            return 5;
        printf("reward %d: 1.0\n", k);
        fflush(stdout);
    }
    return 0;
}
