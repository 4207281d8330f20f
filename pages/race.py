"""Race: both decoders on the same prompts, timed in turns, then played back at the speed they had."""

from specviz.views.look import inside_app
from specviz.views.race import lead, race, show_race

inside_app()
lead()
show_race(race())
