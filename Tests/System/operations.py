"""Operations in their JSON form, `[1, "tag", -2]`, over Python's strings of code points.

It is written only from the description of the protocol, so that it checks the server's algebra independently.
"""


def apply(text, operation):
    """Returns the text after the operation, which must cover the whole text."""
    out, position = [], 0
    for part in operation:
        if isinstance(part, str):
            out.append(part)
        elif part < 0:
            position -= part
        else:
            out.append(text[position : position + part])
            position += part
    assert position == len(text), f"covers {position} of {len(text)} code points"
    return "".join(out)


class _Builder:
    def __init__(self):
        self.parts = []

    def add(self, part):
        if part in (0, ""):
            return
        if self.parts:
            last = self.parts[-1]
            if isinstance(part, str) and isinstance(last, str):
                self.parts[-1] += part
                return
            if isinstance(part, int) and isinstance(last, int) and (part > 0) == (last > 0):
                self.parts[-1] += part
                return
        self.parts.append(part)

    def result(self):
        # Never the empty array, which would erase the operation that it is transformed with.
        return self.parts or [0]


class _Reader:
    def __init__(self, operation):
        self.parts = [part for part in operation if part not in (0, "")]
        self.index = 0

    @property
    def head(self):
        return self.parts[self.index] if self.index < len(self.parts) else None

    def take(self, count=None):
        """Removes and returns the head, or its first `count` code points."""
        head = self.parts[self.index]
        if count is None or count == _length(head):
            self.index += 1
            return head
        if isinstance(head, str):
            self.parts[self.index] = head[count:]
            return head[:count]
        sign = 1 if head > 0 else -1
        self.parts[self.index] = head - sign * count
        return sign * count


def _length(part):
    return len(part) if isinstance(part, str) else abs(part)


def compose(first, second):
    """Returns one operation with the effect of both in turn."""
    out, a, b = _Builder(), _Reader(first), _Reader(second)
    while a.head is not None or b.head is not None:
        if isinstance(a.head, int) and a.head < 0:
            out.add(a.take())
        elif isinstance(b.head, str):
            out.add(b.take())
        else:
            count = min(_length(a.head), _length(b.head))
            upper, lower = a.take(count), b.take(count)
            if lower > 0:
                out.add(upper)
            elif not isinstance(upper, str):
                out.add(lower)
    return out.result()


def transform(left, right):
    """Both operations as they follow the other; at one position the left one's insert is first."""
    left_out, right_out = _Builder(), _Builder()
    a, b = _Reader(left), _Reader(right)
    while a.head is not None or b.head is not None:
        if isinstance(a.head, str):
            text = a.take()
            left_out.add(text)
            right_out.add(len(text))
        elif isinstance(b.head, str):
            text = b.take()
            right_out.add(text)
            left_out.add(len(text))
        else:
            count = min(_length(a.head), _length(b.head))
            one, other = a.take(count), b.take(count)
            if one > 0 and other > 0:
                left_out.add(count)
                right_out.add(count)
            elif one < 0 and other > 0:
                left_out.add(-count)
            elif one > 0 and other < 0:
                right_out.add(-count)
    return left_out.result(), right_out.result()


def splice(text, position, deleted, inserted):
    """The operation that replaces `deleted` code points at a position."""
    out = _Builder()
    out.add(position)
    if inserted:
        out.add(inserted)
    out.add(-deleted)
    out.add(len(text) - position - deleted)
    return out.result()
