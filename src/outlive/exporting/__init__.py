"""HOW DO WE HAND IT OVER?

    Model + Plan ──> micro ──> Export: C array, resolver, arena, main, README      `outlive export --tflm`
    Model ──> ports ──> snippets ──> Snippet: code that feeds and reads the model   `outlive snippet`
                        templates/*.j2, filled by rendering; names made safe by foreign

Nouns: a *port* is an input or output as a program sees it: its place, shape, type and quantization.
Names come from strangers: none gets into code, text or a comment but through a filter of `foreign`.
"""

PUBLIC_MODULES = ("micro", "snippets")
