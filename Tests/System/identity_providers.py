"""An identity provider (OpenID Connect) that can send wrong data, and the part of a browser."""

import base64
import hashlib
import http.client
import http.server
import json
import threading
import time
import urllib.parse

from joserfc import jwk, jwt
from patience import SECONDS

CLIENT = "parley"
SECRET = "a secret of the client's, with: signs"
HANG = "hang"


class LyingProvider:
    """A provider with valid answers, except for the fields in `lies`.

    - `lies["claims"]`, `["header"]`, `["tokens"]`, `["userinfo"]`, `["description"]`: fields that replace
      the valid ones; `None` omits a field.
    - `lies["denies"]`: users deny the sign-in.
    - `lies["status"]`: the status of each answer at a path, or HANG.
    """

    def __init__(self):
        self.lies = {}
        self.keys = [self.new_key("first")]
        self.codes = {}
        self.asked = []
        self.arrived = threading.Semaphore(0)
        self.released = threading.Event()
        self.user = {"sub": "u-1", "name": "Ada L.", "groups": ["writers"]}
        self.userinfo = {}
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(b"")

            def do_POST(self):
                self.answer(self.rfile.read(int(self.headers["Content-Length"])))

            def answer(self, body):
                provider.asked.append(self.path)
                provider.arrived.release()
                told = provider.lies.get("status", {}).get(self.path)
                if told == HANG:
                    provider.released.wait()
                    return
                status, data = (told, {}) if told else provider.handle(self.path, self.headers, body)
                if status == 303:
                    self.send_response(status)
                    self.send_header("Location", data)
                    self.end_headers()
                    return
                text = data if isinstance(data, bytes) else json.dumps(data).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def new_key(name):
        return jwk.ECKey.generate_key("P-256", {"kid": name, "use": "sig"})

    def change_keys(self, name):
        self.keys = [self.new_key(name)]

    # Answers.

    def handle(self, path, headers, body):
        if path == "/.well-known/openid-configuration":
            return 200, self.told("description", {
                "issuer": self.issuer, "authorization_endpoint": self.issuer + "/authorize?tenant=1",
                "token_endpoint": self.issuer + "/token", "jwks_uri": self.issuer + "/keys",
                "userinfo_endpoint": self.issuer + "/userinfo",
            })  # fmt: skip
        if path == "/keys":
            return 200, self.lies.get("keys", {"keys": [key.as_dict(private=False) for key in self.keys]})
        if path == "/userinfo":
            assert headers["Authorization"] == "Bearer opaque"
            return 200, self.told("userinfo", {"sub": self.user["sub"], **self.userinfo})
        if path.startswith("/authorize"):
            # The user is signed in at the provider, or cancels.
            back = self.authorise(self.issuer + path)
            return 303, back.replace("code=", "error=access_denied&was=") if self.lies.get("denies") else back
        assert path == "/token"
        return self.give_tokens(headers, dict(urllib.parse.parse_qsl(body.decode())))

    def told(self, name, fields):
        changed = {**fields, **self.lies.get(name, {})}
        return {name: value for name, value in changed.items() if value is not None}

    def give_tokens(self, headers, form):
        pair = ":".join(urllib.parse.quote(part, safe="") for part in (CLIENT, SECRET))
        if headers["Authorization"] != "Basic " + base64.b64encode(pair.encode()).decode():
            return 401, {"error": "invalid_client"}
        request = self.codes.pop(form["code"], None)
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if (
            request is None
            or form["grant_type"] != "authorization_code"
            or form["redirect_uri"] != request["redirect_uri"]
            or proof.rstrip(b"=").decode() != request["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        return 200, self.told("tokens", {
            "token_type": "Bearer", "access_token": "opaque", "id_token": self.id_token(request["nonce"]),
        })  # fmt: skip

    def id_token(self, nonce):
        now = int(time.time())
        claims = self.told("claims", {
            "iss": self.issuer, "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": nonce, **self.user,
        })  # fmt: skip
        key = self.keys[0]
        header = self.told("header", {"alg": "ES256", "kid": key.kid})
        if header["alg"] == "ES256":
            return jwt.encode(header, claims, key)
        if header["alg"] == "HS256":
            # Use the public key as the secret.
            public = json.dumps(key.as_dict(private=False)).encode()
            return jwt.encode(header, claims, jwk.OctKey.import_key(public), algorithms=["HS256"])
        parts = [json.dumps(part).encode() for part in (header, claims)]
        return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."

    # The provider's page.

    def authorise(self, address, code=None):
        """Returns the address to which the browser is redirected."""
        parts = urllib.parse.urlsplit(address)
        request = dict(urllib.parse.parse_qsl(parts.query))
        assert f"{parts.scheme}://{parts.netloc}" == self.issuer and request["tenant"] == "1"
        assert request["response_type"] == "code" and request["client_id"] == CLIENT
        assert request["code_challenge_method"] == "S256" and "openid" in request["scope"].split()
        code = code or f"code-{len(self.asked)}-{len(self.codes)}"
        self.codes[code] = request
        fields = {"code": code, "state": request["state"]}
        return request["redirect_uri"] + "?" + urllib.parse.urlencode(fields)


class Visitor:
    """A browser at the server. It stores cookies, and does not follow redirects."""

    def __init__(self, server):
        self.server = server
        self.cookies = {}
        self.set = []

    def ask(self, method, path, headers=None):
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=SECONDS)
        connection.request(method, path, headers={**({"Cookie": cookies} if cookies else {}), **(headers or {})})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        for line in response.headers.get_all("set-cookie") or []:
            self.set.append(line)
            name, value = line.split(";")[0].split("=", 1)
            self.cookies[name] = value
            if "max-age=0" in line.lower():
                del self.cookies[name]
        return response, body

    def go(self, path):
        """Returns the address to which the server redirects a request."""
        response, _ = self.ask("GET", path)
        assert response.status == 303, (response.status, path)
        assert response.headers["cache-control"] == "no-store"
        return response.headers["location"]

    def begin(self):
        return self.go("/api/user/provider")

    def come_back(self, address):
        parts = urllib.parse.urlsplit(address)
        return self.go(f"{parts.path}?{parts.query}")

    def take(self, **headers):
        response, body = self.ask("POST", "/api/user/provider", headers)
        return response.status, json.loads(body)

    def sign_in(self, provider):
        """Signs in, and returns the tokens."""
        place = self.come_back(provider.authorise(self.begin()))
        assert place.endswith("/#signed-in"), place
        status, answer = self.take()
        assert (status, answer["code"]) == (200, 1000), answer
        return answer["data"]["tokens"]
