"""HOW DOES A PAGE LOOK? One module for each medium."""
