"""WHAT IS WRONG WITH WHAT IT WAS GIVEN? Rules on calls that were refused before memory was touched."""
