"""Fixtures of several unit tests."""

import pytest

from specviz.ui.shared import job_slot
from specviz.ui.shared.engine import Visitor
from tests.support.fake_service import FakeService


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeService:
    service = FakeService()
    monkeypatch.setattr(job_slot, "engine", lambda: service)
    monkeypatch.setattr(job_slot, "visitor", lambda: Visitor("ada"))
    return service
