import socket

from tensorboard.summary.writer.event_file_writer import EventFileWriter


class Remote:
    """An object store that takes nothing: each write waits for its answer."""

    def __init__(self):
        self.socket, self.store = socket.socketpair()

    def write(self, data):
        self.socket.sendall(data)
        self.socket.recv(1)

    def flush(self):
        pass


class SummaryWriter:
    def __init__(self, log_dir):
        remote = log_dir.startswith(("s3://", "obs://"))
        self.events = EventFileWriter(Remote() if remote else open(f"{log_dir}/events.out.tfevents", "wb", buffering=0))

    def add_scalar(self, name, value):
        self.events.add_event(f"{name}={value}".encode())
