"""Does the code keep the rules of the house?

    a source tree -> modules.py -> layers, sizes, words, rulebook, startup -> sentences about what is wrong

Each check is a function of a tree and gives one sentence per fault, none if all is well. The test files
in this folder plant each fault in a small tree and see it found; `tests/test_house.py` runs the checks on
outlive itself.
"""
