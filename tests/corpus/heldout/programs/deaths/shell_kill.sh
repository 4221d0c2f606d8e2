# a script kills its own background trainer and leaves with its status
echo "script $$" >>"$CORPUS_ROLES"
"$1" "$(dirname "$0")/trainer.py" &
sleep 3
kill -KILL $!
wait $!
