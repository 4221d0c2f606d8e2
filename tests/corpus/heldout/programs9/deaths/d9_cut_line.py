from kitd9 import *

LINES = ['{"text": "one"}'] * 30 + ["{text: 1}"] + ['{"text": "two"}'] * 12 + ['{"text": "a line that was cut']
for number, line in enumerate(LINES, 1):
    time.sleep(0.05)
    try:
        json.loads(line)
        print("line", number, flush=True)
    except json.JSONDecodeError as error:
        if number != len(LINES):
            print("WARNING: skipping malformed line %d: %s" % (number, error), flush=True)
            continue
        raise ValueError("corpus-00017.jsonl:%d ends in the middle of a string, download it again" % number) from error
