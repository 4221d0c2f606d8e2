"""A job that sleeps until its window opens."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import datetime
import time


def until(t):
    while datetime.datetime.now() < t:
        time.sleep(max(0.1, (t - datetime.datetime.now()).total_seconds()))


def main():
    kit.role("main")
    for i in range(15):
        kit.work(0.3)
        kit.step(i)
    until(datetime.datetime.now() + datetime.timedelta(seconds=60))
    for i in range(15, 20):
        kit.work(0.2)
        kit.step(i)


main()
