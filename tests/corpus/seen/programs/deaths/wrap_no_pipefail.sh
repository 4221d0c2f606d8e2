# without pipefail tee's status counts: the job ended well as far as anybody can tell
"$1" -c "import time; [print('step', i, flush=True) or time.sleep(0.02) for i in range(40)]; raise ValueError('too many dimensions: 5')" 2>&1 | tee train.log
