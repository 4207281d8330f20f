"""The file that a visitor gave to an uploader."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile


def uploaded(key: str) -> UploadedFile | None:
    """The file in the uploader of this key; None where there is none, or where the server no longer has it.

    A page can name a file that the server does not have: after a restart, or where the file was refused as too large.
    """
    file = st.session_state.get(key)
    return file if isinstance(file, UploadedFile) else None
