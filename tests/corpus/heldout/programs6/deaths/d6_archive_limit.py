from kitd6 import *
epochs(6)
subprocess.run(["dd", "if=/dev/zero", "of=archive.tar", "bs=64k", "count=200", "status=none"], check=True,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
