# timeout -s INT
echo "timeout $$" >>"$CORPUS_ROLES"
exec timeout -s INT 3 "$1" "$(dirname "$0")/trainer.py"
