"""Windows could not load a library

What it checks
    The log contains no DLL load failure and no status code of the Windows loader.

Why it matters
    Windows does not name the missing library. In most cases it is the Visual C++ redistributable, or
    the processor lacks AVX.

What to do
    Install the redistributable, use a 64-bit Python, or a package that does not need AVX.

Limits
    The message does not name the missing DLL.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

windows_library_missing = rule(
    "E424", "windows-library-missing", Severity.ERROR, since="0.2", cause="missing-runtime"
)(tell_from_log("E424"))
