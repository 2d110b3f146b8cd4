; What C++ has beyond C.

(field_declaration_list) @members
(function_declarator declarator: (field_identifier) @d.method)
(function_declarator declarator: (qualified_identifier name: (identifier) @d.method))
(function_declarator declarator: (qualified_identifier name: (qualified_identifier name: (identifier) @d.method)))
(function_declarator declarator: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (identifier) @d.method))))
(class_specifier name: (type_identifier) @d.type body: (_))
(class_specifier name: (template_type name: (type_identifier) @d.type) body: (_))
(struct_specifier name: (template_type name: (type_identifier) @d.type) body: (_))
(class_specifier name: (qualified_identifier name: (type_identifier) @d.type) body: (_))
(struct_specifier name: (qualified_identifier name: (type_identifier) @d.type) body: (_))
(alias_declaration name: (type_identifier) @d.type)
(concept_definition name: (identifier) @d.type)

(call_expression function: (qualified_identifier name: (identifier) @r.send))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @r.send)))
(template_function name: (identifier) @r.call)
(template_method name: (field_identifier) @r.send)
(qualified_identifier scope: (namespace_identifier) @r.scope)

(reference_declarator (identifier) @l)
(optional_parameter_declaration declarator: (identifier) @l)
(for_range_loop declarator: (identifier) @l)
(structured_binding_declarator (identifier) @l)
(type_parameter_declaration (type_identifier) @l)
(optional_type_parameter_declaration name: (type_identifier) @l)
