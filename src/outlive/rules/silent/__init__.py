"""WHAT WENT WRONG WITHOUT A WORD? Rules on runs that went well and did not do what was asked for."""
