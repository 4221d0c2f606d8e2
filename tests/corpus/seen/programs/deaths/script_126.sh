# a script calls a file without the right to execute
set -e
d=$(mktemp -d)
echo 'echo hi' >$d/prepare.sh
chmod 644 $d/prepare.sh
$d/prepare.sh
