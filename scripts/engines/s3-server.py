"""s3-server.py PORT JOURNAL BUCKET: moto's S3 with one bucket, on a loopback port (0: any; it prints which).

What moto leaves open is closed here:
- One request at a time, so that comparing and writing are one step, as S3 promises.
- CompleteMultipartUpload heeds If-Match.
- Writes that it answered are in JOURNAL, and there again after a restart; multipart uploads are not.
"""

import io
import os
import pickle
import sys
from threading import Lock, Thread

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from moto.s3.models import s3_backends
from werkzeug.serving import make_server
from werkzeug.test import run_wsgi_app

REFUSED = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>PreconditionFailed</Code>'
    b"<Message>At least one of the pre-conditions you specified did not hold</Message></Error>"
)


class Server:
    def __init__(self, journal, bucket):
        self.app = DomainDispatcherApplication(create_backend_app)
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(bucket, "us-east-1")
        self.lock = Lock()
        self.replay(journal)
        self.journal = open(journal, "ab")

    def __call__(self, environ, start_response):
        length = environ.get("CONTENT_LENGTH") or "0"
        body = environ["wsgi.input"].read(int(length))
        with self.lock:
            if self.refuses(environ):
                status, headers, content = "412 Precondition Failed", [("Content-Type", "application/xml")], REFUSED
            else:
                content, status, headers = self.run(environ, body)
                if status.startswith("2"):
                    self.note(environ, body)
        names = {name.lower() for name, _ in headers}
        if "content-length" not in names:
            headers = [*headers, ("Content-Length", str(len(content)))]
        start_response(status, list(headers))
        return [content]

    def run(self, environ, body):
        environ["wsgi.input"] = io.BytesIO(body)
        parts, status, headers = run_wsgi_app(self.app, environ, buffered=True)
        return b"".join(parts), status, headers

    def refuses(self, environ):
        wanted = environ.get("HTTP_IF_MATCH")
        if environ["REQUEST_METHOD"] != "POST" or "uploadId=" not in environ["QUERY_STRING"] or not wanted:
            return False
        bucket, key = environ["PATH_INFO"].lstrip("/").encode("latin-1").decode().split("/", 1)
        held = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].get_object(bucket, key)
        return held is None or held.etag.strip('"') != wanted.strip('"')

    def note(self, environ, body):
        query = environ["QUERY_STRING"]
        if environ["REQUEST_METHOD"] not in ("PUT", "DELETE") or "uploadId=" in query:
            return
        kept = {name: value for name, value in environ.items() if isinstance(value, str)}
        pickle.dump((kept, body), self.journal)
        self.journal.flush()

    def replay(self, journal):
        if not os.path.exists(journal):
            return
        whole = 0
        with open(journal, "rb") as noted:
            while True:
                try:
                    kept, body = pickle.load(noted)
                except (EOFError, pickle.UnpicklingError):
                    break  # the last one may be cut: it was not answered
                whole = noted.tell()
                self.run({**kept, "wsgi.errors": sys.stderr, "wsgi.url_scheme": "http"}, body)
        os.truncate(journal, whole)


class Handler(MotoRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True

    def log_request(self, *args):
        pass


def end_with_starter():
    sys.stdin.read()
    os._exit(0)


def main(port, journal, bucket):
    server = make_server("127.0.0.1", int(port), Server(journal, bucket), threaded=True, request_handler=Handler)
    Thread(target=end_with_starter, daemon=True).start()
    print(f"port {server.server_port}", flush=True)
    server.serve_forever()


main(*sys.argv[1:])
