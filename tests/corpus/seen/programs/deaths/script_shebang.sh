# the interpreter of a script is not there
set -e
d=$(mktemp -d)
printf '#!/opt/conda/envs/gone/bin/python\nprint(1)\n' >$d/train
chmod 755 $d/train
$d/train
