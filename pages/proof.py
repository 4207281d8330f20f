"""Same quality: greedy is compared token for token, sampling by how often each token comes, and broken rules fail."""

from specviz.views.look import inside_app
from specviz.views.proof import lead, show_proof
from specviz.views.proof_controls import controls

inside_app()
lead()
show_proof(controls())
