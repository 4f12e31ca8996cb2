/**
 * Conformance cases that are not run, each with its reason. A path stands for all cases below it. The test
 * checks that every case skipped for `MESSAGES` does mention a protobuf message, enum or wrapper type.
 */
const MESSAGES = 'protobuf messages, enums and wrapper types are outside the language';
const ABSTRACT = 'declares an abstract type with parameters, which a scope here cannot';

export const SKIPS: readonly (readonly [path: string, reason: string])[] = [
  ['proto2', MESSAGES],
  ['proto3', MESSAGES],
  ['proto2_ext', MESSAGES],
  ['enums', MESSAGES],
  ['wrappers', MESSAGES],
  ['dynamic', MESSAGES],
  ['comparisons/eq_wrapper', MESSAGES],
  ['comparisons/eq_literal/eq_dyn_json_null', MESSAGES],
  ['comparisons/eq_literal/not_eq_dyn_proto2_msg_null', MESSAGES],
  ['comparisons/eq_literal/not_eq_dyn_proto3_msg_null', MESSAGES],
  ['comparisons/ne_literal/ne_proto2', MESSAGES],
  ['comparisons/ne_literal/ne_proto3', MESSAGES],
  ['comparisons/ne_literal/ne_proto2_missing_fields_neq', MESSAGES],
  ['comparisons/ne_literal/ne_proto3_missing_fields_neq', MESSAGES],
  ['comparisons/ne_literal/ne_proto_nan_not_equal', MESSAGES],
  ['comparisons/ne_literal/ne_proto_different_types', MESSAGES],
  ['comparisons/ne_literal/ne_proto2_any_unpack', MESSAGES],
  ['comparisons/ne_literal/ne_proto2_any_unpack_bytewise_fallback', MESSAGES],
  ['comparisons/ne_literal/ne_proto3_any_unpack', MESSAGES],
  ['comparisons/ne_literal/ne_proto3_any_unpack_bytewise_fallback', MESSAGES],
  ['parse/struct_field_names', MESSAGES],
  ['parse/whitespace', MESSAGES],
  ['parse/comments', MESSAGES],
  ['parse/nest/message_literal', MESSAGES],
  ['parse/repeat/select', MESSAGES],
  ['parse/repeat/message_literal', MESSAGES],
  [
    'optionals/optionals/has_optional_ofNonZeroValue_struct_optional_ofNonZeroValue_map_optindex_field',
    MESSAGES,
  ],
  ['optionals/optionals/optional_ofNonZeroValue_struct_optional_ofNonZeroValue_map_optindex_field', MESSAGES],
  ['optionals/optionals/struct_map_optindex_field', MESSAGES],
  ['optionals/optionals/struct_optional_ofNonZeroValue_map_optindex_field', MESSAGES],
  ['optionals/optionals/struct_map_optindex_field_nested', MESSAGES],
  ['optionals/optionals/struct_list_optindex_field', MESSAGES],
  ['optionals/optionals/empty_struct_optindex_hasValue', MESSAGES],
  ['optionals/optionals/optional_empty_struct_optindex_hasValue', MESSAGES],
  ['optionals/optionals/struct_optindex_value', MESSAGES],
  ['optionals/optionals/optional_struct_optindex_value', MESSAGES],
  ['optionals/optionals/optional_struct_optindex_index_value', MESSAGES],
  ['block_ext/basic/select', MESSAGES],
  ['block_ext/basic/select_nested_1', MESSAGES],
  ['block_ext/basic/select_nested_2', MESSAGES],
  ['block_ext/basic/select_nested_message_map_index_1', MESSAGES],
  ['block_ext/basic/select_nested_message_map_index_2', MESSAGES],
  ['block_ext/basic/ternary', MESSAGES],
  ['block_ext/basic/nested_ternary', MESSAGES],
  ['block_ext/basic/presence_test_with_ternary', MESSAGES],
  ['block_ext/basic/presence_test_with_ternary_2', MESSAGES],
  ['block_ext/basic/presence_test_with_ternary_3', MESSAGES],
  ['block_ext/basic/presence_test_with_ternary_nested', MESSAGES],
  ['block_ext/basic/optional_message', MESSAGES],
  ['string_ext/format_errors/object not allowed', MESSAGES],
  ['string_ext/format_errors/object inside list', MESSAGES],
  ['string_ext/format_errors/object inside map', MESSAGES],
  ['type_deductions/complex_initializers/struct', MESSAGES],
  ['type_deductions/field_access', MESSAGES],
  ['type_deductions/wrappers', MESSAGES],
  ['type_deductions/flexible_type_parameter_assignment/comprehension_type_var_aliasing', MESSAGES],
  ['type_deductions/flexible_type_parameter_assignment/overload_type_var_aliasing', MESSAGES],
  ['type_deductions/flexible_type_parameter_assignment/list_parameters_do_not_unify', MESSAGES],
  ['type_deductions/legacy_nullable_types/null_assignable_to_message_parameter_candidate', MESSAGES],
  ['type_deductions/legacy_nullable_types/null_assignable_to_duration_parameter_candidate', MESSAGES],
  ['type_deductions/legacy_nullable_types/null_assignable_to_timestamp_parameter_candidate', MESSAGES],
  ['type_deductions/type_parameters', ABSTRACT],
];

export const MESSAGES_REASON = MESSAGES;

/** Why a case is skipped; undefined when it is run. */
export function skipReason(path: string): string | undefined {
  return SKIPS.find(([skipped]) => path === skipped || path.startsWith(`${skipped}/`))?.[1];
}
