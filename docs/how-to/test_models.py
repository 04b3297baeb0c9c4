"""Tests that would each end the session, if they ran in its process."""

import ctypes

import pytest


@pytest.mark.outlive
def test_kernel():
    """A segmentation fault."""
    print("this is the last that was heard of it")
    ctypes.string_at(0)


@pytest.mark.outlive(seconds=2)
def test_loop():
    """A loop without an end."""
    while True:
        pass


@pytest.mark.outlive(memory="200MB")
def test_memory():
    """More memory than it may have."""
    assert bytearray(10**9)


def test_other():
    """One that does no harm, and runs in the session's process."""
    assert 1 + 1 == 2
