"""Rules for valid requests that JSON Schema cannot express."""

import schemathesis


def written_whole(value):
    """Writes whole numbers without a fraction, as Documentation/Protocol.md requires."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [written_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: written_whole(item) for key, item in value.items()}
    return value


@schemathesis.hook
def map_body(context, body):
    return written_whole(body)
