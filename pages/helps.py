"""When it helps: sweeps over texts, drafts and settings, and where speculation pays."""

from specviz.ui.helps.controls import next_measurement
from specviz.ui.helps.helps_page import show_sweeps
from specviz.ui.session import session
from specviz.ui.shared.parts import lead
from specviz.ui.shared.theme import inside_app

inside_app()
visit = session()
lead("helps")
next_measurement()
visit.by_draft.watched = visit.watch.form.current
show_sweeps(visit.sweeps, visit.by_draft)
