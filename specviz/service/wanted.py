"""The service as the operator's settings want it."""

from specviz.service.fleet import engines_wanted
from specviz.service.ray_wanted import relay_wanted
from specviz.service.run_store import store_wanted
from specviz.service.service import EngineService


def service_wanted() -> EngineService:
    """A service that is not started yet.

    Raises:
        InputError: a setting is wrong; one sentence.
    """
    if relay := relay_wanted():
        return EngineService(relay, store=store_wanted(), shared=True)
    return EngineService(store=store_wanted(), engines=engines_wanted())
