# the second program of a pipe buffers all its input
echo "script $$" >>"$CORPUS_ROLES"
"$1" -c "import sys, time; sys.path.insert(0, sys.argv[1]); from mem import *; role('reader')
while 1: sys.stdout.write('a' * MIB); time.sleep(0.01)" "$(dirname "$0")" |
    "$1" -c "import sys; sys.path.insert(0, sys.argv[1]); from mem import *; role('packer'); keep = [b for b in iter(lambda: sys.stdin.buffer.read(MIB), b'')]" "$(dirname "$0")"
