"""The engine process beside the web server: it owns the models, takes jobs and sends rounds. No Streamlit in it.

Importing this package imports neither torch nor transformers; only the engine's own process does.
"""

from specviz.service.job import JobView
from specviz.service.limits import ServiceLimits
from specviz.service.service import EngineService

__all__ = ["EngineService", "JobView", "ServiceLimits"]
