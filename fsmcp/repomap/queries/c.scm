; C. Also the first half of C++.

(function_declarator declarator: (identifier) @d.function)
(function_definition body: (compound_statement) @body)
(function_definition (storage_class_specifier "static")) @own
(declaration (storage_class_specifier "static")) @own
(preproc_function_def name: (identifier) @d.function)

(struct_specifier name: (type_identifier) @d.type body: (_))
(union_specifier name: (type_identifier) @d.type body: (_))
(enum_specifier name: (type_identifier) @d.type body: (_))
(type_definition declarator: (type_identifier) @d.type) @whole
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @d.type)) @whole
(type_definition declarator: (array_declarator declarator: (type_identifier) @d.type)) @whole
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (type_identifier) @d.type)))) @whole

(call_expression function: (identifier) @r.call)
(call_expression function: (field_expression field: (field_identifier) @r.send))
(type_identifier) @r.type
(argument_list (identifier) @r.value)
(initializer_list (identifier) @r.value)
(initializer_pair value: (identifier) @r.value)
(init_declarator value: (identifier) @r.value)
(assignment_expression right: (identifier) @r.value)
(pointer_expression argument: (identifier) @r.value)

(declaration declarator: (identifier) @l)
(init_declarator declarator: (identifier) @l)
(parameter_declaration declarator: (identifier) @l)
(pointer_declarator declarator: (identifier) @l)
(array_declarator declarator: (identifier) @l)
