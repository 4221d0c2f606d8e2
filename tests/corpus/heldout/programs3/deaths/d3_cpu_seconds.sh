ulimit -t 2
cat > fit.py <<'X'
print("fitting", flush=True)
while True:
    sum(range(10000))
X
"$1" fit.py
exit $?
