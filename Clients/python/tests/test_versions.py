"""The Python package with gateways that are newer or older than it is."""

import asyncio

import pytest
from patience import SECONDS
from test_python_client import installed, parley, text_of  # noqa: F401: fixtures
from version_gateway import VersionGateway


@pytest.fixture
def before(server):
    """Makes gateways of other versions before the server."""
    made = []

    def make(kind):
        made.append(VersionGateway(server.port, kind))
        return made[-1]

    yield make
    for gateway in made:
        gateway.close()


@pytest.mark.parametrize("kind", ["newer", "bare"])
def test_a_gateway_of_the_same_protocol_is_written_to(server, parley, before, kind):  # noqa: F811
    id, gateway = server.create_note("Shared"), before(kind)

    async def main():
        async with parley.connect(f"http://127.0.0.1:{gateway.port}", name="Ada") as client:
            note = await client.note(id)
            note.append("understood")
            await asyncio.wait_for(note.saved(), SECONDS)

    asyncio.run(main())
    assert gateway.welcomes == 1 and text_of(server, id) == "understood"


@pytest.mark.parametrize("kind", ["other", "deaf"])
def test_a_gateway_of_another_protocol_is_named_and_edits_wait(server, parley, before, tmp_path, kind):  # noqa: F811
    id, gateway = server.create_note("Kept"), before("same")
    url = f"http://127.0.0.1:{gateway.port}"

    async def write():
        async with parley.connect(url, keep=tmp_path / "state") as client:
            note = await client.note(id)
            # The gateway is replaced while a user writes.
            server.kill()
            await asyncio.wait_for(client.until("waiting"), SECONDS)
            note.append("typed meanwhile")
            gateway.kind = kind
            server.start()
            with pytest.raises(parley.ConnectionEnded) as caught:
                await asyncio.wait_for(note.saved(), SECONDS)
            assert caught.value.reason == "otherVersion"
            assert note.text == "typed meanwhile"

    asyncio.run(write())
    assert text_of(server, id) == ""
    gateway.kind = "same"

    async def come_back():
        async with parley.connect(url, keep=tmp_path / "state") as client:
            await asyncio.wait_for((await client.note(id)).saved(), SECONDS)

    asyncio.run(come_back())
    assert text_of(server, id) == "typed meanwhile"


@pytest.mark.parametrize("kind", ["other", "deaf"])
def test_a_gateway_of_another_protocol_is_named_at_once(server, parley, before, kind):  # noqa: F811
    id, gateway = server.create_note("Never opened"), before(kind)

    async def main():
        async with parley.connect(f"http://127.0.0.1:{gateway.port}") as client:
            with pytest.raises(parley.ConnectionEnded, match="expected a gateway that speaks parley.v1") as caught:
                await asyncio.wait_for(client.note(id), SECONDS)
            assert caught.value.reason == "otherVersion"

    asyncio.run(main())
