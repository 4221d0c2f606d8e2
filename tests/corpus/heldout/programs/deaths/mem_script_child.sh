# the Python under a shell script leaks
echo "script $$" >>"$CORPUS_ROLES"
"$1" -c "import sys; sys.path.insert(0, sys.argv[1]); from mem import *; role('python'); grow(100)" "$(dirname "$0")"
echo never
