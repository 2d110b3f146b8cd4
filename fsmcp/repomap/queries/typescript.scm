; What TypeScript has beyond the common part.

(class_declaration name: (type_identifier) @d.type)
(class name: (type_identifier) @d.type)
(abstract_class_declaration name: (type_identifier) @d.type)
(interface_declaration name: (type_identifier) @d.type)
(type_alias_declaration name: (type_identifier) @d.type)
(enum_declaration name: (identifier) @d.type)
(internal_module name: (identifier) @d.type)
(module name: (identifier) @d.type)
(function_signature name: (identifier) @d.function)
(method_signature name: (property_identifier) @d.method)
(abstract_method_signature name: (property_identifier) @d.method)
(public_field_definition name: [(property_identifier) (private_property_identifier)] @d.method
  value: [(arrow_function) (function_expression) (generator_function)])
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @d.value)))

(type_identifier) @r.type
(extends_clause value: (identifier) @r.extends)
(extends_clause value: (member_expression property: (property_identifier) @r.extends))
(type_query (identifier) @r.scope)
(nested_type_identifier module: (identifier) @r.scope)
(decorator (identifier) @r.decorator)
(decorator (call_expression function: (identifier) @r.decorator))

(required_parameter pattern: (identifier) @l)
(optional_parameter pattern: (identifier) @l)
(type_parameter name: (type_identifier) @l)
