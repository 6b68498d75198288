"""The scripts that run the tests, and their counts."""

import sys

import pytest
from parley_server import ROOT

sys.path.insert(0, str(ROOT / "Scripts"))

import run_tests  # noqa: E402

CONCLUSION = "{sign} Test run with 3 tests in 1 suite {verdict} after 0.5 seconds{more}."


@pytest.mark.parametrize(
    "lines, verdict, counts",
    [
        (['✔ Test "a reader that is skipped continues" passed after 0.001 seconds.'], "passed", (3, 0, 0)),
        (['◇ Test "a reader that is skipped" started.'], "passed", (3, 0, 0)),
        (['✔ Test "what failed after 3 seconds is tried" passed after 0.1 seconds.'], "passed",
         (3, 0, 0)),
        (['➜ Test "on another machine" skipped: "needs 8 \\"cores\\""'], "passed", (2, 0, 1)),
        (["➜ Test allocations() skipped."], "passed", (2, 0, 1)),
        (['✘ Test "what is skipped" failed after 0.001 seconds with 1 issue.'], "failed",
         (2, 1, 0)),
        (["✘ Test ties(left:) with 4 test cases failed after 0.2 seconds with 2 issues."],
         "failed", (2, 1, 0)),
        (["✘ Suite LawTests failed after 0.2 seconds with 2 issues."], "failed", (3, 0, 0)),
    ],
)  # fmt: skip
def test_swift_tests_are_counted_by_how_their_lines_end(lines, verdict, counts):
    more = " with 1 issue" if verdict == "failed" else ""
    conclusion = CONCLUSION.format(sign="✔", verdict=verdict, more=more)
    said = run_tests.read_swift([*lines, conclusion])
    assert said.concluded
    assert (said.passed, said.failed, said.skipped) == counts
