"""Every slider of every page: the number under it shows what one key press changes."""

import pytest
from streamlit.testing.v1 import AppTest

PAGES = ["watch", "race", "helps", "worksheet", "proof", "play"]


@pytest.mark.parametrize("name", PAGES)
def test_a_key_press_changes_the_number_that_is_shown(name: str) -> None:
    page = AppTest.from_file("../../app.py", default_timeout=90)
    page.query_params["view"] = "full"
    page.run()
    if name != "watch":
        page.switch_page(f"pages/{name}.py").run()
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
