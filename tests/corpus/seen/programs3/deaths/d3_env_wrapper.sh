cat > train.py <<'X'
import time
print("loading", flush=True); time.sleep(0.5)
import flash_attn_9
X
"$1" train.py || { c=$?; echo "ERROR conda.cli.main_run:execute(49): \`conda run python train.py\` failed. (See above for error)" >&2; exit $c; }
