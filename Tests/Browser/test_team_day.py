"""A team's day with the real program; every view is checked in both themes."""

import pytest
from conftest import barriers
from team_day import Day  # First: it makes the modules of Tests/System importable.
from identity_providers import LyingProvider
from ports import free_port
from touching import small_targets


@pytest.fixture
def provider():
    running = LyingProvider()
    yield running
    running.stop()


@pytest.mark.long
def test_a_teams_day(browser, tmp_path, provider):
    seen = []

    def look(person, name):
        seen.append(name)
        chosen = person.page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
        for scheme in ("light", "dark"):
            person.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert barriers(person.page) == [], f"{name}, {scheme}"
            person.picture(f"day-{name}-{scheme}")
        person.page.emulate_media(color_scheme="dark" if chosen else "light", reduced_motion="no-preference")
        if name.startswith("phone"):
            assert small_targets(person.page) == [], name
        assert person.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), name

    day = Day(browser, tmp_path, provider, free_port(), look)
    try:
        day.run()
    finally:
        if not seen or len(seen) < 16:
            for one in day.people:
                one.picture(f"failed-day-{one.name}")
        day.close()
    assert len(seen) == len(set(seen)) >= 16
