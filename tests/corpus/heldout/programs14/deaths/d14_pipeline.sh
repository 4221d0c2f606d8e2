# What a trainer prints goes through tee; it leaves for a key that its configuration does not know.
py="${@: -1}"
set -o pipefail
"$py" -u -c '
import sys, time
for step in range(60):
    if step % 5 == 0:
        print("step", step)
    time.sleep(0.1)
print("config error: unknown key \"lr_sheduler\" in section \"finetune\"", file=sys.stderr)
sys.exit(3)' 2>&1 | tee train.log | sed -u 's/^/[train] /'
