"""Watch: a small model drafts, a big model checks the draft in one pass, and every token shows its result."""

from specviz.ui.shared.theme import inside_app
from specviz.ui.watch.watch_page import watch

inside_app()
watch()
