"""A few mutants through the verbs: whatever a file says, there is a result, or an error with a finding."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import outlive
from outlive.surgery import write
from tests.properties.attempts import attempt
from tests.properties.mutations import Mutator
from tests.properties.specimens import busy_model, specimens
from tests.properties.structure import find_sites
from tests.rules.small import dense

MUTANTS = {"read": 300, "plan": 200, "cut": 300}


@pytest.mark.parametrize("verb", MUTANTS)
def test_a_damaged_model_has_a_documented_end(verb: str) -> None:
    mutator = Mutator(specimens())
    for seed in range(MUTANTS[verb]):
        mutant = mutator.impostor(seed) if seed % 2 else mutator.mutant(seed)
        try:
            attempt(verb, mutant.data, seed)
        except Exception as error:
            pytest.fail(f"mutant {seed}: {', '.join(mutant.how)}: {error!r}")


def with_unknown_tag(data: bytes, owner: str) -> bytes:
    """The model with one union of a kind that no schema knows."""
    (site, *_) = [site for site in find_sites(data) if site.kind == "tag" and site.owner.startswith(owner)]
    changed = bytearray(data)
    changed[site.at] = 200
    return bytes(changed)


@pytest.mark.parametrize(
    ("data", "owner"),
    [
        (write(dense()), "Operator"),
        (busy_model(), "QuantizationParameters"),
        (busy_model(), "DimensionMetadata"),
    ],
    ids=["options", "quantization", "sparsity"],
)
def test_what_no_schema_knows_cannot_be_cut_out(data: bytes, owner: str) -> None:
    with pytest.raises(outlive.ModelError) as caught:
        outlive.cut(with_unknown_tag(data, owner), until=0)
    assert caught.value.finding.code == "F115"
    assert "cannot be copied" in str(caught.value)


@pytest.mark.parametrize("verb", [outlive.run, outlive.plan, outlive.cut, outlive.read])
def test_no_bytes_at_all_are_an_empty_file(verb: Callable[[bytes], object]) -> None:
    with pytest.raises(outlive.ModelError) as caught:
        verb(b"")
    assert caught.value.finding.code == "F102"
