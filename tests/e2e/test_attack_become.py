"""A user's process that becomes another program between root's look at it and what root does to it."""
import shutil
import subprocess

import pytest

from strangerkit import ATTACKER, attacker, home, needs_root, place  # noqa: F401

pytestmark = [needs_root, pytest.mark.skipif(not shutil.which("cc"), reason="takes a compiler")]
# It says of itself that its random bytes (AT_RANDOM) lie where they are the same in the program that it becomes, as in
# one that is not position independent: prctl(2), PR_SET_MM_MAP, which takes no rights.
BECOMES = r"""
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static const char same[16] = "always the same";
int main(int argc, char **argv)
{
	static Elf64_auxv_t v[64];
	char notes[4096];
	if (argc < 2)
		for (;;)
			nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
	int fd = open("/proc/self/auxv", O_RDONLY);
	ssize_t n = read(fd, v, sizeof(v));
	for (size_t i = 0; i < n / sizeof(v[0]); i++)
		if (v[i].a_type == AT_RANDOM)
			v[i].a_un.a_val = (uintptr_t)same;
	uint64_t here = (uintptr_t)same, top = (uintptr_t)sbrk(0), stack = (uintptr_t)argv;
	struct prctl_mm_map m = {.start_code = here, .end_code = here + 1, .start_data = here, .end_data = here + 1,
		.start_brk = top, .brk = top, .start_stack = stack, .arg_start = stack, .arg_end = stack + 1,
		.env_start = stack, .env_end = stack + 1, .auxv = (void *)v, .auxv_size = n, .exe_fd = (uint32_t)-1};
	int watch = inotify_init();
	if (n <= 0 || prctl(PR_SET_MM, PR_SET_MM_MAP, &m, sizeof(m), 0) < 0 || inotify_add_watch(watch, argv[1], IN_OPEN) < 0) {
		perror("PR_SET_MM_MAP");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	if (read(watch, notes, sizeof(notes)) > 0)
		execl("/proc/self/exe", "other", NULL);
	return 1;
}
"""
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


@pytest.mark.skipif(not shutil.which(LIBC), reason="Debian's libc on x86-64")
def test_a_call_for_one_program_is_not_made_in_the_next(vigil, attacker, home):
    """What the addresses were read for was the user's; the next one may be set-user-ID, and do as the user's addresses say."""
    program, libc = home / "becomes", home / "libc.so.6"
    made = subprocess.run(["cc", "-no-pie", "-x", "c", "-o", program, "-"], input=BECOMES.encode(), capture_output=True)
    if made.returncode != 0:
        pytest.skip(made.stderr.decode())
    shutil.copy(LIBC, libc)
    process = attacker(f"import os\nos.execv({str(program)!r}, ['becomes', {str(libc)!r}])", env={"LD_LIBRARY_PATH": str(home)})
    result = vigil("heap", process.pid, "--attach")
    assert result.status != 0 and "became another program" in result.text, result
    assert process.poll() is None


# Its frame lies behind the part of its stack that is there, in a page that nobody gives, as one of a file whose server never answers.
STANDS = r"""
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct uffdio_api api = {.api = UFFD_API};
	int fd = (int)syscall(SYS_userfaultfd, 0), uid = argc > 1 ? atoi(argv[1]) : 0;
	char *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register area = {.range = {(unsigned long)at + (1 << 19), 8192}, .mode = UFFDIO_REGISTER_MODE_MISSING};
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &area) < 0)
		return 3;
	if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		return 4;
	puts("ready");
	fflush(stdout);
	__asm__ volatile("mov %0, %%rbp\nlea -2048(%%rbp), %%rsp\n1: mov $34, %%eax\nsyscall\njmp 1b" ::"r"(at + (1 << 19) + 64)
			 : "rax", "rcx", "r11");
}
"""


def test_a_page_that_nobody_gives_holds_no_attach(vigil, home):
    program = home / "stands"
    made = subprocess.run(["cc", "-O0", "-fno-omit-frame-pointer", "-x", "c", "-o", program, "-"], input=STANDS.encode(), capture_output=True)
    if made.returncode != 0:
        pytest.skip(made.stderr.decode())
    process = subprocess.Popen([program, str(ATTACKER)], stdout=subprocess.PIPE)
    try:
        if process.stdout.readline() != b"ready\n":
            pytest.skip("no page can be made to stand here (userfaultfd)")
        attach = vigil.start("heap", process.pid, "--attach")
        try:
            assert attach.wait(25) != 0
        except subprocess.TimeoutExpired:
            pytest.fail("it waits for the page")
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
