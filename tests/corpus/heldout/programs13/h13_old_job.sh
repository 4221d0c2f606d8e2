# A loader of the job before has been left over, with the lock of the data; then the job is started anew.
py="${@: -1}"
here="$(dirname "$0")"
[ -n "$CORPUS_ROLES" ] && echo "launcher $$" >> "$CORPUS_ROLES"
( setsid "$py" "$here/h13_old_job.py" loader "$1" > /dev/null 2>&1 & )
until [ -e locked ]; do sleep 0.2; done
exec "$py" "$here/h13_old_job.py" $([ "$1" = slow ] && echo slow)
