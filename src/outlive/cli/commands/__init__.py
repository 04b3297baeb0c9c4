"""WHICH COMMANDS ARE THERE? One module each, by the command's name; only the one asked for is loaded."""
