"""What a page reads of its widgets where Streamlit has forgotten them: the visitor is on the way to another page."""

from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from specviz.ui.shared import persistent_widgets
from specviz.ui.shared.persistent_widgets import held


class State(dict[str, Any]):
    """Streamlit's, as far as it is read."""

    values_set: ClassVar[dict[str, Any]] = {"race_repeats": 3}


def test_a_value_is_the_widgets_or_what_was_set_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by a soak: "Start the race" was pressed while another page was opened, and the page ended in an error."""
    monkeypatch.setattr(persistent_widgets, "st", SimpleNamespace(session_state=State(race_repeats=5)))
    assert held("race_repeats") == 5
    monkeypatch.setattr(persistent_widgets, "st", SimpleNamespace(session_state=State()))
    assert held("race_repeats") == 3
