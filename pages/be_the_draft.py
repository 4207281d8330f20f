"""Be the draft: the visitor drafts, the real target checks, and the small model plays along for comparison."""

from specviz.ui.be_the_draft.be_the_draft_page import lead, show_game
from specviz.ui.session import session
from specviz.ui.shared.theme import inside_app

inside_app()
visit = session()
lead(visit)
show_game(visit)
