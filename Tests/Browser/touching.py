"""The sizes of controls for touch: all elements of a view that can be tapped."""

# The visible controls that are smaller than 44 by 44 CSS pixels. A link within a sentence may be as high as
# its line, and the label of a field counts as part of it (WCAG 2.5.5).
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
            && (element.parentElement.textContent.trim() !== element.textContent.trim() || element.closest(".rendered, .content"));
        const isUnseen = element.closest(".visually-hidden, .skip") !== null || width <= 1;
        if (isInSentence || isUnseen || (width >= 43.5 && height >= 43.5)) return [];
        const name = element.id || element.getAttribute("aria-label") || element.className || element.textContent;
        return [`${element.localName} ${name}: ${Math.round(width)}×${Math.round(height)}`];
    });
}"""


def small_targets(page):
    """Returns a description of each control that is too small."""
    return page.evaluate(SMALL)
