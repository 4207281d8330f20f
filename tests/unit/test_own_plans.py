"""The plans that visitors uploaded, all on one server."""

import pytest

from specviz.core.errors import InputError
from specviz.data.lessons.plans import FOLDER
from specviz.models.draft_menu import linked_names
from specviz.ui.lesson.place import IN_USE, MOST, MOST_OF_ONE, OwnPlans


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def add(plans: OwnPlans, number: int, owner: str) -> str:
    file = (FOLDER / "ten-minutes.yaml").read_bytes() + f"\n# {number}\n".encode()
    return plans.add(file, linked_names(), owner).name


def test_one_visitor_gives_up_the_oldest_of_their_own_plans_and_nobody_elses() -> None:
    plans = OwnPlans(Clock())
    teacher = add(plans, 0, "teacher")
    own = [add(plans, number, "greedy") for number in range(1, MOST_OF_ONE + 2)]
    assert plans.find(own[0]) is None
    assert all(plans.find(name) for name in [teacher, *own[1:]])


def test_on_a_full_server_a_plan_in_use_stays() -> None:
    clock = Clock()
    plans = OwnPlans(clock)
    names = [add(plans, number, f"visitor {number}") for number in range(MOST)]
    with pytest.raises(InputError, match="no place for another plan"):
        add(plans, MOST, "one more")
    clock.now = IN_USE
    assert plans.find(names[0])  # its lesson goes on
    add(plans, MOST, "one more")
    assert plans.find(names[0])
    assert plans.find(names[1]) is None
    assert add(plans, 2, "anybody") == names[2], "a file that is there needs no place"
