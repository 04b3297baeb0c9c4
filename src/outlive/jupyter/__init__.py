"""WHAT DOES A NOTEBOOK SHOW?

    %load_ext outlive ──> extension ──> formats    cards for models, plans, flights, findings ...
                                    ──> complaints errors of outlive as cards; the traceback stays to be had
                                    ──> magics     %outlive plan m.tflite, and %%outlive for whole cells
                                    ──> progress   bars for calls that take long
                                    ──> deaths     the card of this notebook's last death, if it had one
                                    ──> the black box (blackbox/)
    protect() ──> protecting ──> the interpreters of LiteRT and TensorFlow in this kernel are guarded ones

Nouns: a card is a small piece of HTML, safe and without network, and the same in plain text.
"""
