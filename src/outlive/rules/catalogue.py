"""The catalogue: every rule, in the order of its code. A rule that is not listed here does not exist."""

from __future__ import annotations

import difflib

from outlive.errors import ModelError
from outlive.finding import Finding
from outlive.model import Identity, Reading
from outlive.model.file_bytes import FileChanged
from outlive.process.flight import Flight
from outlive.rules.accelerator.a801_accelerator_died import accelerator_died
from outlive.rules.accelerator.a802_accelerator_differs import accelerator_differs
from outlive.rules.accelerator.a803_model_refused import model_refused
from outlive.rules.accelerator.a804_partly_taken import partly_taken
from outlive.rules.accelerator.a805_accelerator_absent import accelerator_absent
from outlive.rules.accelerator.a806_delegate_library_unusable import delegate_library_unusable
from outlive.rules.accelerator.a807_software_gpu import software_gpu
from outlive.rules.accelerator.a808_too_many_threads import too_many_threads
from outlive.rules.accelerator.a809_slower_than_cpu import slower_than_cpu
from outlive.rules.accelerator.a810_accelerator_not_here import accelerator_not_here
from outlive.rules.death.by_flight import BY_FLIGHT
from outlive.rules.death.d520_outgrown_output import outgrown_output
from outlive.rules.death.d521_refused_values import refused_values
from outlive.rules.engine import Judgement, Rule, judge
from outlive.rules.environment.e401_runtime_missing import runtime_missing
from outlive.rules.environment.e402_numpy_mismatch import numpy_mismatched
from outlive.rules.environment.e403_system_library_missing import system_library_missing
from outlive.rules.environment.e404_c_library_too_old import c_library_too_old
from outlive.rules.environment.e405_sandbox_missing import sandbox_missing
from outlive.rules.environment.e411_runtime_for_older_numpy import runtime_for_older_numpy
from outlive.rules.environment.e412_no_wheel_for_machine import no_wheel_for_machine
from outlive.rules.environment.e413_cpu_without_avx import cpu_without_avx
from outlive.rules.environment.e414_few_descriptors import few_descriptors
from outlive.rules.environment.e415_few_processes import few_processes
from outlive.rules.environment.e416_little_address_space import little_address_space
from outlive.rules.environment.e417_strict_overcommit import strict_overcommit
from outlive.rules.environment.e421_runtime_older_than_model import runtime_older_than_model
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
from outlive.rules.file.f124_file_changed import file_changed
from outlive.rules.growth.g601_native_heap_leak import native_heap_leak
from outlive.rules.growth.g602_python_objects_kept import python_objects_kept
from outlive.rules.growth.g603_descriptors_leak import descriptors_leak
from outlive.rules.growth.g604_threads_leak import threads_leak
from outlive.rules.growth.g605_mapped_memory_leak import mapped_memory_leak
from outlive.rules.growth.g606_unexplained_growth import unexplained_growth
from outlive.rules.growth.g607_growth_unclear import growth_unclear
from outlive.rules.growth.g608_round_raised import round_raised
from outlive.rules.input.i201_missing_batch import missing_batch
from outlive.rules.input.i202_wrong_layout import wrong_layout
from outlive.rules.input.i203_wrong_shape import wrong_shape
from outlive.rules.input.i204_wrong_dtype import wrong_dtype
from outlive.rules.input.i205_swapped_bytes import swapped_bytes
from outlive.rules.input.i206_constant_overwritten import constant_overwritten
from outlive.rules.input.i207_not_computed import not_computed
from outlive.rules.input.i208_unset_string import unset_string
from outlive.rules.input.i301_not_quantized import not_quantized
from outlive.rules.input.i302_unnormalised_pixels import unnormalised_pixels
from outlive.rules.input.i303_saturating_input import saturating_input
from outlive.rules.input.i304_range_hardly_used import range_hardly_used
from outlive.rules.input.i305_nan_input import nan_input
from outlive.rules.input.i306_infinite_input import infinite_input
from outlive.rules.input.i307_constant_input import constant_input
from outlive.rules.input.i308_index_out_of_range import index_out_of_range
from outlive.rules.input.i309_smallest_by_minus_one import smallest_by_minus_one
from outlive.rules.input.i310_zero_divisor import zero_divisor
from outlive.rules.input.i311_impossible_shape_value import impossible_shape_value
from outlive.rules.memory.m101_duplicate_buffers import duplicate_buffers
from outlive.rules.memory.m102_unused_buffers import unused_buffers
from outlive.rules.memory.m103_unused_tensors import unused_tensors
from outlive.rules.memory.m104_dead_operators import dead_operators
from outlive.rules.memory.m105_identity_operators import identity_operators
from outlive.rules.memory.m106_requantize_pair import requantize_pair
from outlive.rules.memory.m107_float32_weights import float32_weights
from outlive.rules.memory.m108_stored_zeros import stored_zeros
from outlive.rules.memory.m109_unpacked_sparse_weights import unpacked_sparse_weights
from outlive.rules.memory.m201_plan_does_not_fit import plan_does_not_fit
from outlive.rules.memory.m202_tight_fit import tight_fit
from outlive.rules.memory.m203_flash_too_small import flash_too_small
from outlive.rules.memory.m204_late_memory import late_memory
from outlive.rules.memory.m205_limit_below_plan import limit_below_plan
from outlive.rules.memory.m206_may_not_fit import may_not_fit
from outlive.rules.operator.o101_op_arity import op_arity
from outlive.rules.operator.o102_required_tensor_missing import required_tensor_missing
from outlive.rules.operator.o103_tensor_never_filled import tensor_never_filled
from outlive.rules.operator.o104_output_aliases_input import output_aliases_input
from outlive.rules.operator.o105_output_is_constant import output_is_constant
from outlive.rules.operator.o106_tensor_type_mismatch import tensor_type_mismatch
from outlive.rules.operator.o107_constant_out_of_range import constant_out_of_range
from outlive.rules.operator.o108_options_missing import options_missing
from outlive.rules.operator.o109_option_out_of_range import option_out_of_range
from outlive.rules.operator.o110_rank_mismatch import rank_mismatch
from outlive.rules.operator.o111_zero_size_dimension import zero_size_dimension
from outlive.rules.operator.o112_shape_mismatch import shape_mismatch
from outlive.rules.operator.o113_variable_flag import variable_flag
from outlive.rules.operator.o114_sparsity_metadata import sparsity_metadata
from outlive.rules.operator.o115_graph_io_index import graph_io_index
from outlive.rules.operator.o116_input_is_constant import input_is_constant
from outlive.rules.operator.o120_unresolved_custom_op import unresolved_custom_op
from outlive.rules.operator.o121_flex_op import flex_op
from outlive.rules.operator.o122_unsupported_op import unsupported_op
from outlive.rules.operator.o123_operator_too_new import operator_too_new
from outlive.rules.operator.o125_converter_refused import converter_refused
from outlive.rules.operator.o130_dynamic_tensors import dynamic_tensors
from outlive.rules.operator.o131_in_place_output import in_place_output
from outlive.rules.operator.o132_placeholder_input import placeholder_input
from outlive.rules.operator.o133_placeholder_refused import placeholder_refused
from outlive.rules.operator.o134_xnnpack_refusal import xnnpack_refusal
from outlive.rules.operator.o301_tflm_lacks_operator import tflm_lacks_operator
from outlive.rules.operator.o302_tflm_refuses_operator import tflm_refuses_operator
from outlive.rules.quantization.q101_quant_scale_invalid import quant_scale_invalid
from outlive.rules.quantization.q102_quant_params_missing import quant_params_missing
from outlive.rules.quantization.q103_quant_zero_point_out_of_range import quant_zero_point_out_of_range
from outlive.rules.quantization.q104_quant_params_count import quant_params_count
from outlive.rules.quantization.q105_quantized_axis import quantized_axis
from outlive.rules.quantization.q106_odd_scale import odd_scale
from outlive.rules.quantization.q107_bias_scale import bias_scale
from outlive.rules.quantization.q108_unused_range import unused_range
from outlive.rules.quantization.q201_not_as_expected import not_as_expected
from outlive.rules.quantization.q210_no_samples import no_samples
from outlive.rules.quantization.q211_nan_in_sample import nan_in_sample
from outlive.rules.quantization.q212_infinity_in_sample import infinity_in_sample
from outlive.rules.quantization.q213_quantizer_refused import quantizer_refused
from outlive.rules.quantization.q214_nothing_quantized import nothing_quantized
from outlive.rules.quantization.q215_constant_samples import constant_samples
from outlive.rules.quantization.q216_sample_misfit import sample_misfit
from outlive.rules.quantization.q217_quantized_model_refused import quantized_model_refused
from outlive.rules.quantization.q218_target_missed import target_missed
from outlive.rules.quantization.q220_error_born_here import error_born_here
from outlive.rules.quantization.q221_clipped_values import clipped_values
from outlive.rules.quantization.q222_coarse_steps import coarse_steps
from outlive.rules.quantization.q223_samples_beyond_input import samples_beyond_input
from outlive.rules.quantization.q224_winners_differ import winners_differ
from outlive.rules.quantization.q225_not_finite_values import not_finite_values
from outlive.rules.quantization.q226_unequal_channels import unequal_channels
from outlive.rules.quantization.q227_bias_overflow import bias_overflow
from outlive.rules.quantization.q228_one_sided_values import one_sided_values
from outlive.rules.quantization.q229_coarse_fixed_steps import coarse_fixed_steps
from outlive.rules.quantization.q230_samples_within_input import samples_within_input
from outlive.rules.quantization.q231_drowned_values import drowned_values
from outlive.rules.silent.s701_output_never_written import output_never_written
from outlive.rules.silent.s702_delegate_fell_back import delegate_fell_back
from outlive.rules.silent.s703_nothing_accelerated import nothing_accelerated
from outlive.rules.silent.s704_variable_never_assigned import variable_never_assigned
from outlive.rules.silent.s705_variable_stays_zero import variable_stays_zero
from outlive.rules.silent.s706_not_finite_output import not_finite_output
from outlive.rules.silent.s707_constant_output import constant_output
from outlive.rules.silent.s708_rows_beyond_count import rows_beyond_count
from outlive.rules.silent.s709_inputs_never_set import inputs_never_set
from outlive.rules.silent.s710_xnnpack_not_used import xnnpack_not_used

