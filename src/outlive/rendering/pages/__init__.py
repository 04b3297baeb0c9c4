"""WHAT DOES A RESULT COME TO? A module for each kind of result: `page(result)` is what every medium draws."""
