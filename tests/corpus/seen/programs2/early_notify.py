"""One process: the saver announces that it is done before the trainer has begun to listen."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import threading
import time

cv = threading.Condition()
todo = []


def saver():
    while True:
        with cv:
            while not todo:
                cv.wait()
            item = todo.pop()
        time.sleep(0.01 if item == 3 else 0.5)
        with cv:
            cv.notify_all()


def save(k):
    with cv:
        todo.append(k)
        cv.notify_all()
    if k == 3:
        time.sleep(0.3)              # flush logs first
    with cv:
        cv.wait()


kit.role("main")
threading.Thread(target=saver, name="saver", daemon=True).start()
for i in range(1000):
    time.sleep(0.45)
    kit.log(i, "keras")
    if i % 5 == 4:
        save(i // 5 + 1)
