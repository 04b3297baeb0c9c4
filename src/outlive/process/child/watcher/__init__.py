"""What the recorder runs: standard library only, relative imports only, so that it stays small."""
