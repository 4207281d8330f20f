"""A relay whose pool is in this process, with one engine without models. The argument `gone`: the pool ends at once."""

import os
import sys
from pathlib import Path

from specviz.service.pool import Pool
from specviz.service.ray_relay import relay

FAKE = (sys.executable, str(Path(__file__).with_name("fake_engine.py")))


def main() -> None:
    if "gone" in sys.argv:
        os._exit(1)
    pool = Pool(FAKE, 1)
    pool.start()
    relay(pool, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
