"""What runs in our child processes: standard library only, Python 3.8 and later, relative imports only."""

import os

if "." not in __name__:  # loaded alone, in a child process: no outlive, but the package of its platform
    __path__.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
