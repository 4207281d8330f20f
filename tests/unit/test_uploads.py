"""Which file an uploader holds. No server."""

from collections.abc import Mapping

import pytest
import streamlit as st
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec

from specviz.ui.shared.uploads import uploaded

FILE = UploadedFile(UploadedFileRec("1", "run.json", "application/json", b"{}"), FileURLs())


@pytest.mark.parametrize(
    ("state", "name"),
    [({"box": FILE}, "run.json"), ({"box": None}, None), ({}, None), ({"box": DeletedFile("1")}, None)],
)
def test_a_file_that_the_server_does_not_have_is_no_file(
    monkeypatch: pytest.MonkeyPatch, state: Mapping[str, object], name: str | None
) -> None:
    monkeypatch.setattr(st, "session_state", state)
    file = uploaded("box")
    assert (file and file.name) == name
