; Java. Constructors are no definitions: they are called what their class is called.

(class_declaration name: (identifier) @d.type)
(interface_declaration name: (identifier) @d.type)
(enum_declaration name: (identifier) @d.type)
(record_declaration name: (identifier) @d.type)
(annotation_type_declaration name: (identifier) @d.type)
(method_declaration name: (identifier) @d.method)
(annotation_type_element_declaration name: (identifier) @d.method)

(method_invocation name: (identifier) @r.send)
(method_invocation object: (identifier) @r.scope)
(field_access object: (identifier) @r.scope)
(method_reference (identifier) @r.scope)
(marker_annotation name: (identifier) @r.decorator)
(annotation name: (identifier) @r.decorator)
(import_declaration (scoped_identifier name: (identifier) @r.import))
(type_identifier) @r.type

(formal_parameter name: (identifier) @l)
(catch_formal_parameter name: (identifier) @l)
(variable_declarator name: (identifier) @l)
(enhanced_for_statement name: (identifier) @l)
(lambda_expression parameters: (identifier) @l)
(inferred_parameters (identifier) @l)
(type_parameter (type_identifier) @l)
