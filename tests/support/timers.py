"""The timers of a page: a browser sends them, AppTest does not. This one sends them when a test says so."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import RerunData, ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner


class Timers:
    """Which fragments of the page run again by themselves, and what the last run has drawn."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.running: set[str] = set()  # ids of fragments
        self.drawn: list[str] = []  # kinds of elements
        self.pages = 0  # how often the last run has drawn the whole page
        self._due: str = ""
        run, ask = LocalScriptRunner.run, LocalScriptRunner.request_rerun

        def recorded(runner: LocalScriptRunner, *args: Any, **options: Any) -> Any:
            self.drawn.clear()
            self.pages = 0
            tree = run(runner, *args, **options)
            for event, data in zip(runner.events, runner.event_data, strict=True):
                if event == ScriptRunnerEvent.SCRIPT_STARTED and not data["fragment_ids_this_run"]:
                    self.running.clear()
                    self.pages += 1
                elif event == ScriptRunnerEvent.ENQUEUE_FORWARD_MSG:
                    self._take(data["forward_msg"])
            return tree

        def asked(runner: LocalScriptRunner, data: RerunData) -> bool:
            due, self._due = self._due, ""
            if not due:
                return ask(runner, data)
            runner._requests = ScriptRequests()  # AppTest has asked for the whole page already
            return ask(runner, replace(data, fragment_id=due, is_auto_rerun=True))

        patch.setattr(LocalScriptRunner, "run", recorded)
        patch.setattr(LocalScriptRunner, "request_rerun", asked)

    def poll(self, page: AppTest) -> None:
        """Send the page's one timer."""
        (self._due,) = self.running
        page.run()
        assert not page.exception

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "auto_rerun":
            self.running.add(message.auto_rerun.fragment_id)
        elif kind == "stop_auto_rerun":
            self.running -= set(message.stop_auto_rerun.fragment_ids)
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self.drawn.append(str(message.delta.new_element.WhichOneof("type")))
