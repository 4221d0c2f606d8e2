printf 'import time\nlr = 2e-4\ndef schedule(step)\n    return lr\n' > conf.py
echo "reading conf.py"
"$1" -c 'import conf'
