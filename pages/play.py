"""Be the draft: the visitor drafts, the real target checks, and the small model plays along for comparison."""

from specviz.views.look import inside_app
from specviz.views.play import lead, show_game

inside_app()
lead()
show_game()
