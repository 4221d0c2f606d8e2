"""Writes each event at once: what waits is the caller."""


class EventFileWriter:
    def __init__(self, file):
        self.file = file

    def add_event(self, event):
        self.file.write(event)
        self.file.flush()
