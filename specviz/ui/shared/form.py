"""What a page asks for is one frozen model: its link, what its widgets hold, and what is done with it.

A field of the model says with a `Widget` how it is drawn; the settings of a run are drawn by `RunControls`.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import streamlit as st

from specviz.data.links.page_link import PageLink, Params
from specviz.data.texts import page_texts
from specviz.ui.session import session
from specviz.ui.shared.address import address, hidden_in_link, models_in, write_address
from specviz.ui.shared.arrival import Arrival
from specviz.ui.shared.persistent_widgets import Widget, draw, restore_widgets, set_widgets
from specviz.ui.shared.run_controls import RunControls

Model = TypeVar("Model", bound=PageLink)
Reading = Callable[[Params], tuple[Model, list[str]]]


class Form(Generic[Model]):
    """Restores, draws and reads the widgets of a page, whose keys begin with its name."""

    def __init__(self, page: str, start: Model, *, prefix: str | None = None, writes: bool = True) -> None:
        self.page, self.start, self.writes = page, start.fitted(), writes
        self.prefix = f"{page}_" if prefix is None else prefix
        self.controls = RunControls(self.prefix)
        self.names = [name for name in type(start).model_fields if name not in start.UNDRAWN]

    @property
    def asked(self) -> Model:
        """What this visitor asks for."""
        found: Model = session().asked.get(self.page, self.start)
        return found

    @property
    def came(self) -> Arrival:
        return session().arrival(self.page)

    def open(self, reading: Reading[Model] | None = None) -> Model:
        """Take what the link asks for, once, set the widgets where they hold nothing, and read them.

        `reading` makes of the link what is asked for, by default the model itself; see `Arrival.read_once`.
        """

        def read(given: Params) -> tuple[Model, list[str]]:
            return type(self.start).read(given, context=frozenset(models_in(given)))

        if linked := self.came.read_once(address(), reading or read):
            session().asked[self.page] = linked.fitted()
        restore_widgets(self._values(self.asked))
        return self._look()

    def _values(self, asked: Model) -> dict[str, object]:
        """What the widgets hold, by their keys."""
        values = {name: getattr(asked, name) for name in self.names}
        return {self.key(name): [*value] if isinstance(value, tuple) else value for name, value in values.items()}

    def take(self, asked: Model) -> None:
        """Set the widgets to this. It is no choice of the visitor; what a link could not have is no longer said."""
        session().asked[self.page] = asked.fitted()
        self.came.notes = []
        set_widgets(self._values(self.asked))

    def draw(self, name: str, options: Any = None, **more: Any) -> Any:
        """The widget of a field. Of numbers the limits are the link's; a menu has these options."""
        metadata, says = type(self.start).model_fields[name].metadata, page_texts(self.page)
        widget = next(each for each in metadata if isinstance(each, Widget))
        shown, look = self.limits(name) if options is None else [options], {"help": says.get(f"{name}_help"), **more}
        return draw(widget.kind, says[widget.label or name], self.key(name), *shown, fresh=widget.fresh, **look)

    def limits(self, name: str) -> list[Any]:
        about = type(self.start).model_fields[name]
        return [getattr(each, end) for end in ("ge", "le") for each in about.metadata if hasattr(each, end)]

    def read(self) -> Model:
        """What the widgets hold now; the address says it too, once the visitor has chosen something."""
        asked = self._look()
        if self.came.acted and self.writes:
            write_address({**asked.parameters(), **hidden_in_link()})
        return asked

    def _look(self) -> Model:
        """A field keeps its value where Streamlit has forgotten the widget: the visitor is going to another page."""
        state = st.session_state
        values = {name: state[key] for name in self.names if (key := self.key(name)) in state}
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        asked = self.asked.model_copy(update=given).fitted()
        if asked != self.asked:
            session().asked[self.page] = asked
            self.came.change()
        return asked

    def set(self, **values: object) -> None:
        set_widgets({self.key(name): value for name, value in values.items()})

    def key(self, name: str) -> str:
        return f"{self.prefix}{name}"
