"""When it helps: sweeps over texts, drafts and settings, and where speculation pays."""

from specviz.ui.session import session
from specviz.ui.shared.parts import lead
from specviz.ui.shared.theme import inside_app
from specviz.ui.watch.watch_state import WatchState
from specviz.ui.when_it_helps.by_draft import ByDraft
from specviz.ui.when_it_helps.sweeps import WhenItHelpsState, next_measurement
from specviz.ui.when_it_helps.when_it_helps_page import show_sweeps

inside_app()
visit = session()
lead("when_it_helps")
next_measurement()
visit.of(ByDraft).watched = visit.of(WatchState).form.current
show_sweeps(visit.of(WhenItHelpsState))
