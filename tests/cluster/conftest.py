"""Where Ray is not installed, this folder has no tests."""

import os
from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is reported to anyone
os.environ["RAY_DEDUP_LOGS"] = "0"
os.environ["RAY_AUTH_MODE"] = "disabled"  # else a token in the user's folder, or none, decides who may connect
