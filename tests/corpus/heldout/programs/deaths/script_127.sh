# a script calls a command that is not there
echo preparing
set -e
torchrun_not_here --nproc 8 train.py
