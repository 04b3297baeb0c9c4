"""WHAT IS WRONG WITH THE FILE ITSELF? Rules on bytes that are not a model, or a model that lies."""
