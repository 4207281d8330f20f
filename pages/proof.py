"""Same quality: greedy is compared token for token, sampling by how often each token comes, and broken rules fail."""

from specviz.ui.proof.proof_page import controls, lead, show_proof
from specviz.ui.session import session
from specviz.ui.shared.theme import inside_app

inside_app()
lead()
state = session().proof
show_proof(state, controls(state))
