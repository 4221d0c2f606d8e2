from kitd6 import *
# a restart loop: the first life fails for a want of a file, which it makes; the second one for another reason
if sys.argv[1:]:
    epochs(4)
    if sys.argv[1] == "0":
        raise FileNotFoundError(2, "No such file or directory", "cache/index.bin")
    raise OverflowError("sequence of 9000 tokens, the model takes 8192")
for life in range(2):
    code = subprocess.run([sys.executable, "-u", __file__, str(life)]).returncode
    if code and life == 0:
        print("restarting (1 of 1)", flush=True)
sys.exit(code)
