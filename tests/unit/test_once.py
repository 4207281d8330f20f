"""What is made once, for visitors who come in the same moment too."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep
from typing import Any

import pytest

from specviz.core.languages import cache_by_language
from specviz.core.once import cache_once

VISITORS = 8


@pytest.mark.parametrize("kept", [cache_once, cache_by_language])
def test_who_asks_while_it_is_made_waits_for_it(kept: Any) -> None:
    made: list[int] = []
    all_here = Barrier(VISITORS)

    @kept
    def slow(number: int) -> list[int]:
        made.append(number)
        sleep(0.05)  # the others ask meanwhile
        return [number]

    def ask(visitor: int) -> list[int]:
        all_here.wait(10)
        return slow(7)

    with ThreadPoolExecutor(VISITORS) as visitors:
        results = list(visitors.map(ask, range(VISITORS)))
    assert made == [7]
    assert all(result is results[0] for result in results)


def test_names_count_an_error_is_not_kept_and_all_can_be_forgotten() -> None:
    made: list[int] = []

    @cache_once
    def double(number: int, times: int = 2) -> int:
        made.append(number)
        if len(made) == 1:
            raise ValueError("not yet")
        return number * times

    with pytest.raises(ValueError, match="not yet"):
        double(1)
    assert [double(1), double(1), double(1, times=3), double.__name__] == [2, 2, 3, "double"]
    double.cache_clear()
    assert (double(1), made) == (2, [1, 1, 1, 1])
