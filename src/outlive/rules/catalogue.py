"""The catalogue: the module of every rule, in the order of codes. A rule that is not listed does not exist.

    "file.f104_git_lfs_pointer"   rules/file/f104_git_lfs_pointer.py: F104, git-lfs-pointer

Codes and names are read from the list; a rule is loaded when it is asked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from outlive.rules.rule import Rule

_MODULES = (
    "accelerator.a801_accelerator_died",
    "accelerator.a802_accelerator_differs",
    "accelerator.a803_model_refused",
    "accelerator.a804_partly_taken",
    "accelerator.a805_accelerator_absent",
    "accelerator.a806_delegate_library_unusable",
    "accelerator.a807_software_gpu",
    "accelerator.a808_too_many_threads",
    "accelerator.a809_slower_than_cpu",
    "accelerator.a810_accelerator_not_here",
    "accelerator.a811_gpu_on_other_thread",
    "accelerator.a812_opencl_missing",
    "accelerator.a813_edge_tpu_unusable",
    "death.d501_killed_for_memory",
    "death.d502_memory_limit_reached",
    "death.d503_deadline_missed",
    "death.d504_memory_fault",
    "death.d505_runtime_abort",
    "death.d506_arithmetic_fault",
    "death.d507_other_signal",
    "death.d508_killed_from_outside",
    "death.d509_process_left",
    "death.d510_end_unknown",
    "death.d511_runtime_refusal",
    "death.d512_fork_after_threads",
    "death.d513_check_failed",
    "death.d514_malformed_answer",
    "death.d515_system_refused_worker",
    "death.d516_threads_refused",
    "death.d520_outgrown_output",
    "death.d521_refused_values",
    "death.d530_gpu_out_of_memory",
    "death.d531_microcontroller_fault",
    "death.d532_mapped_memory_lost",
    "death.d533_heap_corrupted",
    "death.d534_notebook_kernel_died",
    "environment.e401_runtime_missing",
    "environment.e402_numpy_mismatch",
    "environment.e403_system_library_missing",
    "environment.e404_c_library_too_old",
    "environment.e405_sandbox_missing",
    "environment.e411_runtime_for_older_numpy",
    "environment.e412_no_wheel_for_machine",
    "environment.e413_cpu_without_avx",
    "environment.e414_few_descriptors",
    "environment.e415_few_processes",
    "environment.e416_little_address_space",
    "environment.e417_strict_overcommit",
    "environment.e421_runtime_older_than_model",
    "environment.e422_libraries_do_not_match",
    "environment.e423_protobuf_mismatch",
    "environment.e424_windows_library_missing",
    "environment.e425_wrong_architecture",
    "environment.e426_app_lacks_library",
    "environment.e427_cuda_unusable",
    "environment.e428_model_not_mappable",
    "file.f101_unreadable_file",
    "file.f102_empty_file",
    "file.f103_directory_not_file",
    "file.f104_git_lfs_pointer",
    "file.f105_web_page",
    "file.f106_zip_archive",
    "file.f107_text_file",
    "file.f108_other_format",
    "file.f109_no_identifier",
    "file.f110_file_ends_early",
    "file.f111_broken_layout",
    "file.f112_dangling_index",
    "file.f113_unknown_tensor_type",
    "file.f114_unknown_operator",
    "file.f115_unknown_option",
    "file.f116_text_not_utf8",
    "file.f117_impossible_shape",
    "file.f118_buffer_outside_file",
    "file.f119_short_constant",
    "file.f120_missing_part",
    "file.f121_overlapping_parts",
    "file.f122_unsupported_version",
    "file.f123_broken_metadata",
    "file.f124_file_changed",
    "growth.g601_native_heap_leak",
    "growth.g602_python_objects_kept",
    "growth.g603_descriptors_leak",
    "growth.g604_threads_leak",
    "growth.g605_mapped_memory_leak",
    "growth.g606_unexplained_growth",
    "growth.g607_growth_unclear",
    "growth.g608_round_raised",
    "input.i201_missing_batch",
    "input.i202_wrong_layout",
    "input.i203_wrong_shape",
    "input.i204_wrong_dtype",
    "input.i205_swapped_bytes",
    "input.i206_constant_overwritten",
    "input.i207_not_computed",
    "input.i208_unset_string",
    "input.i301_not_quantized",
    "input.i302_unnormalised_pixels",
    "input.i303_saturating_input",
    "input.i304_range_hardly_used",
    "input.i305_nan_input",
    "input.i306_infinite_input",
    "input.i307_constant_input",
    "input.i308_index_out_of_range",
    "input.i309_smallest_by_minus_one",
    "input.i310_zero_divisor",
    "input.i311_impossible_shape_value",
    "memory.m101_duplicate_buffers",
    "memory.m102_unused_buffers",
    "memory.m103_unused_tensors",
    "memory.m104_dead_operators",
    "memory.m105_identity_operators",
    "memory.m106_requantize_pair",
    "memory.m107_float32_weights",
    "memory.m108_stored_zeros",
    "memory.m109_unpacked_sparse_weights",
    "memory.m201_plan_does_not_fit",
    "memory.m202_tight_fit",
    "memory.m203_flash_too_small",
    "memory.m204_late_memory",
    "memory.m205_limit_below_plan",
    "memory.m206_may_not_fit",
    "operator.o101_op_arity",
    "operator.o102_required_tensor_missing",
    "operator.o103_tensor_never_filled",
    "operator.o104_output_aliases_input",
    "operator.o105_output_is_constant",
    "operator.o106_tensor_type_mismatch",
    "operator.o107_constant_out_of_range",
    "operator.o108_options_missing",
    "operator.o109_option_out_of_range",
    "operator.o110_rank_mismatch",
    "operator.o111_zero_size_dimension",
    "operator.o112_shape_mismatch",
    "operator.o113_variable_flag",
    "operator.o114_sparsity_metadata",
    "operator.o115_graph_io_index",
    "operator.o116_input_is_constant",
    "operator.o120_unresolved_custom_op",
    "operator.o121_flex_op",
    "operator.o122_unsupported_op",
    "operator.o123_operator_too_new",
    "operator.o125_converter_refused",
    "operator.o130_dynamic_tensors",
    "operator.o131_in_place_output",
    "operator.o132_placeholder_input",
    "operator.o133_placeholder_refused",
    "operator.o134_xnnpack_refusal",
    "operator.o301_tflm_lacks_operator",
    "operator.o302_tflm_refuses_operator",
    "quantization.q101_quant_scale_invalid",
    "quantization.q102_quant_params_missing",
    "quantization.q103_quant_zero_point_out_of_range",
    "quantization.q104_quant_params_count",
    "quantization.q105_quantized_axis",
    "quantization.q106_odd_scale",
    "quantization.q107_bias_scale",
    "quantization.q108_unused_range",
    "quantization.q201_not_as_expected",
    "quantization.q210_no_samples",
    "quantization.q211_nan_in_sample",
    "quantization.q212_infinity_in_sample",
    "quantization.q213_quantizer_refused",
    "quantization.q214_nothing_quantized",
    "quantization.q215_constant_samples",
    "quantization.q216_sample_misfit",
    "quantization.q217_quantized_model_refused",
    "quantization.q218_target_missed",
    "quantization.q220_error_born_here",
    "quantization.q221_clipped_values",
    "quantization.q222_coarse_steps",
    "quantization.q223_samples_beyond_input",
    "quantization.q224_winners_differ",
    "quantization.q225_not_finite_values",
    "quantization.q226_unequal_channels",
    "quantization.q227_bias_overflow",
    "quantization.q228_one_sided_values",
    "quantization.q229_coarse_fixed_steps",
    "quantization.q230_samples_within_input",
    "quantization.q231_drowned_values",
    "silent.s701_output_never_written",
    "silent.s702_delegate_fell_back",
    "silent.s703_nothing_accelerated",
    "silent.s704_variable_never_assigned",
    "silent.s705_variable_stays_zero",
    "silent.s706_not_finite_output",
    "silent.s707_constant_output",
    "silent.s708_rows_beyond_count",
    "silent.s709_inputs_never_set",
    "silent.s710_xnnpack_not_used",
)


def load_rules(*starts: str) -> tuple[Rule, ...]:
    """The rules whose codes begin with one of these, `D50` for instance; all rules if none is given."""
    return tuple(_load(module) for module in _MODULES if _code(module).startswith(starts or ""))


@cache
def _load(module: str) -> Rule:
    found = vars(import_module(f"outlive.rules.{module}")).values()
    return next(item for item in found if isinstance(item, Rule) and item.code == _code(module))


def _code(module: str) -> str:
    return module.partition(".")[2][:4].upper()


def _name(module: str) -> str:
    return module.partition("_")[2].replace("_", "-")


def find_rule(word: str) -> Rule | None:
    """The rule with this code or name, in upper or lower case."""
    wanted = word.strip().lower()
    found = (module for module in _MODULES if wanted in (_code(module).lower(), _name(module)))
    return next(map(_load, found), None)


def near_rules(word: str) -> list[str]:
    """Codes and names that look like a mistyped one."""
    known = [*map(_code, _MODULES), *map(_name, _MODULES)]
    typed = word.strip()
    return difflib.get_close_matches(typed.upper(), known, 3) or difflib.get_close_matches(
        typed.lower(), known, 3
    )


def choose_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules selected by code, start of a code or name (all, if none is), without those ignored.

    Rules that say whether a file can be trusted run whatever is selected: a file that could not be read is
    not a clean one. They can still be ignored by name. Raises ValueError for unknown words.
    """
    wanted, unwanted = _codes(select), _codes(ignore)
    return tuple(
        rule
        for rule in load_rules()
        if rule.code not in unwanted and (not wanted or rule.code in wanted or rule.facts == ("file",))
    )


def split_words(text: str) -> list[str]:
    """The words of `Q1,F104 zero-scale`; commas and spaces separate them."""
    return text.replace(",", " ").split()


def _codes(words: Iterable[str]) -> set[str]:
    if isinstance(words, str):
        words = split_words(words)
    return {code for word in words for code in _meant(word.strip())}


def _meant(word: str) -> set[str]:
    """The codes that a word stands for."""
    found = {
        _code(module)
        for module in _MODULES
        if word and (_code(module).startswith(word.upper()) or _name(module) == word.lower())
    }
    if not found:
        near = ", ".join(near_rules(word))
        families = ", ".join(sorted({_code(module)[0] for module in _MODULES}))
        hint = f"did you mean {near}?" if near else f"`outlive explain` lists them ({families})"
        raise ValueError(f"no rule has the code, start of a code or name {word[:80]!r}; {hint}")
    return found
