"""What is made once, for visitors who come in the same moment too."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from specviz.core.languages import cache_by_language
from specviz.core.once import Once, cache_once

GUARD = 60  # seconds until a thread that waits for ever fails the test


@pytest.mark.parametrize("kept", [cache_once, cache_by_language])
def test_who_asks_while_it_is_made_waits_for_it(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second asks when the first has begun, and the first ends when the second has found nothing made."""
    begun, looked, made, own = Event(), Event(), list[int](), Once.__init__

    class Seen(dict[Any, Any]):
        def __contains__(self, key: object) -> bool:
            found = super().__contains__(key)
            if begun.is_set():
                looked.set()
            return found

    def seen(once: Once[Any, Any], make: Callable[..., Any]) -> None:
        own(once, make)
        once._made = Seen()

    monkeypatch.setattr(Once, "__init__", seen)

    @kept
    def slow(number: int) -> list[int]:
        made.append(number)
        begun.set()
        assert looked.wait(GUARD)
        return [number]

    with ThreadPoolExecutor(2) as visitors:
        first = visitors.submit(slow, 7)
        assert begun.wait(GUARD)
        assert visitors.submit(slow, 7).result() is first.result()
    assert made == [7]


def test_names_count_an_error_is_not_kept_and_all_can_be_forgotten() -> None:
    made: list[int] = []

    @cache_once
    def double(number: int, times: int = 2) -> int:
        made.append(number)
        return number * times // (len(made) > 1)

    with pytest.raises(ZeroDivisionError):
        double(1)
    assert [double(1), double(1), double(1, times=3), double.__name__] == [2, 2, 3, "double"]
    double.cache_clear()
    assert (double(1), made) == (2, [1, 1, 1, 1])
