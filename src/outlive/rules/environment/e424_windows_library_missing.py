"""a library that the package needs could not be loaded by Windows

What it checks
    DLL load failures and the status codes of Windows' loader.

Why it matters
    Windows does not say which library is missing. Mostly it is the Visual C++ redistributable, or a
    processor without AVX.

What to do
    Install the redistributable, use a 64-bit Python, or a package that needs no AVX.

Limits
    The name of the missing DLL is not in the message.
"""

from outlive.rules.api import Severity, rule
from outlive.rules.logged import tell_from_log

windows_library_missing = rule(
    "E424", "windows-library-missing", Severity.ERROR, since="0.2", cause="missing-runtime"
)(tell_from_log("E424"))
