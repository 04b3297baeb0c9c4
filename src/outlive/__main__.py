"""`python -m outlive` is the command `outlive`."""

import sys

from outlive.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
