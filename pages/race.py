"""Race: both decoders on the same prompts, timed alternately, then replayed at the measured speed."""

from specviz.ui.race.page import lead, race, show_race
from specviz.ui.shared.theme import inside_app

inside_app()
lead()
show_race(race())
