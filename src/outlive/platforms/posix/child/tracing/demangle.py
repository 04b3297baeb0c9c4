"""C++ names as people write them.

    _ZN6tflite3ops7builtin7reverse4EvalEP13TfLiteContextP10TfLiteNode  ->  tflite::ops::builtin::reverse::Eval

Names only: parameters, template arguments and anonymous namespaces are left out, since who reads a stack
needs to know the place and not the signature. The grammar is that of the Itanium C++ ABI, chapter
"Mangling"; what is not understood stays as it is.
"""

from __future__ import annotations

# A longer name is not worth our time; a deeper one is garbage.
_MAX_CHARACTERS = 16384
_MAX_DEPTH = 64

_STANDARD = {
    "t": ["std"],
    "a": ["std", "allocator"],
    "b": ["std", "basic_string"],
    "s": ["std", "string"],
    "i": ["std", "istream"],
    "o": ["std", "ostream"],
    "d": ["std", "iostream"],
}
_OPERATORS = {
    "nw": "new", "na": "new[]", "dl": "delete", "da": "delete[]", "ng": "-", "ad": "&", "de": "*", "co": "~",
    "pl": "+", "mi": "-", "ml": "*", "dv": "/", "rm": "%", "an": "&", "or": "|", "eo": "^", "aS": "=",
    "pL": "+=", "mI": "-=", "mL": "*=", "dV": "/=", "rM": "%=", "aN": "&=", "oR": "|=", "eO": "^=",
    "ls": "<<", "rs": ">>", "lS": "<<=", "rS": ">>=", "eq": "==", "ne": "!=", "lt": "<", "gt": ">",
    "le": "<=", "ge": ">=", "ss": "<=>", "nt": "!", "aa": "&&", "oo": "||", "pp": "++", "mm": "--",
    "cm": ",", "pm": "->*", "pt": "->", "cl": "()", "ix": "[]", "qu": "?",
}  # fmt: skip
_BUILTIN_TYPES = frozenset("vwbcahstijlmxynofdegz")
_QUALIFIERS = frozenset("PROKVrGC")


def demangle(name: str) -> str:
    """The readable name, or the name itself if it is not one of C++ or not understood."""
    if not name.startswith("_Z") or len(name) > _MAX_CHARACTERS:
        return name
    try:
        return "::".join(_MangledName(name, 2).encoding()) or name
    except (IndexError, ValueError, KeyError, RecursionError):
        return name


