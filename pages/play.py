"""Be the draft: the visitor drafts, the real target checks, and the small model plays along for comparison."""

from specviz.ui.play.page import lead, show_game
from specviz.ui.shared.theme import inside_app

inside_app()
lead()
show_game()
