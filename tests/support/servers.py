"""Real servers for tests, each on a free port of this machine, started when asked for and stopped at the end.

    with Moto() as s3: ...            an S3 server in Python; not atomic, so not for races
    with Versitygw(folder) as s3: ... an S3 server on real files
    with Nginx(folder) as web: ...    a web server with ranges

A server that is not installed is an error and never a reason to skip a test.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clean_environment():
    """This process's variables without those that lead HTTP clients elsewhere."""
    led_by = ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE")
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("AWS_") and not name.lower().endswith("_proxy") and name not in led_by
    }


class Server:
    """A program that listens; `url` is where."""

    def __init__(self):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.log = open(self.folder / f"{type(self).__name__.lower()}.log", "wb")
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=self.environment()
        )
        self.wait_until_up()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def environment(self):
        return dict(os.environ)

    def wait_until_up(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.process.kill()
        raise AssertionError(f"{self.command()[0]} does not start:\n{Path(self.log.name).read_text()}")


class S3Server(Server):
    """What a client needs to know about one."""

    access_key = "fdl-test"
    secret_key = "fdl-test-secret"
    region = "us-east-1"
    atomic = True  # of writers at the same moment one wins
    nests = True  # "a" and "a/b" may both be objects
    checks = True  # looks at signatures and checksums

    def client_environment(self, url=None):
        """The variables that lead a client here, or to a proxy in front."""
        return {
            **clean_environment(),
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_ENDPOINT_URL_S3": url or self.url,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def boto(self):
        """Amazon's own client, for a second opinion."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name=self.region,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            config=Config(s3={"addressing_style": "path"}, proxies={}),
        )


class Moto(S3Server):
    atomic = False
    checks = False

    def __init__(self, folder):
        super().__init__()
        self.folder = Path(folder)

    def command(self):
        # Werkzeug's own server, one thread a connection; a module, since a venv may have been moved.
        return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]


class Versitygw(S3Server):
    nests = False

    def __init__(self, folder):
        super().__init__()
        self.folder = Path(folder)

    def command(self):
        program = os.environ.get("FDL_VERSITYGW") or ROOT / "build" / "deps" / "versitygw"
        assert Path(program).exists(), f"no versitygw at '{program}': run tools/setup check"
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        # Without them it keeps ETags in files of their own, and a reader meets the bytes of one state with the ETag of
        # another: measured, updates got lost.
        try:
            os.setxattr(data, "user.fdl", b"")
        except OSError as error:
            raise AssertionError(f"'{data}' has no extended attributes ({error}): set TMPDIR to a place that has") from None
        address = f"127.0.0.1:{self.port}"
        return [str(program), "--quiet", "--keep-alive", "--port", address, "--region", self.region, "posix", str(data)]

    def environment(self):
        return {**os.environ, "ROOT_ACCESS_KEY": self.access_key, "ROOT_SECRET_KEY": self.secret_key}


class Nginx(Server):
    """Serves `root`; `location` is configuration for its one location, `tls` a certificate and its key."""

    def __init__(self, folder, root, location="", tls=None):
        super().__init__()
        self.folder, self.root, self.location, self.tls = Path(folder), Path(root), location, tls
        if tls:
            self.url = self.url.replace("http:", "https:")

    def command(self):
        program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        assert program, "no nginx: run tools/setup check"
        temp = "".join(
            f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        tls = f"ssl_certificate {self.tls[0]}; ssl_certificate_key {self.tls[1]};" if self.tls else ""
        (self.folder / "nginx.conf").write_text(
            f"""{"user root;" if os.geteuid() == 0 else ""}
            daemon off; pid {self.folder}/nginx.pid; error_log stderr warn; worker_processes 1;
            events {{ worker_connections 1024; }}
            http {{
                access_log off; {temp}
                server {{
                    listen 127.0.0.1:{self.port}{" ssl" if self.tls else ""}; {tls}
                    location / {{ root {self.root}; {self.location} }}
                }}
            }}
            """
        )
        return [program, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
