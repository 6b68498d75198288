"""What a finger has to hit: everything that can be tapped, in whatever view is shown."""

# Of what is seen and can be pressed, what is smaller than 44 by 44 CSS pixels. A link within a sentence is as high as
# its line, and a field is pressed by its label, too (WCAG 2.5.5).
SMALL = """() => {
    const wanted = "a[href], button, input, select, textarea, summary, [role=option], [role=menuitem], [role=slider]";
    const roots = [document, ...[...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ?? [])];
    const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
    return roots.flatMap((root) => [...root.querySelectorAll(wanted)]).flatMap((element) => {
        if (dialog && element.closest("dialog") !== dialog) return [];
        if (!element.checkVisibility({ opacityProperty: false, visibilityProperty: true }) || element.disabled) return [];
        const boxes = [element, ...(element.labels ?? [])].map((one) => one.getBoundingClientRect());
        const { width, height } = boxes.find((one) => one.width >= 43.5 && one.height >= 43.5) ?? boxes[0];
        const isInSentence = element.matches("a, .retry") && getComputedStyle(element).display === "inline"
            && (element.parentElement.textContent.trim() !== element.textContent.trim() || element.closest(".rendered"));
        const isUnseen = element.closest(".visually-hidden, .skip") !== null || width <= 1;
        if (isInSentence || isUnseen || (width >= 43.5 && height >= 43.5)) return [];
        const name = element.id || element.getAttribute("aria-label") || element.className || element.textContent;
        return [`${element.localName} ${name}: ${Math.round(width)}×${Math.round(height)}`];
    });
}"""


def small_targets(page):
    """What is too small, in words."""
    return page.evaluate(SMALL)
