"""`protect`: from now on the interpreters of this process are the guarded ones, whatever a notebook imports.

    import ai_edge_litert.interpreter   ──> a module of ours: nothing native is loaded; compiled_model too
    import tflite_runtime.interpreter   ──> a module of ours
    import tensorflow                   ──> TensorFlow itself; its Interpreter and QuantizationDebugger are
                                            replaced as they are loaded, and convert() works in a worker
    import ai_edge_litert.anything_else ──> LiteRT's own, native library and all

Each uses the runtime it stands for. What was imported before is replaced where it can be found.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_PACKAGE = "ai_edge_litert"
# Asked for when TensorFlow begins to load; who only looks whether it is installed asks for `tensorflow`.
_LOADING = "tensorflow.python"
# Modules with an Interpreter in them, and the runtime each stands for.
RUNTIMES = {
    "ai_edge_litert.interpreter": "litert",
    "tflite_runtime.interpreter": "tflite_runtime",
    "tensorflow.lite.python.interpreter": "tensorflow",
}
_DEBUGGER = "tensorflow.lite.tools.optimize.debugging.python.debugger"
# Other modules of theirs, and which of ours has what they have.
_HOMES = {
    "ai_edge_litert.compiled_model": "outlive.verbs.compiled_model",
    "ai_edge_litert.hardware_accelerator": "outlive.verbs.compiled_model",
    "ai_edge_litert.tensor_buffer": "outlive.verbs.tensor_buffer",
    _DEBUGGER: "outlive.verbs.debugger",
}
_CONVERTER = "tensorflow.lite.python.lite"
# Every way to convert goes through this: TensorFlow, lite/python/lite.py.
_CONVERTING = ("TFLiteConverterBase", "_convert_and_export_metrics")
# Loaded for good and then changed: the rest of TensorFlow needs what else is in it.
_REAL = frozenset({"tensorflow.lite.python.interpreter", _DEBUGGER, _CONVERTER})
_REPLACED = (
    "Interpreter", "InterpreterWithCustomOps", "load_delegate", "Delegate", "SignatureRunner",
    "CompiledModel", "TensorBuffer", "QuantizationDebugger", "QuantizationDebugOptions",
)  # fmt: skip
# Where names that were imported from there may have gone.
_FOLLOWED = ("tensorflow._api.", "tensorflow.lite", "ai_edge_litert", "tflite_runtime", "__main__")


class Protection(MetaPathFinder):
    """The import hook, and what it has changed."""

    def __init__(self) -> None:
        """Nothing is changed yet."""
        self._changed: list[tuple[dict[str, Any], str, Any, Any]] = []
        self._made: list[str] = []
        self._watched: list[tuple[Any, Any]] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Ours, where the real one is installed: what is missing stays missing."""
        if fullname == _PACKAGE or fullname in RUNTIMES or fullname in _HOMES or fullname in _REAL:
            real = PathFinder.find_spec(fullname, path)
            return None if real is None else self._stand_in(fullname, real)
        if fullname.startswith(_PACKAGE + "."):
            self._wake_package()
        if fullname == _LOADING:
            _warm_tensorflow()
        return None

    def _stand_in(self, name: str, real: ModuleSpec) -> ModuleSpec:
        if name in _REAL:
            assert real.loader is not None
            real.loader = _PatchingLoader(real.loader, self.replace)
            return real
        self._made.append(name)
        if name == _PACKAGE:
            spec = ModuleSpec(name, _PackageLoader(), origin=real.origin, is_package=True)
            spec.submodule_search_locations = real.submodule_search_locations
            return spec
        return ModuleSpec(name, _GuardedLoader(), origin=real.origin)

    def _wake_package(self) -> None:
        """Something of LiteRT's own is wanted: have its package load what it loads."""
        package = sys.modules.get(_PACKAGE)
        spec = None if package is None else PathFinder.find_spec(_PACKAGE)
        if package is None or spec is None or not isinstance(package.__spec__.loader, _PackageLoader):  # type: ignore[union-attr]
            return
        package.__spec__ = spec
        self._made = [name for name in self._made if name != _PACKAGE]
        assert spec.loader is not None
        spec.loader.exec_module(package)

    def replace(self, module: ModuleType) -> None:
        """Put ours in the place of what a module has, there and wherever it was imported to."""
        if module.__name__ == _CONVERTER:
            self._watch(getattr(module, _CONVERTING[0], None))
            return
        stand_ins = guarded_names(module.__name__)
        for name in _REPLACED:
            original = vars(module).get(name)
            if original is None or name not in stand_ins:
                continue
            for place in _places(original):
                for key in [key for key, value in place.items() if value is original]:
                    place[key] = stand_ins[name]
                    self._changed.append((place, key, stand_ins[name], original))

    def _watch(self, base: Any) -> None:
        """Convert in a worker, and say so if what comes is not what was asked for."""
        from outlive.verbs.convert import convert_protected  # it loads much, and few convert

        original = getattr(base, _CONVERTING[1], None)
        if original is None:
            return

        def watched(converter: Any, *arguments: Any, **named: Any) -> Any:
            made = convert_protected(converter, lambda: original(converter, *arguments, **named))
            warn_unquantized(converter, made)
            return made

        setattr(base, _CONVERTING[1], watched)
        self._watched.append((base, original))

    def undo(self) -> None:
        """Put everything back; what is imported from now on is the real thing."""
        for base, original in self._watched:
            setattr(base, _CONVERTING[1], original)
        for place, key, stand_in, original in reversed(self._changed):
            if place.get(key) is stand_in:
                place[key] = original
        for name in self._made:
            sys.modules.pop(name, None)
            package, _, own = name.rpartition(".")
            if package in sys.modules:
                vars(sys.modules[package]).pop(own, None)