class _MangledName:
    """Walks over a mangled name once, from left to right. Runs off its end by IndexError."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self._at = at
        self._depth = 0

    def encoding(self) -> list[str]:
        """The name of a function or variable, without its parameters."""
        if self._peek() == "T":
            # Th <offset> _ | Tv <offset> _ <offset> _ ; the others are tables of the compiler, or too rare
            kind = self._text[self._at + 1]
            if kind not in "hv":
                raise ValueError("not a function")
            self._at = self._text.index("_", self._at) + 1
            if kind == "v":
                self._at = self._text.index("_", self._at) + 1
        return self._name()

    def _peek(self) -> str:
        return self._text[self._at]

    def _take(self, expected: str) -> bool:
        if self._text.startswith(expected, self._at):
            self._at += len(expected)
            return True
        return False

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError("nested too deep")

    def _name(self) -> list[str]:
        self._deeper()
        if self._take("N"):
            while self._peek() in "rVKRO":
                self._at += 1
            parts: list[str] = []
            while not self._take("E"):
                parts += self._component(parts)
        elif self._take("Z"):
            parts = self._local()
        else:
            parts = self._unscoped()
        self._depth -= 1
        return parts

    def _local(self) -> list[str]:
        parts = self.encoding()
        while not self._take("E"):
            self._type()  # the parameters of the function around it
        if self._take("s"):
            return parts
        if self._take("d"):
            self._at = self._text.index("_", self._at) + 1
        return parts + self._name()

    def _unscoped(self) -> list[str]:
        parts: list[str] = []
        if self._take("St"):
            parts = ["std"]
        elif self._peek() == "S":
            parts = self._substitution()
        if not parts or self._peek() != "I":
            parts = parts + self._component(parts)
        if self._at < len(self._text) and self._peek() == "I":
            self._template_arguments()
        return parts

    def _component(self, before: list[str]) -> list[str]:
        """One step of a nested name; nothing for what is left out."""
        letter = self._peek()
        if letter == "I":
            self._template_arguments()
            return []
        if letter == "S":
            return self._substitution()
        if letter == "T":
            self._template_parameter()
            return ["T"]
        if letter in "CD" and self._text[self._at + 1] in "0123456789I":
            tilde = "~" if self._peek() == "D" else ""
            inherited = self._text[self._at + 1] == "I"
            self._at += 3 if inherited else 2
            if inherited:
                self._type()
            self._abi_tags()
            return [tilde + (before[-1] if before else "?")]
        return self._unqualified()

    def _unqualified(self) -> list[str]:
        self._take("L")  # of internal linkage
        if self._peek().isdigit():
            parts = self._source_name()
        elif self._peek() == "U":
            is_lambda = self._text[self._at + 1] == "l"
            self._at += 2
            if is_lambda:
                while not self._take("E"):
                    self._type()
            self._at = self._text.index("_", self._at) + 1
            parts = ["{lambda}" if is_lambda else "{unnamed}"]
        else:
            parts = self._operator()
        self._abi_tags()
        return parts

    def _abi_tags(self) -> None:
        while self._at < len(self._text) and self._take("B"):
            self._source_name()

    def _source_name(self) -> list[str]:
        start = self._at
        while self._at < len(self._text) and self._peek().isdigit():
            self._at += 1
        size = int(self._text[start : self._at])
        name = self._text[self._at : self._at + size]
        if len(name) < size:
            raise ValueError("cut short")
        self._at += size
        return [] if name.startswith("_GLOBAL__N") else [name]

    def _operator(self) -> list[str]:
        code = self._text[self._at : self._at + 2]
        self._at += 2
        if code == "cv":
            self._type()
            return ["operator cast"]
        if code == "li":
            return ['operator""' + "".join(self._source_name())]
        sign = _OPERATORS[code]
        return ["operator" + (" " if sign[0].isalpha() else "") + sign]

    def _substitution(self) -> list[str]:
        """What was abbreviated is not remembered: only the standard library's own are named."""
        letter = self._text[self._at + 1]
        if letter in _STANDARD:
            self._at += 2
            return list(_STANDARD[letter])
        self._at = self._text.index("_", self._at) + 1
        return ["?"]

    def _template_parameter(self) -> None:
        self._at = self._text.index("_", self._at) + 1

    def _template_arguments(self) -> None:
        self._deeper()
        self._at += 1
        while not self._take("E"):
            self._type()
        self._depth -= 1

    def _type(self) -> None:
        """Step over one type, template argument or literal."""
        self._deeper()
        while self._peek() in _QUALIFIERS:
            self._at += 1
        letter = self._peek()
        if letter in _BUILTIN_TYPES:
            self._at += 1
        elif letter in "NZ" or letter.isdigit():
            self._name()
        else:
            self._compound_type(letter)
        self._depth -= 1

    def _compound_type(self, letter: str) -> None:
        if letter == "S":
            self._substituted_type()
        elif letter == "T":
            self._template_parameter()
            self._maybe_template_arguments()
        elif letter == "L":
            self._literal()
        elif letter in "FJ":
            self._at += 1
            self._take("Y")
            while not self._take("E"):
                self._type()
        elif letter == "A":
            self._at = self._text.index("_", self._at) + 1
            self._type()
        elif letter == "M":
            self._at += 1
            self._type()
            self._type()
        elif letter == "D":
            self._long_builtin()
        else:
            raise ValueError("an expression, or not a type")

    def _substituted_type(self) -> None:
        if self._take("St"):
            self._unqualified()
        else:
            self._substitution()
        self._maybe_template_arguments()

    def _maybe_template_arguments(self) -> None:
        if self._at < len(self._text) and self._peek() == "I":
            self._template_arguments()

    def _literal(self) -> None:
        self._at += 1
        if self._take("_Z"):
            self.encoding()
        else:
            self._type()
        self._at = self._text.index("E", self._at) + 1

    def _long_builtin(self) -> None:
        letter = self._text[self._at + 1]
        if letter in "tTOv":
            raise ValueError("an expression")
        self._at += 2
        if letter == "p":
            self._type()
