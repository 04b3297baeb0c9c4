"""The tests of outlive."""