RULES: tuple[Rule, ...] = (
    accelerator_died,
    accelerator_differs,
    model_refused,
    partly_taken,
    accelerator_absent,
    delegate_library_unusable,
    software_gpu,
    too_many_threads,
    slower_than_cpu,
    accelerator_not_here,
    *BY_FLIGHT,
    outgrown_output,
    refused_values,
    runtime_missing,
    numpy_mismatched,
    system_library_missing,
    c_library_too_old,
    sandbox_missing,
    runtime_for_older_numpy,
    no_wheel_for_machine,
    cpu_without_avx,
    few_descriptors,
    few_processes,
    little_address_space,
    strict_overcommit,
    runtime_older_than_model,
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
    file_changed,
    native_heap_leak,
    python_objects_kept,
    descriptors_leak,
    threads_leak,
    mapped_memory_leak,
    unexplained_growth,
    growth_unclear,
    round_raised,
    missing_batch,
    wrong_layout,
    wrong_shape,
    wrong_dtype,
    swapped_bytes,
    constant_overwritten,
    not_computed,
    unset_string,
    not_quantized,
    unnormalised_pixels,
    saturating_input,
    range_hardly_used,
    nan_input,
    infinite_input,
    constant_input,
    index_out_of_range,
    smallest_by_minus_one,
    zero_divisor,
    impossible_shape_value,
    duplicate_buffers,
    unused_buffers,
    unused_tensors,
    dead_operators,
    identity_operators,
    requantize_pair,
    float32_weights,
    stored_zeros,
    unpacked_sparse_weights,
    plan_does_not_fit,
    tight_fit,
    flash_too_small,
    late_memory,
    limit_below_plan,
    may_not_fit,
    op_arity,
    required_tensor_missing,
    tensor_never_filled,
    output_aliases_input,
    output_is_constant,
    tensor_type_mismatch,
    constant_out_of_range,
    options_missing,
    option_out_of_range,
    rank_mismatch,
    zero_size_dimension,
    shape_mismatch,
    variable_flag,
    sparsity_metadata,
    graph_io_index,
    input_is_constant,
    unresolved_custom_op,
    flex_op,
    unsupported_op,
    operator_too_new,
    converter_refused,
    dynamic_tensors,
    in_place_output,
    placeholder_input,
    placeholder_refused,
    xnnpack_refusal,
    tflm_lacks_operator,
    tflm_refuses_operator,
    quant_scale_invalid,
    quant_params_missing,
    quant_zero_point_out_of_range,
    quant_params_count,
    quantized_axis,
    odd_scale,
    bias_scale,
    unused_range,
    not_as_expected,
    no_samples,
    nan_in_sample,
    infinity_in_sample,
    quantizer_refused,
    nothing_quantized,
    constant_samples,
    sample_misfit,
    quantized_model_refused,
    target_missed,
    error_born_here,
    clipped_values,
    coarse_steps,
    samples_beyond_input,
    winners_differ,
    not_finite_values,
    unequal_channels,
    bias_overflow,
    one_sided_values,
    coarse_fixed_steps,
    samples_within_input,
    drowned_values,
    output_never_written,
    delegate_fell_back,
    nothing_accelerated,
    variable_never_assigned,
    variable_stays_zero,
    not_finite_output,
    constant_output,
    rows_beyond_count,
    inputs_never_set,
    xnnpack_not_used,
)


