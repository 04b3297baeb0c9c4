"""HOW DO WE SHOW IT TO A COLLEAGUE? Reports as pages: one file each, that needs nothing and asks nobody.

    facts ── *_page.py ──> Page(Verdict, Tile, Section(blocks), document) ── page.render_page ──> HTML
             what to show   blocks.py: plain data                            templates/, assets/, vendor/uplot

A page carries its style and its script, allowed by their digests and nothing else; the JSON document of the
command, as it is; and the numbers of charts and long tables, which the script draws. Text is rendered here,
so that a page can be read, printed and searched without the script.
"""
