"""Locks of services that are kept by whoever has returned, gone on or ended, and locks that are only held for long."""
import re
import subprocess
import sys

import pytest

from conftest import wait_for
from hangkit import events

PYTHON = '''
import socket, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
what = sys.argv[1]
if len(sys.argv) == 2:
    service = subprocess.Popen([sys.executable, "-c", SOURCE, what, "serve"], stdout=subprocess.PIPE, text=True)
    port = int(service.stdout.readline())
    def client(first, steps):
        kept = None
        for step in range(steps):
            kept = kept if kept and what != "end" else socket.create_connection(("127.0.0.1", port)).makefile("rw")
            kept.write(f"{first + step}\\n")
            kept.flush()
            kept.readline()
            time.sleep(0.1)
            if first == 0:
                print(f"step {step} loss 0.5", flush=True)
    clients = [threading.Thread(target=client, args=(first, 60)) for first in (0, 1000)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    service.kill()
    sys.exit()
lock = threading.Lock()
far = socket.create_server(("127.0.0.1", 0))
def slow():
    other = far.accept()[0]
    other.recv(1)
    time.sleep(20)
    other.sendall(b"x")
threading.Thread(target=slow, daemon=True).start()
up = socket.create_connection(far.getsockname())
def handle(c):
    f = c.makefile("rw")
    for line in f:
        lock.acquire()
        if line == "20\\n" and what in ("end", "go on", "pool"):
            f.write("unknown\\n")
            f.flush()
            if what == "end":
                c.close()
                return
            continue
        if line == "20\\n" and what == "sleep":
            time.sleep(20)
        if line == "20\\n" and what == "call":
            up.sendall(b"x")
            up.recv(1)
        f.write(line)
        f.flush()
        lock.release()
door = socket.create_server(("127.0.0.1", 0))
print(door.getsockname()[1], flush=True)
pool = ThreadPoolExecutor(6)
while True:
    c = door.accept()[0]
    if what == "pool":
        pool.submit(handle, c)
    else:
        threading.Thread(target=handle, args=(c,), daemon=True).start()
'''

NATIVE = r'''
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int fds[64], head, tail;
static const char *what;

static void answer(int fd)
{
	int k;
	if (read(fd, &k, sizeof(k)) != sizeof(k))
		return;
	if (k == 20 && strcmp(what, "work") == 0)
		sleep(20);
	pthread_mutex_lock(&table);
	if (k == 20 && strcmp(what, "sleep") == 0)
		sleep(20);
	if (write(fd, &k, sizeof(k)) < 0 || (k == 20 && strcmp(what, "keep") == 0))
		return;
	pthread_mutex_unlock(&table);
}

static void *work(void *none)
{
	for (;;) {
		pthread_mutex_lock(&queue);
		while (head == tail)
			pthread_cond_wait(&more, &queue);
		int fd = fds[head++ % 64];
		pthread_mutex_unlock(&queue);
		answer(fd);
		close(fd);
	}
	return none;
}

static void serve(int door)
{
	pthread_t t;
	prctl(PR_SET_PDEATHSIG, 9);
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, work, NULL);
	for (;;) {
		int fd = accept(door, NULL, NULL);
		pthread_mutex_lock(&queue);
		fds[tail++ % 64] = fd;
		pthread_cond_signal(&more);
		pthread_mutex_unlock(&queue);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int door = socket(AF_INET, SOCK_STREAM, 0);
	what = argv[argc - 1];
	if (bind(door, (void *)&a, len) || listen(door, 16) || getsockname(door, (void *)&a, &len))
		return 1;
	if (fork() == 0)
		serve(door);
	close(door);
	for (int step = 0; step < 40; step++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0), k = step;
		if (connect(fd, (void *)&a, sizeof(a)) || write(fd, &k, 4) != 4 || read(fd, &k, 4) != 4)
			return 1;
		close(fd);
		usleep(200000);
		printf("step %d loss 0.5\n", step);
		fflush(stdout);
	}
}
'''


CIRCLE = r'''
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *audit(void *none)
{
	pthread_mutex_lock(&b);
	sleep(1);
	pthread_mutex_lock(&a);
	return none;
}

int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, audit, NULL);
	pthread_mutex_lock(&a);
	sleep(1);
	pthread_mutex_lock(&b);
}
'''
ALARM = '''
import os, signal, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, 9))
signal.alarm(24)
os.waitpid(pid, 0)
'''


@pytest.fixture(scope="session")
def circle(tmp_path_factory):
    """A program of which two threads wait for each other's mutexes."""
    folder = tmp_path_factory.mktemp("circle")
    (folder / "circle.c").write_text(CIRCLE)
    subprocess.run(["cc", "-O1", "-pthread", "-o", folder / "circle", folder / "circle.c"], check=True)
    return str(folder / "circle")


@pytest.fixture(scope="session")
def command(tmp_path_factory):
    """command(LANGUAGE, WHAT): the program's command line."""
    folder = tmp_path_factory.mktemp("locks")

    def make(language, what):
        if language == "python":
            return [sys.executable, "-c", f"SOURCE = {PYTHON!r}\nSOURCE = 'SOURCE = ' + repr(SOURCE) + SOURCE\n{PYTHON}", what]
        if not (folder / "kept").exists():
            (folder / "kept.c").write_text(NATIVE)
            subprocess.run(["cc", "-O1", "-pthread", "-o", folder / "kept", folder / "kept.c"], check=True)
        return [folder / "kept", what]
    return make


@pytest.mark.parametrize("language, what", [("python", "end"), ("python", "go on"), ("python", "pool"), ("c", "keep")])
def test_a_lock_that_nobody_gives_back_is_told(vigil, command, language, what):
    vigil.start("run", "--hang-after", "8s", "--", *command(language, what))
    wait_for(lambda: events(vigil, "hang"), 90, "the verdict")
    told = vigil.why()
    assert (told["cause"]["id"], told["cause"]["confidence"]) == ("lock_not_released", "medium"), told
    assert re.search(r"The others wait for process \d+ \(\w+\S*\), of which thread \d+ waits for a lock", told["cause"]["text"]), told
    assert ("has it, and does nothing with it" in told["cause"]["text"]) == (language == "c"), told


@pytest.mark.parametrize("language, what", [("python", "sleep"), ("python", "call"), ("c", "sleep"), ("c", "work")])
def test_who_has_a_lock_for_long_is_not_accused(vigil, command, language, what):
    result = vigil("run", "--hang-after", "8s", "--", *command(language, what), timeout=90)
    assert result.status == 0, result
    assert not events(vigil, "hang")


LIMITS = {
    "none": ["bash", "-c", "$0; echo on"],
    "timeout": ["bash", "-c", "timeout 24 $0; echo on"],
    "watchdog": ["bash", "-c", "$0 & (sleep 24; kill -9 $!) & wait $!; echo on"],
    "alarm": [sys.executable, "-c", ALARM],
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_helper_in_a_circle_of_locks_that_has_a_limit_ends_no_job(vigil, circle, limit):
    result = vigil("run", "--hang-after", "8s", "--on-hang", "kill", "--on-hang-needs", "proof", "--", *LIMITS[limit], circle, timeout=90)
    assert result.status == (124 if limit == "none" else 0), result
    told = [vigil.why(e["incident"])["cause"] for e in events(vigil, "hang")]
    assert all(cause["id"] == "deadlock" for cause in told), told
    assert [cause["confidence"] == "high" for cause in told] == ([True] if limit == "none" else [False] * len(told)), told
