#!/bin/bash
# set -o pipefail: the second stage of a preparation cannot find its column.
set -eo pipefail
[ -n "$CORPUS_ROLES" ] && echo "main $$" >> "$CORPUS_ROLES"
for k in $(seq 0 5 40); do sleep 0.3; echo "step $k loss 0.5"; done
printf 'text,label\na,1\n' | "$1" -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["lang"])' | sort > langs.txt
echo "prepared"
