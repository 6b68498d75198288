"""The examples of messages, read by the parser of Python's `email`."""

import json
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "MailExamples"
EXAMPLES: list[dict[str, Any]] = json.loads((FOLDER / "examples.json").read_text("utf-8"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["file"] for example in EXAMPLES])
def test_another_parser_reads_the_values_back(example: dict[str, Any]) -> None:
    raw = (FOLDER / example["file"]).read_bytes()
    assert raw.isascii() and b"\n" not in raw.replace(b"\r\n", b"")
    assert all(len(line) <= 998 for line in raw.split(b"\r\n"))
    message = message_from_bytes(raw, policy=SMTP)
    assert isinstance(message, EmailMessage)
    assert not message.defects
    (sender,) = message["from"].addresses
    (recipient,) = message["to"].addresses
    name, _, address = example["from"].rpartition(" ")
    assert sender.addr_spec == address.strip("<>")
    assert sender.display_name == (name[1:-1] if name.startswith('"') else name)
    assert recipient.addr_spec == example["to"]
    # Python 3.11 adds a blank where a name is continued on the next line.
    assert recipient.display_name.split() == example.get("toName", "").split()
    assert message["subject"] == example["subject"]
    assert message["message-id"] == f"<{example['id']}@example.org>"
    assert message["date"].datetime == datetime.fromtimestamp(example["milliseconds"] // 1000, UTC)
    assert message.get_all("bcc") is None
    assert message["content-language"] == example.get("language")
    assert len(message.keys()) == len({key.lower() for key in message.keys()})
    for key, value in example["headers"]:
        assert message[key] == value
    parts = [part for part in message.walk() if not part.is_multipart()]
    bodies = {part.get_content_type(): part.get_content().replace("\r\n", "\n") for part in parts}
    assert bodies.pop("text/plain") == example["text"]
    assert bodies == ({"text/html": example["html"]} if "html" in example else {})
