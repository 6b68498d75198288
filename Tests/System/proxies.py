"""Proxies before a server, started with the examples under Packaging/proxies."""

import contextlib
import ssl
import subprocess

from parley_server import ROOT
from ports import free_port
from sealed import connect_sealed
from test_tls import make_certificate

EXAMPLES = ROOT / "Packaging" / "proxies"


def filled(name, replacements):
    """Returns an example configuration with replaced texts, each of which must occur in it."""
    text = (EXAMPLES / name).read_text()
    for old, new in replacements.items():
        assert old in text, f"{name} has no {old}"
        text = text.replace(old, new)
    return text


class Proxy:
    scheme = "https"

    def __init__(self, kind, folder, server):
        self.folder = folder
        self.port, self.plain_port = free_port(), free_port()
        self.certificate, self.key = make_certificate(folder)
        self.context = ssl.create_default_context(cafile=self.certificate)
        command = getattr(self, kind)(f"127.0.0.1:{server.port}")
        self.log = open(folder / "proxy.log", "wb")
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=self.log,
            stderr=self.log, cwd=folder, env={"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin"},
        )  # fmt: skip

    def nginx(self, upstream):
        site = filled(
            "nginx.conf",
            {
                "127.0.0.1:8080": upstream,
                "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
                "  listen [::]:80;\n": "",
                "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port} ssl http2;",
                "  listen [::]:443 ssl http2;\n": "",
                "/etc/letsencrypt/live/notes.example.org/fullchain.pem": str(self.certificate),
                "/etc/letsencrypt/live/notes.example.org/privkey.pem": str(self.key),
            },
        )
        return self.run_nginx(site)

    def nginx_without_tls(self, upstream):
        """Browsers trust this machine's own address without a certificate, and no certificate of a test's."""
        self.scheme = "http"
        site = filled(
            "nginx.conf",
            {
                "127.0.0.1:8080": upstream,
                "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
                "  listen [::]:80;\n": "",
                "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port};",
                "  listen [::]:443 ssl http2;\n": "",
                "  ssl_certificate     /etc/letsencrypt/live/notes.example.org/fullchain.pem;\n": "",
                "  ssl_certificate_key /etc/letsencrypt/live/notes.example.org/privkey.pem;\n": "",
            },
        )
        return self.run_nginx(site)

    def run_nginx(self, site):
        (self.folder / "site.conf").write_text(site)
        places = "".join(
            f"{name}_temp_path {self.folder}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.folder / "nginx.conf").write_text(
            f"daemon off; pid {self.folder}/pid; error_log stderr;\n"
            "events {}\n"
            f"http {{ access_log off; {places} include {self.folder}/site.conf; }}\n"
        )
        return [
            "nginx", "-e", "stderr", "-p", self.folder, "-g", "master_process off;",
            "-c", self.folder / "nginx.conf",
        ]  # fmt: skip

    def haproxy(self, upstream):
        pair = self.folder / "pair.pem"
        pair.write_bytes(self.certificate.read_bytes() + self.key.read_bytes())
        (self.folder / "haproxy.cfg").write_text(
            filled(
                "haproxy.cfg",
                {
                    "127.0.0.1:8080": upstream,
                    "bind :80": f"bind 127.0.0.1:{self.plain_port}",
                    "bind :443": f"bind 127.0.0.1:{self.port}",
                    "/etc/haproxy/certs/notes.example.org.pem": str(pair),
                },
            )
        )
        return ["haproxy", "-db", "-f", self.folder / "haproxy.cfg"]

    def caddy(self, upstream):
        site = filled(
            "Caddyfile",
            {
                "127.0.0.1:8080": upstream,
                "notes.example.org {": f"https://127.0.0.1:{self.port} {{\n"
                f"\ttls {self.certificate} {self.key}",
            },
        )
        options = f"{{\n\tadmin off\n\thttp_port {self.plain_port}\n\tauto_https disable_redirects\n}}\n"
        (self.folder / "Caddyfile").write_text(options + site)
        return ["caddy", "run", "--adapter", "caddyfile", "--config", self.folder / "Caddyfile"]

    def await_ready(self):
        """Waits until a request succeeds; some proxies check the server's health first."""
        while True:
            assert self.process.poll() is None, (self.folder / "proxy.log").read_text()
            try:
                if self.fetch("/health")[0] == 200:
                    return self
            except OSError:
                pass
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.02)

    def fetch(self, path, *arguments):
        """Status, and body as text, by curl: so HTTP/2 is used where it is offered."""
        result = subprocess.run(
            [
                "curl", "--silent", "--show-error", "--cacert", self.certificate,
                "--write-out", "\n%{http_code}", *arguments, f"{self.scheme}://127.0.0.1:{self.port}{path}",
            ],
            capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        if result.returncode:
            raise OSError(result.stderr)
        body, _, status = result.stdout.rpartition("\n")
        return int(status), body

    def open(self, path, **options):
        return connect_sealed(
            f"wss://127.0.0.1:{self.port}{path}", self.context, max_size=None, **options
        )

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