def assess(reading: Reading) -> Judgement:
    """What all rules say about a file that was opened."""
    # What a broken file seems to waste is no more to be trusted than the rest of it.
    model = None if file_errors(reading) else reading.model
    try:
        return judge({"file": reading, "model": model}, RULES)
    except (ModelError, FileChanged) as error:
        return Judgement(findings=of_change(error), not_checked=())


def of_change(error: ModelError | FileChanged) -> tuple[Finding, ...]:
    """What there is to say of a file that has changed since it was opened."""
    if isinstance(error, ModelError):
        return error.findings
    identity = Identity(kind="changed", detail=error.detail)
    return file_errors(Reading(path=error.path, file_bytes=0, identity=identity, model=None))


def assess_run(flight: Flight, reading: Reading | None) -> tuple[Finding, ...]:
    """What went wrong without a word in a run that came back: the same at every entry point.

    Among the rules on files only those of such faults are asked: the others are for `check`.
    """
    sound = reading is not None and not file_errors(reading)
    chosen = [rule for rule in RULES if "flight" in rule.facts or rule.code.startswith("S")]
    return judge({"flight": flight, "model": reading.model if reading and sound else None}, chosen).findings


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
    return difflib.get_close_matches(word.strip().upper(), known, 3) or difflib.get_close_matches(
        word.strip().lower(), known, 3
    )
