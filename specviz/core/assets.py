"""Where the files are that ship with the app: bundled models, recorded runs, the components' sources."""

from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"
