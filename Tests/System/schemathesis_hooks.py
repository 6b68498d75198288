"""What a JSON Schema cannot say of the requests that the server takes."""

import schemathesis


def written_whole(value):
    """Whole numbers are written without a fraction, as Documentation/Protocol.md says."""
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
