"""Workers that other tests have started are ended before the tests of a module."""

from tests.process.conftest import no_other_workers

__all__ = ["no_other_workers"]
