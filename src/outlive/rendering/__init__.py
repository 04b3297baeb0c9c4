"""HOW DO WE SAY IT?

    Finding, Model, ... ──> text (plain or coloured, for a terminal or a pipe)
                       └──> JSON (every document has "schema" and "kind")

Drawing lives here and nowhere else. Whatever comes out of a file is untrusted text and goes through
`names.safe` before a person sees it.
"""
