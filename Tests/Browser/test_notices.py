"""Notices: a mention reaches the person's other devices, opens the comment, and is read on all of them at once."""

from conftest import PHONE, barriers, token
from playwright.sync_api import expect


def signed_in(person, name, sub, note, **options):
    return person(name, **options).open(note, f"#token={token(sub=sub, name=name)}")


def mention(server, note, text, *people, thread=None):
    """Comments as Ada, who has no page open."""
    place = {"thread": thread} if thread else {"anchor": {"revision": 1, "from": 0, "to": 3}}
    return server.request("POST", f"/api/notes/{note}/comments", {"text": text, "mentions": [*people], **place})["id"]


def bell(person):
    return person.page.locator("#bell")


def test_a_mention_is_seen_opened_and_read_on_all_devices(guarded, person):
    server = guarded
    server.token = token(name="Ada")
    plan, other = server.create("Our plan"), server.create("Another note")
    server.insert_text(plan, "one two three")
    desk = signed_in(person, "Bob", "bob", other)
    phone = signed_in(person, "Bob", "bob", other, **PHONE)
    expect(bell(desk)).to_have_attribute("aria-label", "Notices")
    comment = mention(server, plan, "<b>which?</b> @Bob", "bob")
    for device in (desk, phone):
        expect(device.page.locator("#bell")).to_have_attribute("aria-label", "Notices: 1 unread")
    expect(desk.page.locator(f"[data-note='{plan}'] .unread-mark")).to_be_visible()
    # By keyboard alone.
    bell(desk).focus()
    desk.page.keyboard.press("Enter")
    row = desk.page.get_by_role("link", name="Ada mentioned you in “Our plan”")
    expect(row).to_be_visible()
    assert barriers(desk.page) == []
    row.focus()
    desk.page.keyboard.press("Enter")
    expect(desk.page.locator(f".thread[data-id='{comment}'] .comment-text")).to_have_text("<b>which?</b> @Bob")
    for device in (desk, phone):
        expect(device.page.locator("#bell")).to_have_attribute("aria-label", "Notices")
    expect(desk.page.locator(f"[data-note='{plan}'] .unread-mark")).to_have_count(0)


def test_all_notices_are_marked_as_read_and_older_ones_are_shown(guarded, person):
    server = guarded
    server.token = token(name="Ada")
    plan = server.create("Our plan")
    server.insert_text(plan, "one two three")
    thread = mention(server, plan, "begun")
    for number in range(55):
        mention(server, plan, f"{number}", "bob", thread=thread)
    bob = signed_in(person, "Bob", "bob", plan)
    expect(bell(bob)).to_have_attribute("aria-label", "Notices: 55 unread")
    bell(bob).click()
    rows = bob.page.locator("#inbox-list li")
    expect(rows).to_have_count(50)
    bob.page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(55)
    bob.page.get_by_role("button", name="Mark all as read").click()
    expect(bob.page.locator("#inbox-list .is-unread")).to_have_count(0)
    bob.page.get_by_role("button", name="Done").click()
    expect(bell(bob)).to_have_attribute("aria-label", "Notices")
    bob.reload()
    expect(bell(bob)).to_have_attribute("aria-label", "Notices")


def test_visitors_without_a_name_of_their_own_have_no_notices(server, person):
    note = server.create("Plan")
    visitor = person("Visitor").open(note)
    expect(visitor.page.locator("#language")).to_be_visible()
    expect(bell(visitor)).to_be_hidden()
