# timeout -s KILL
echo "timeout $$" >>"$CORPUS_ROLES"
exec timeout -s KILL 3 "$1" "$(dirname "$0")/trainer.py"
