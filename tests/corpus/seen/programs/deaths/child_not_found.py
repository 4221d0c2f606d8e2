"""A helper program is not installed."""
from job import *

train(0, 5)
subprocess.check_output(["ffprobe-not-installed", "-v", "0", "clip.mp4"])
