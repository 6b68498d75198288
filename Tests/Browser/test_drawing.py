"""Formulas and diagrams in the page view: drawn in a separate worker or frame, cancelled when slow, loaded on demand."""

import pytest
from playwright.sync_api import expect

# A formula that takes KaTeX ten seconds: few expansions, but of long texts.
ENDLESS = "\\def\\a{" + "x" * 2500 + "}" + "\\a" * 900

FORMULAS = f"""
Before $a^2 + b_1$ after.

$$
\\frac{{1}}{{\\sqrt{{x}}}}
$$

Wrong $\\foo{{$ here.

Endless ${ENDLESS}$ here.

Hostile $\\href{{javascript:run()}}{{x}} \\htmlStyle{{color:red}}{{y}} \\text{{<img src=x onerror=run()>}}$ here.

Last $z$.
"""


@pytest.fixture
def reader(browser, server):
    """Opens a note in the page view, in a browser that ignores the page's policy; `fetched` lists the requests."""
    context = browser.new_context(base_url=server.url, bypass_csp=True)
    context.add_init_script("window.ran = []; window.run = () => window.ran.push(location.href)")

    def read(text):
        note = server.create("Drawing")
        server.put_text(note, text)
        page = context.new_page()
        page.fetched = []
        page.on("request", lambda request: page.fetched.append(request.url))
        page.goto(f"/n/{note}")
        page.get_by_role("button", name="Read as a page").click()
        return page

    yield read
    context.close()


def drawn_by(page):
    """Returns the requests for code that draws formulas and diagrams."""
    return [url for url in page.fetched if any(name in url for name in ("formulas-", "diagrams-", "mermaid-"))]


def test_nothing_is_fetched_for_notes_without_formulas_and_diagrams(reader):
    page = reader("# Costs\n\n$5 and $6\n\n```js\nlet a = '$a$';\n```\n\nthe end\n")
    expect(page.locator("#rendered")).to_contain_text("the end")
    page.wait_for_load_state("networkidle")
    assert drawn_by(page) == []


def test_formulas_are_drawn_in_a_worker(reader):
    page = reader(FORMULAS)
    formulas = page.locator("#rendered .formula")
    expect(formulas).to_have_count(6)
    expect(formulas.nth(5).locator("math")).to_have_count(1)
    assert len(drawn_by(page)) >= 1
    expect(formulas.nth(0).locator("math msup")).to_have_count(1)
    expect(formulas.nth(0).locator("annotation")).to_have_text("a^2 + b_1")
    expect(formulas.nth(1).locator("math[display=block] mfrac msqrt")).to_have_count(1)
    # A malformed formula is shown as its source, with the error.
    expect(formulas.nth(2).locator("code")).to_have_text("\\foo{")
    expect(formulas.nth(2)).to_contain_text("This cannot be drawn: Undefined control sequence")
    expect(formulas.nth(3)).to_contain_text("This takes too long to draw.")
    # HTML in a formula remains text: the result contains only MathML.
    names = page.evaluate("() => [...document.querySelectorAll('#rendered math, #rendered math *')].map((one) => one.namespaceURI)")
    assert set(names) == {"http://www.w3.org/1998/Math/MathML"}
    attributes = page.evaluate("() => [...document.querySelectorAll('#rendered math *')].flatMap((one) => one.getAttributeNames())")
    assert not {"href", "style", "class", "src"} & set(attributes)
    assert page.evaluate("() => window.ran") == []


def test_a_heading_keeps_its_address_when_its_formula_is_drawn(reader):
    page = reader("# On $a^2$\n\n# Two\n\n# Three\n")
    heading = page.locator("#rendered h2").first
    expect(heading.locator("math")).to_have_count(1)
    expect(heading).to_have_id("heading-on-a2")


DIAGRAMS = """
```mermaid
graph TD
  A[Write] --> B{Ready?}
  B -->|yes| C[Send]
  B -->|no| A
```

```mermaid
graph TD
  A[ -->
```

```mermaid
sequenceDiagram
  Ann->>Bo: Hello
```
"""

