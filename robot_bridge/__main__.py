"""Entry point of ``python -m robot_bridge``."""

from __future__ import annotations

import sys

from robot_bridge.cli import main

if __name__ == "__main__":
    sys.exit(main())
