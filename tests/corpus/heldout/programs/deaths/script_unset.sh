# set -u and a variable that nobody set
set -eu
echo start
cd "$DATA_ROOT_NOT_SET"
