"""Requests over HTTP, with the token of the client's token function, and the values in their answers."""

from __future__ import annotations

import asyncio
import dataclasses
import http.client
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .errors import NoAnswer, NoteUnavailable, RequestRefused

Value = TypeVar("Value")


class Requests:
    """Requests to one gateway. Each ends within `timeout`."""

    def __init__(
        self, origin: str, token: Callable[[bool], Awaitable[str | None]], timeout: float | None
    ) -> None:  # fmt: skip
        self.origin = origin
        self._token = token
        self._timeout = timeout

    async def ask(self, method: str, path: str, body: Any = None, *, note: str | None = None) -> Any:
        """Returns the answer's JSON. Raises NoteUnavailable for an unknown `note`, RequestRefused and NoAnswer."""
        answer = await self.send(method, path, body, note)
        try:
            return json.loads(answer) if answer else None
        except ValueError:
            raise _foreign(200) from None

    async def send(self, method: str, path: str, body: Any, note: str | None) -> bytes:
        """Returns the answer's bytes; raises as `ask` does."""
        headers = {}
        content: bytes | None = None
        if isinstance(body, bytes):
            content, headers["Content-Type"] = body, "application/octet-stream"
        elif body is not None:
            content = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
            headers["Content-Type"] = "application/json"
        if method == "POST":
            # A request that is sent again for a new token is performed once.
            headers["Idempotency-Key"] = secrets.token_hex(16)
        is_refused = False
        while True:
            token = await self._token(is_refused)
            if token is not None:
                headers["Authorization"] = f"Bearer {token}"
            try:
                work = asyncio.to_thread(self._exchange, method, path, content, headers)
                status, answer = await asyncio.wait_for(work, self._timeout)
            except (OSError, http.client.HTTPException, asyncio.TimeoutError) as error:
                raise NoAnswer(f"the request failed with {type(error).__name__}", False) from error
            if 200 <= status < 300:
                return answer
            # The token may have expired: the token function has a new one.
            if status == 401 and token is not None and not is_refused:
                is_refused = True
                continue
            raise _refusal(status, answer, note)

    def _exchange(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:  # fmt: skip
        parts = urlsplit(self.origin)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.netloc, timeout=self._timeout)
        try:
            connection.request(method, parts.path + path, content, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


def _refusal(status: int, answer: bytes, note: str | None) -> Exception:
    """Returns the error for an answer that is no success."""
    try:
        problem = json.loads(answer)
        code, message = str(problem["code"]), str(problem.get("message", ""))
    except (ValueError, TypeError, KeyError, AttributeError):
        return _foreign(status)
    if code == "unknownDocument" and note is not None:
        return NoteUnavailable(note, code)
    return RequestRefused(code, message)


def _foreign(status: int) -> RequestRefused:
    """Returns the error for an answer of another server, such as a network's sign-in page."""
    return RequestRefused("notParley", f"expected a gateway, got an answer of another server, with status {status}")


def quoted(part: str) -> str:
    """Returns a part of a path."""
    return quote(part, safe="")


def path_with(path: str, **fields: str | int | None) -> str:
    """Returns a path with a query of the fields that are not None."""
    given = {name: value for name, value in fields.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def read(kind: type[Value], data: dict[str, Any]) -> Value:
    """Returns a value from its fields; unknown ones are ignored."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    made = {_snake(name): tuple(each) if isinstance(each, list) else each for name, each in data.items()}
    return kind(**{name: each for name, each in made.items() if name in names})


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name)


def all_of(kind: type[Value], data: Iterable[dict[str, Any]]) -> tuple[Value, ...]:
    """Returns values from their fields."""
    return tuple(read(kind, each) for each in data)
