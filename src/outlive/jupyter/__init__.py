"""WHAT DOES A NOTEBOOK SHOW?

    %load_ext outlive ──> extension    cards for models, plans, flights, findings; %outlive plan m.tflite;
                                       the card of this notebook's last death; the recorder of this kernel
                      ──> protection   what `outlive.protect()` does
                      ──> error_cards  errors of outlive as cards; the traceback stays to be had
                      ──> cells        %%outlive: whole cells in a worker, which runs `cell_child`
                      ──> progress     bars for calls that take long
    protect() ──> protection ──> the interpreters of LiteRT and TensorFlow in this kernel are guarded ones
    jupyter server ──> server_extension ──> watched_provisioner  every kernel it starts is watched
                                        ──> death_handlers       what browsers ask (jupyterlab/ is their part)
    jupyter execute, papermill, jupyter console ──> notebook_runners  the same without a server

A card is a small piece of HTML, safe and without network, and the same in plain text.
"""

PUBLIC_MODULES = ("extension", "protection")
