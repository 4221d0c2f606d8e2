# Python from a here document
"$1" - <<EOP
import time
time.sleep(0.5)
raise KeyError("seq_len")
EOP
