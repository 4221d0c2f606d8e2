"""A user's process that becomes another program between root's look at it and what root does to it."""
import shutil
import subprocess

import pytest

from strangerkit import attacker, home, needs_root, place  # noqa: F401

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
