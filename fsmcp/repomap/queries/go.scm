; Go. What is taken from an imported package is looked for in files of that package alone.

(package_clause (package_identifier) @package)
(import_spec name: (package_identifier) @import.name path: (interpreted_string_literal) @import.path)
(import_spec path: (interpreted_string_literal) @import.path !name)
(selector_expression operand: (identifier) @from field: (field_identifier) @r.member)
(qualified_type package: (package_identifier) @from name: (type_identifier) @r.type)

(function_declaration name: (identifier) @d.function)
(method_declaration name: (field_identifier) @d.method)
(method_elem name: (field_identifier) @d.method)
(type_spec name: (type_identifier) @d.type)
(type_alias name: (type_identifier) @d.type)
(source_file (const_declaration (const_spec (identifier) @d.value)))
(source_file (var_declaration (var_spec name: (identifier) @d.value)))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @d.value))))

(call_expression function: (identifier) @r.call)
(call_expression function: (parenthesized_expression (identifier) @r.call))
(call_expression function: (selector_expression field: (field_identifier) @r.send))
(type_identifier) @r.type
(argument_list (identifier) @r.value)
(literal_value (literal_element (identifier) @r.value))
(keyed_element (literal_element (identifier) @r.value) .)
(expression_list (identifier) @r.value)
(binary_expression (identifier) @r.value)

(parameter_declaration name: (identifier) @l)
(variadic_parameter_declaration name: (identifier) @l)
(short_var_declaration left: (expression_list (identifier) @l))
(range_clause left: (expression_list (identifier) @l))
(var_spec name: (identifier) @l)
(const_spec (identifier) @l)
(type_parameter_declaration name: (identifier) @l)
