"""The engine process beside the web server: it owns the models, takes jobs and sends rounds.

It knows no Streamlit. Importing it imports no torch: only the engine's own process does.
Begin with protocol.py, then bench.py.
"""

from specviz.service.job import JobView
from specviz.service.limits import ServiceLimits
from specviz.service.service import EngineService

__all__ = ["EngineService", "JobView", "ServiceLimits"]
