# A script starts a service of features and takes its port from what that prints. The service goes on in the
# background and has the pipe of $( ) as its output all the time.
py="${@: -1}"
here="$(dirname "$0")"
[ -n "$CORPUS_ROLES" ] && echo "main $$" >>"$CORPUS_ROLES"
for step in $(seq 0 5 55); do
    sleep 0.8
    echo "step $step features written"
done
echo "starting the feature service"
port="$("$py" "$here/h14_subst.py" start)"
echo "feature service at $port"
echo "done"
