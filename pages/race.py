"""Race: both decoders on the same prompts, timed alternately, then replayed at the measured speed."""

from specviz.ui.race.race_page import RaceState, race, show_race
from specviz.ui.session import session
from specviz.ui.shared.parts import lead
from specviz.ui.shared.theme import inside_app

inside_app()
lead("race")
racing = session().of(RaceState)
race(racing)
show_race(racing)
