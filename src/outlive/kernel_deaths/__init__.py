"""WHY DID MY KERNEL DIE?

    kernel (IPython) ── notes: the cell being run, how it is asked to end ──┐ mapped file
         │  └─ faulthandler's dump ──────────────────────────────────────────┤
         │  └─ standard error ──pipe──> recorder ──> where it went before    │
         └─ starts ──> recorder (watcher/, a process of its own, some 4 MB) ─┘
                          └─ memory, kills for memory, exit status ──> Record, if it was no normal end
    Record ──> Flight, judged upstairs by the same rules as every other death

Nouns: a `Box` is a recorder at work in this kernel; a `Record` is what is left of a death; the shelf is where
records lie: private to the user, a few of them, a few kilobytes each. No outputs and no variables are kept.
"""
