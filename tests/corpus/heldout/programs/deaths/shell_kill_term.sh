# a script ends its trainer with SIGTERM as a flag file appears
echo "script $$" >>"$CORPUS_ROLES"
"$1" "$(dirname "$0")/trainer.py" &
sleep 2.5
touch stop
[ -e stop ] && echo "stop file found, ending the training" && kill $!
wait $!
