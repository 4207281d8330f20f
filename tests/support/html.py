"""What a browser makes of HTML and of colours, without one."""

from html.parser import HTMLParser


class Html(HTMLParser):
    """The elements of a text with their attributes, in order; the names of the elements; the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.found}

    def values_of(self, attribute: str) -> list[str | None]:
        """Of all elements that have this attribute."""
        return [given[attribute] for _, given in self.found if attribute in given]


def contrast(one: str, other: str) -> float:
    """WCAG 2's contrast of two colours, each as #rrggbb: from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