HOSTILE_DIAGRAMS = """
```mermaid
sequenceDiagram
  Ann->>Bo: <img src=x onerror=run()>
  Note over Ann: <script>run()</script>
```

```mermaid
%%{init: {"securityLevel": "loose", "themeCSS": "*{background:url(https://leak.example/)}", "flowchart": {"htmlLabels": true}}}%%
graph TD
  A["<img src=x onerror=run()>"] --> B
  click A href "javascript:run()"
  C@{ img: "https://leak.example/pixel.png", label: "x", w: 60, h: 60 }
```
"""


def test_diagrams_are_drawn_in_a_frame_without_an_origin(reader):
    page = reader("$a^2$\n" + DIAGRAMS)
    diagrams = page.locator("#rendered .diagram")
    expect(diagrams).to_have_count(3)
    picture = diagrams.nth(0).get_by_role("img", name="Diagram")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 100
    svg = picture.evaluate("(image) => decodeURIComponent(image.src)")
    assert "Ready?" in svg and "foreignObject" not in svg
    # The source can be shown.
    diagrams.nth(0).get_by_text("The diagram’s source").click()
    expect(diagrams.nth(0).locator("code")).to_contain_text("B{Ready?}")
    expect(diagrams.nth(1).locator("code")).to_contain_text("A[ -->")
    expect(diagrams.nth(1)).to_contain_text("This cannot be drawn:")
    expect(diagrams.nth(2).locator("img")).to_have_count(1)
    # A downloaded page contains the diagrams, and loads nothing.
    page.get_by_role("button", name="More for this note").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Download HTML").click()
    html = download.value.path().read_text()
    assert html.count("data:image/svg+xml") == 2 and "<msup>" in html and "https://" not in html.split("</style>")[1].split("data:")[0]
    expect(page.locator("iframe")).to_have_attribute("sandbox", "allow-scripts")


def test_hostile_diagrams_run_and_load_nothing(reader):
    page = reader(HOSTILE_DIAGRAMS)
    diagrams = page.locator("#rendered .diagram")
    expect(diagrams.nth(0).locator("img")).to_have_count(1)
    expect(diagrams.nth(1).locator("img, .drawing-problem")).to_have_count(1)
    assert page.evaluate("() => window.ran") == []
    assert not [url for url in page.fetched if "leak.example" in url]


def test_diagrams_are_drawn_under_the_policy(server, person):
    note = server.create("Diagram")
    server.put_text(note, DIAGRAMS)
    ann = person("Ann").open(note)
    problems = []
    ann.page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    ann.wait_until_saved()
    ann.page.get_by_role("button", name="Read as a page").click()
    picture = ann.page.locator("#rendered .diagram").first.get_by_role("img", name="Diagram")
    expect(picture).to_be_visible()
    # Texts were measured with their styles, so the diagram is wide enough.
    assert picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 100
    expect(ann.page.locator("#rendered .diagram").nth(2).locator("img")).to_have_count(1)
    # Dark lines in the light theme, light lines in the dark theme, and no background.
    style = "(image) => [getComputedStyle(image).filter, getComputedStyle(image).backgroundColor]"
    filters = {"light": "none", "dark": "invert(0.9) hue-rotate(180deg)"}
    for scheme, filtered in filters.items():
        ann.page.emulate_media(color_scheme=scheme)
        assert picture.evaluate(style) == [filtered, "rgba(0, 0, 0, 0)"]
        ann.picture(f"diagram-{scheme}")
    ann.page.emulate_media(media="print")
    assert picture.evaluate(style) == ["none", "rgba(0, 0, 0, 0)"]
    assert problems == []
    # After its scripts are loaded, the frame's own policy forbids all requests, even to this server.
    frame = ann.page.locator(".drawing-frame").element_handle().content_frame()
    frame.evaluate("""(url) => new Promise((resolve) => {
        addEventListener("securitypolicyviolation", ({ originalPolicy }) => {
            if (originalPolicy === "default-src 'none'") resolve();
        });
        fetch(url, { mode: "no-cors" }).catch(() => {});
    })""", server.url)
    # Ignore the browser's reports about these violations.
    ann.problems.clear()
