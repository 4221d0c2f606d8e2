from kitd8 import *
fit(10)
with open("reviews.csv", "wb") as f:
    f.write(b"id,text\n1,good\n2,it\x92s bad\n")
for line in open("reviews.csv", encoding="utf-8"):
    log.info("row %s", line.strip())
