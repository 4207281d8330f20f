"""Same quality: greedy is compared token for token, sampling by how often each token comes, and broken rules fail."""

from specviz.ui.proof.controls import controls
from specviz.ui.proof.page import lead, show_proof
from specviz.ui.shared.theme import inside_app

inside_app()
lead()
show_proof(controls())
