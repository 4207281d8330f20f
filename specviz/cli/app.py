"""`specviz app`: start the web app."""

import argparse
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from specviz.cli.help_text import add_command
from specviz.core.assets import APP_FOLDER

if TYPE_CHECKING:
    from specviz.cli.options import Commands


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "app", "start the web app", "app", "app --host 0.0.0.0 --port 80")
    parser.add_argument("--port", type=int, default=8501, help="the port it listens on")
    parser.add_argument("--host", default="localhost", help="the address it listens on; localhost is this machine only")
    parser.set_defaults(command=start_app, json=None)


def start_app(options: argparse.Namespace) -> None:
    """Replace this process by Streamlit's server, so that signals reach it."""
    with suppress(OSError):  # a folder that cannot be written: the app then runs without plotly.js
        (APP_FOLDER / "static").mkdir(exist_ok=True)  # Streamlit warns if it is missing at start
    command = [sys.executable, "-m", "streamlit", "run", str(APP_FOLDER / "serve.py")]
    os.execv(sys.executable, [*command, "--server.address", options.host, "--server.port", str(options.port)])