class _GuardedLoader(Loader):
    """Makes a module that has the guarded interpreter, as if it were the real one."""

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = "The guarded interpreters of outlive, by outlive.protect()."
        vars(module).update(guarded_names(module.__name__))


class _PackageLoader(Loader):
    """Makes LiteRT's package without its native library, which only its other modules need."""

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = "LiteRT's package, its native library not loaded, by outlive.protect()."
        assert module.__spec__ is not None
        module.__file__ = module.__spec__.origin  # which its own code asks for once it wakes up
        vars(module)["__version__"] = importlib.metadata.version("ai-edge-litert")


class _PatchingLoader(Loader):
    """Loads the real module, and changes it before it is used."""

    def __init__(self, real: Any, change: Callable[[ModuleType], None]) -> None:
        self._real, self._change = real, change

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._real.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._real.exec_module(module)
        self._change(module)

    def __getattr__(self, name: str) -> Any:
        """What else a loader is asked for: its source, its file."""
        return getattr(self._real, name)


_active: list[Protection] = []


def protect() -> None:
    """Make the interpreters of LiteRT, tf.lite and tflite_runtime in this process the guarded ones.

    LiteRT's CompiledModel and TensorFlow's QuantizationDebugger too. Nothing native is loaded by this. A
    notebook needs no other change: each interpreter goes on using its own runtime, in a worker, and
    `load_delegate` loads there too. TensorFlow itself stays in this process, but `TFLiteConverter.convert()`
    works in a worker; one line on stderr says so when it cannot. `SilentFailure` warns of a model that was to
    be quantized and is not. `unprotect()` undoes it.
    """
    if _active:
        return
    protection = Protection()
    sys.meta_path.insert(0, protection)
    _active.append(protection)
    for name in (*RUNTIMES, *_HOMES, _CONVERTER):
        if name in sys.modules:
            protection.replace(sys.modules[name])
    if _CONVERTER in sys.modules:
        _warm_tensorflow()


def unprotect() -> None:
    """Undo `protect`; interpreters that were opened meanwhile stay guarded."""
    while _active:
        protection = _active.pop()
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not protection]
        protection.undo()


def _warm_tensorflow() -> None:
    from outlive.verbs.guard import warm_tensorflow

    warm_tensorflow()


def guarded_names(module: str) -> dict[str, Any]:
    """What a module of theirs has, guarded, and using the runtime that it stands for."""
    if module in _HOMES:
        home = importlib.import_module(_HOMES[module])
        return {name: getattr(home, name) for name in home.__all__}
    from outlive.verbs import interpreter

    runtime = RUNTIMES[module]
    return {
        "Interpreter": _for_runtime(interpreter.Interpreter, runtime, module),
        "InterpreterWithCustomOps": _for_runtime(interpreter.InterpreterWithCustomOps, runtime, module),
        **interpreter.BESIDE,
    }


def warn_unquantized(converter: Any, made: Any) -> None:
    """Warn of a model that was to be quantized and holds nothing but floats.

    One that is quantized in part is what the converter gives where an operator has no other kernel.
    """
    from outlive.errors import SilentFailure
    from outlive.verbs.convert import unquantized

    target = getattr(converter, "target_spec", None)
    settings = {name: getattr(converter, name, ()) for name in ("optimizations", "inference_input_type")}
    settings |= {name: getattr(target, name, ()) for name in ("supported_types", "supported_ops")}
    samples = getattr(converter, "representative_dataset", None)
    for finding in unquantized(made, settings, samples) if isinstance(made, bytes) else ():
        warnings.warn(SilentFailure(finding), stacklevel=5)


def _for_runtime(kind: type[Any], runtime: str, module: str) -> type[Any]:
    """The class with another default for `runtime`."""

    def begin(self: Any, *arguments: Any, **named: Any) -> None:
        kind.__init__(self, *arguments, **{"runtime": runtime, **named})

    return type(kind.__name__, (kind,), {"__init__": begin, "__module__": module, "__doc__": kind.__doc__})


def _places(original: Any) -> list[dict[str, Any]]:
    """The modules that hold it."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(_FOLLOWED)]
    spaces = [vars(module) for module in modules if hasattr(module, "__dict__")]
    return [space for space in spaces if any(value is original for value in list(space.values()))]
