"""Same quality: greedy is compared token for token, sampling by how often each token comes, and broken rules fail."""

from specviz.ui.same_quality.proof import SameQualityState
from specviz.ui.same_quality.same_quality_page import controls, show_proof
from specviz.ui.session import session
from specviz.ui.shared.parts import lead
from specviz.ui.shared.theme import inside_app

inside_app()
lead("same_quality")
state = session().of(SameQualityState)
controls()
show_proof(state)
