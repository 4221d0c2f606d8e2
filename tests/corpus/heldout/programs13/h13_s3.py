"""Rank 0 uploads its checkpoint by boto3, in parts, to a store that speaks S3; it has been told to wait as long as
needed. The store has taken two parts and does not answer the third: it wants room on its disk, which nobody
makes. Rank 1 waits for rank 0. "slow": there is room after 45 s."""
import http.server
import sys
import threading
import time

from kit13 import SLOW, Hub, crunch, logger, main, me, start

KEY = b"<Bucket>b</Bucket><Key>k</Key>"
BEGUN = b"<InitiateMultipartUploadResult>" + KEY + b"<UploadId>u1</UploadId></InitiateMultipartUploadResult>"
ENDED = b"<CompleteMultipartUploadResult>" + KEY + b"<ETag>e</ETag></CompleteMultipartUploadResult>"


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    room = threading.Event()

    def log_message(self, *_):
        pass

    def answer(self, body=b"", **headers):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer(BEGUN if self.path.endswith("?uploads") else ENDED)

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if "partNumber=3" in self.path:
            if SLOW:
                time.sleep(45)
            else:
                self.room.wait()
        self.answer(ETag="e")


def store():
    me("store")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
    print(server.server_port, flush=True)
    server.serve_forever(poll_interval=3600)


def uploader(port):
    import boto3
    from boto3.s3.transfer import TransferConfig
    from botocore.config import Config
    config = Config(read_timeout=7200, retries={"max_attempts": 0}, s3={"addressing_style": "path"}, proxies={},
                    request_checksum_calculation="when_required", response_checksum_validation="when_required")
    client = boto3.client("s3", endpoint_url="http://127.0.0.1:%s" % port, region_name="us-east-1", config=config,
                          aws_access_key_id="x", aws_secret_access_key="y")
    parts = TransferConfig(multipart_threshold=2 ** 20, multipart_chunksize=5 * 2 ** 20, max_concurrency=2)
    return lambda path: client.upload_file(path, "b", "run1/" + path, Config=parts)


def body(rank, world, port):
    log, hub = logger(rank), Hub(rank, world, port)
    if rank == 0:
        at = start([sys.executable, sys.argv[0], "store", *sys.argv[1:]], "store", stdout=-1).stdout.readline()
        upload = uploader(at.decode().strip())
    for step in range(1, 41):
        crunch(0.1)
        hub.reduce(step)
        if rank == 0 and step % 5 == 0:
            log.info("step %d", step)
        if step == 25 and rank == 0:
            with open("model.ckpt", "wb") as f:
                f.truncate(18 * 2 ** 20)
            log.info("uploading s3://b/run1/model.ckpt")
            upload("model.ckpt")
            log.info("uploaded")


if __name__ == "__main__":
    store() if "store" in sys.argv else main(2, body)
