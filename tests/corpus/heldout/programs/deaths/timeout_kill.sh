# timeout -k: SIGTERM is ignored, SIGKILL follows
echo "timeout $$" >>"$CORPUS_ROLES"
exec timeout -k 1 3 "$1" "$(dirname "$0")/trainer.py" 60 deaf
