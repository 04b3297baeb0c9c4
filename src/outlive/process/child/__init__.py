"""What runs in our child processes: standard library only, Python 3.8 and later, relative imports only."""
