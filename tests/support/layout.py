"""Where the parts of a page and the words of a figure stand: what overlaps, and what is cut off at its edge."""

import time

from playwright.sync_api import FloatRect, Locator

from tests.conftest import PATIENCE

SLANTED = """(all) => all.map((one) => {
  const angle = Number(/rotate\\(([-0-9.]+)/.exec(one.getAttribute("transform") ?? "")?.[1] ?? 0);
  return angle % 90 !== 0;
})"""
BOXES = """(all) => all.map((one) => {
  const { left, top, right, bottom } = one.getBoundingClientRect();
  return [one.textContent.trim(), left, top, right, bottom];
})"""
STILL_WITHIN = PATIENCE / 1000  # s
TOUCHING = 1  # px by which boxes may overlap: their edges are rounded
Box = tuple[str, float, float, float, float]


def placed(*parts: Locator) -> list[FloatRect]:
    """Where parts of a page are drawn, from a time in which none of them moved."""
    before: list[FloatRect | None] = []
    end = time.monotonic() + STILL_WITHIN
    while time.monotonic() < end:
        found = [part.bounding_box() for part in parts]
        if found == before and None not in found:
            return [box for box in found if box]
        before = found
    raise AssertionError("a part is not drawn, or does not stand still")


def bottom(*parts: Locator) -> float:
    """Where the lowest of these parts ends."""
    return max(box["y"] + box["height"] for box in placed(*parts))


def boxes_of(parts: Locator) -> list[Box]:
    """Text, left, top, right and bottom of each part."""
    return [tuple(box) for box in parts.evaluate_all(BOXES)]


def upright(parts: Locator) -> list[Box]:
    """Those that are not turned: the box around a slanted name is much larger than the name."""
    return [box for box, slanted in zip(boxes_of(parts), parts.evaluate_all(SLANTED), strict=True) if not slanted]


def overlapping(boxes: list[Box]) -> list[tuple[str, str]]:
    """The texts of each two parts that lie over each other."""
    return [
        (one[0], other[0])
        for number, one in enumerate(boxes)
        for other in boxes[number + 1 :]
        if min(one[3], other[3]) - max(one[1], other[1]) > TOUCHING
        and min(one[4], other[4]) - max(one[2], other[2]) > TOUCHING
    ]


def measured(frame: Locator, *parts: Locator) -> tuple[Box, list[list[Box]]]:
    """The box of a frame and those of parts of it, from a time in which it stood still: a page may move meanwhile."""
    end = time.monotonic() + STILL_WITHIN
    while time.monotonic() < end:
        [before] = boxes_of(frame)
        found = [boxes_of(each) for each in parts]
        [after] = boxes_of(frame)
        if before == after:
            return before, found
    raise AssertionError("the page does not stand still")


def outside(parts: Locator, frame: Locator) -> list[str]:
    """The texts of parts that reach beyond the frame."""
    (_, left, top, right, bottom), [boxes] = measured(frame, parts)
    return [
        text
        for text, *sides in boxes
        if sides[0] < left - TOUCHING
        or sides[1] < top - TOUCHING
        or sides[2] > right + TOUCHING
        or sides[3] > bottom + TOUCHING
    ]
