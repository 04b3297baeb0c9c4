"""WHY DID MY KERNEL DIE?

    kernel (IPython) ── notes: the cell being run, how it is asked to end ──┐ mapped file
         │  └─ faulthandler's dump ─────────────────────────────────────────┤
         │  └─ standard error ──pipe──> watcher ──> where it went before    │
         └─ starts ──> watcher (process/child/watcher, some 4 MB) ───────────┘
                          └─ memory, kills for memory, exit status ──> Record, if it was no normal end
    tracer (kernel_tracer) ── native stack and operator, at the signal that kills ──> the same folder
    Jupyter server ── starts ──> kernel, any environment (startup/sitecustomize.py)
         └─ server_watch: the same watcher as a thread, the same notes, the same Record
    Record ──> Flight, judged upstairs by the same rules as every other death

A `KernelRecorder` has a watcher at work on this kernel; a `Record` is what is left of a death; `record_store`
is the folder of records: private to the user, a few of them, a few kilobytes each. No outputs and no
variables are kept.
"""

PUBLIC_MODULES = ("kernel_recorder", "record", "record_store", "server_watch")
