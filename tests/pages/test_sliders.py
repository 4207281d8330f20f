"""Every slider of every page: the number under it shows what one key press changes."""

import pytest

from tests.support.app_pages import opened, opened_in_app

PAGES = ["watch", "race", "helps", "worksheet", "proof", "play"]


@pytest.mark.parametrize("name", PAGES)
def test_a_key_press_changes_the_number_that_is_shown(name: str) -> None:
    page = opened(view="full") if name == "watch" else opened_in_app(name)
    assert not page.exception
    same = [
        slider.label
        for slider in page.slider
        if shown(slider.proto.format, slider.proto.min)
        == shown(slider.proto.format, slider.proto.min + slider.proto.step)
    ]
    assert same == []


def shown(number_format: str, value: float) -> str:
    """As the browser writes it; "percent" has two decimals at most."""
    return f"{value:.2%}" if number_format == "percent" else number_format % value
