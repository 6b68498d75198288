"""A web site of another origin than the server, for tests of apps that use the SDK."""

import http.server
import mimetypes
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = {
    "/codemirror/": ROOT / "Web" / "vendor" / "codemirror",
    "/prosemirror/": ROOT / "Web" / "vendor" / "prosemirror",
    "/monaco/": ROOT / ".venv" / "browser" / "monaco" / "monaco-editor" / "min",
}


class Site(http.server.ThreadingHTTPServer):
    """A web site with another origin, and pages by name."""

    daemon_threads = True

    def __init__(self, policy=None):
        self.pages = {}
        self.policy = policy
        super().__init__(("127.0.0.1", 0), Pages)
        self.url = f"http://localhost:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def add(self, name, page, /, **values):
        """Adds a page, and returns its address."""
        self.pages[f"/{name}"] = page.format(**values).encode()
        return f"{self.url}/{name}"


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        page = self.server.pages.get(self.path)
        kind = "text/html"
        for prefix, folder in FOLDERS.items():
            if self.path.startswith(prefix):
                page = (folder / self.path.removeprefix(prefix)).read_bytes()
                kind = mimetypes.guess_type(self.path)[0] or "application/octet-stream"
        self.send_response(200 if page else 404)
        self.send_header("content-type", f"{kind}; charset=utf-8")
        if self.server.policy:
            self.send_header("content-security-policy", self.server.policy)
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, *_):
        pass
