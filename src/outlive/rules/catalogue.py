"""The catalogue: every rule, in the order of its code. A rule that is not listed here does not exist."""

from __future__ import annotations

import difflib

from outlive.finding import Finding
from outlive.model import Reading
from outlive.rules.death.d501_killed_for_memory import killed_for_memory
from outlive.rules.death.d502_memory_limit_reached import memory_limit_reached
from outlive.rules.death.d503_deadline_missed import deadline_missed
from outlive.rules.death.d504_memory_fault import memory_fault
from outlive.rules.death.d505_runtime_abort import runtime_abort
from outlive.rules.death.d506_arithmetic_fault import arithmetic_fault
from outlive.rules.death.d507_other_signal import other_signal
from outlive.rules.death.d508_killed_from_outside import killed_from_outside
from outlive.rules.death.d509_process_left import process_left
from outlive.rules.death.d510_end_unknown import end_unknown
from outlive.rules.death.d511_runtime_refusal import runtime_refusal
from outlive.rules.engine import Judgement, Rule, judge
from outlive.rules.environment.e401_runtime_missing import runtime_missing
from outlive.rules.file.f101_unreadable_file import unreadable_file
from outlive.rules.file.f102_empty_file import empty_file
from outlive.rules.file.f103_directory_not_file import directory_not_file
from outlive.rules.file.f104_git_lfs_pointer import git_lfs_pointer
from outlive.rules.file.f105_web_page import web_page
from outlive.rules.file.f106_zip_archive import zip_archive
from outlive.rules.file.f107_text_file import text_file
from outlive.rules.file.f108_other_format import other_format
from outlive.rules.file.f109_no_identifier import no_identifier
from outlive.rules.file.f110_file_ends_early import file_ends_early
from outlive.rules.file.f111_broken_layout import broken_layout
from outlive.rules.file.f112_dangling_index import dangling_index
from outlive.rules.file.f113_unknown_tensor_type import unknown_tensor_type
from outlive.rules.file.f114_unknown_operator import unknown_operator
from outlive.rules.file.f115_unknown_option import unknown_option
from outlive.rules.file.f116_text_not_utf8 import text_not_utf8
from outlive.rules.file.f117_impossible_shape import impossible_shape
from outlive.rules.file.f118_buffer_outside_file import buffer_outside_file
from outlive.rules.file.f119_short_constant import short_constant
from outlive.rules.file.f120_missing_part import missing_part
from outlive.rules.file.f121_overlapping_parts import overlapping_parts
from outlive.rules.file.f122_unsupported_version import unsupported_version
from outlive.rules.file.f123_broken_metadata import broken_metadata
from outlive.rules.input.i201_missing_batch import missing_batch
from outlive.rules.input.i202_wrong_layout import wrong_layout
from outlive.rules.input.i203_wrong_shape import wrong_shape
from outlive.rules.input.i204_wrong_dtype import wrong_dtype
from outlive.rules.input.i205_swapped_bytes import swapped_bytes
from outlive.rules.input.i206_constant_overwritten import constant_overwritten
from outlive.rules.input.i207_not_computed import not_computed
from outlive.rules.input.i208_unset_string import unset_string
from outlive.rules.memory.m101_duplicate_buffers import duplicate_buffers
from outlive.rules.memory.m102_unused_buffers import unused_buffers
from outlive.rules.memory.m103_unused_tensors import unused_tensors
from outlive.rules.memory.m104_dead_operators import dead_operators
from outlive.rules.memory.m105_identity_operators import identity_operators
from outlive.rules.memory.m106_requantize_pair import requantize_pair
from outlive.rules.memory.m107_float32_weights import float32_weights
from outlive.rules.memory.m201_plan_does_not_fit import plan_does_not_fit
from outlive.rules.memory.m202_tight_fit import tight_fit
from outlive.rules.memory.m203_flash_too_small import flash_too_small
from outlive.rules.memory.m204_late_memory import late_memory
from outlive.rules.memory.m205_limit_below_plan import limit_below_plan
from outlive.rules.operator.o301_tflm_lacks_operator import tflm_lacks_operator
from outlive.rules.operator.o302_tflm_refuses_operator import tflm_refuses_operator

RULES: tuple[Rule, ...] = (
    killed_for_memory,
    memory_limit_reached,
    deadline_missed,
    memory_fault,
    runtime_abort,
    arithmetic_fault,
    other_signal,
    killed_from_outside,
    process_left,
    end_unknown,
    runtime_refusal,
    runtime_missing,
    unreadable_file,
    empty_file,
    directory_not_file,
    git_lfs_pointer,
    web_page,
    zip_archive,
    text_file,
    other_format,
    no_identifier,
    file_ends_early,
    broken_layout,
    dangling_index,
    unknown_tensor_type,
    unknown_operator,
    unknown_option,
    text_not_utf8,
    impossible_shape,
    buffer_outside_file,
    short_constant,
    missing_part,
    overlapping_parts,
    unsupported_version,
    broken_metadata,
    missing_batch,
    wrong_layout,
    wrong_shape,
    wrong_dtype,
    swapped_bytes,
    constant_overwritten,
    not_computed,
    unset_string,
    duplicate_buffers,
    unused_buffers,
    unused_tensors,
    dead_operators,
    identity_operators,
    requantize_pair,
    float32_weights,
    plan_does_not_fit,
    tight_fit,
    flash_too_small,
    late_memory,
    limit_below_plan,
    tflm_lacks_operator,
    tflm_refuses_operator,
)


def assess(reading: Reading) -> Judgement:
    """What all rules say about a file that was opened."""
    # What a broken file seems to waste is no more to be trusted than the rest of it.
    model = None if file_errors(reading) else reading.model
    return judge({"file": reading, "model": model}, RULES)


def file_errors(reading: Reading) -> tuple[Finding, ...]:
    """What makes a file one that cannot be trusted; rules on sound models are not asked."""
    return judge({"file": reading}, [rule for rule in RULES if rule.facts == ("file",)]).errors


def find_rule(word: str) -> Rule | None:
    """The rule with this code or name, whatever the case."""
    wanted = word.strip().lower()
    return next((rule for rule in RULES if wanted in (rule.code.lower(), rule.name)), None)


def near_rules(word: str) -> list[str]:
    """Codes and names that look like a mistyped one."""
    known = [*(rule.code for rule in RULES), *(rule.name for rule in RULES)]
    return difflib.get_close_matches(word.strip().upper(), known, 2) or difflib.get_close_matches(
        word.strip().lower(), known, 2
    )
