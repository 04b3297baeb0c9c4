"""Finds the operators that make an accelerator die or differ, and the smallest model that shows it.

    ops 0 .. n-1 ends badly ──> does 0 .. n/2 ? ──> ... the first prefix that does: its last operator
                            ──> that operator alone? with the one before it? with two? ... the smallest part

Each part is a model of its own, tried in a worker of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from outlive.accelerators.configurations import AcceleratorConfig, choose_configurations
from outlive.accelerators.coverage import Accelerator, FaultyPart
from outlive.accelerators.trial import AcceleratorTrial, TrialSettings, compare, run_trial
from outlive.model import Model
from outlive.surgery import Cut, CutRequest, cut_model

# Ranges that end at the needed operator: alone, with one before it, with three, with seven.
_LENGTHS = (1, 2, 4, 8)


def find_faulty_part(
    model: Model,
    config: AcceleratorConfig,
    settings: TrialSettings,
    bad: Accelerator,
    tell: Callable[[str], None] = lambda _: None,
) -> FaultyPart | None:
    """The part of the model that makes this accelerator die or differ; None if no part alone does."""
    search = _Search(model=model, config=config, settings=replace(settings, inputs=None), bad=bad, tell=tell)
    last = search.last_of_shortest_prefix()
    if last is None:
        return None
    part = search.smallest_ending_at(last)
    if part is None:
        return None
    types = tuple(model.subgraphs[0].operators[index].name for index in part.ops)
    return FaultyPart(ops=part.ops, types=types, how=search.how(), model=part.model)


@dataclass(slots=True)
class _Search:
    """One search; an accelerator that refused or runs well has nothing to be searched for."""

    model: Model
    config: AcceleratorConfig
    settings: TrialSettings
    bad: Accelerator
    tell: Callable[[str], None]

    def how(self) -> str:
        death = self.bad.death
        if death is not None:
            return f"dies with {death.signal or f'exit code {death.exit_code}'} at {death.stage}"
        return "computes something else than the CPU"

    def last_of_shortest_prefix(self) -> int | None:
        """The last operator of the shortest prefix that ends as the whole does."""
        low, high = 0, len(self.model.subgraphs[0].operators) - 1
        if high < 0 or not self._ends_alike(CutRequest(until=high)):
            return None  # cutting alone has changed how it ends
        while low < high:
            middle = (low + high) // 2
            self.tell(f"{self.config.name}: does it end so with operators 0 to {middle}?")
            low, high = (low, middle) if self._ends_alike(CutRequest(until=middle)) else (middle + 1, high)
        return high

    def smallest_ending_at(self, last: int) -> Cut | None:
        """The smallest part found that ends with this operator; the prefix if nothing smaller will do."""
        for length in _LENGTHS:
            first = max(0, last - length + 1)
            part = self._cut(CutRequest(ops=range(first, last + 1)))
            self.tell(f"{self.config.name}: operators {first} to {last} alone?")
            if part is not None and self._part_ends_alike(part):
                return part
        return self._cut(CutRequest(until=last))

    def _ends_alike(self, request: CutRequest) -> bool:
        part = self._cut(request)
        return part is not None and self._part_ends_alike(part)

    def _cut(self, request: CutRequest) -> Cut | None:
        try:
            return cut_model(self.model, request)
        except ValueError:
            return None

    def _part_ends_alike(self, part: Cut) -> bool:
        settings = replace(self.settings, source=part.model)
        seen = run_trial(self.config, settings)
        if self.bad.death is not None:
            return seen.death is not None and seen.death.signal == self.bad.death.signal
        return seen.runs and self._differs(settings, seen)

    def _differs(self, settings: TrialSettings, seen: AcceleratorTrial) -> bool:
        """True if no kernels of the CPU compute what the accelerator does."""
        plain = [(one.name, run_trial(one, settings)) for one in choose_configurations(["builtin"])]
        apart = [compare(name, trial, seen, self.config.arithmetic) for name, trial in plain if trial.runs]
        return bool(apart) and not any(difference.is_normal for difference in apart)
