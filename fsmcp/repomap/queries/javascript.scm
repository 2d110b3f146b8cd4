; What JavaScript has beyond the common part. JSX is read as JavaScript.

(class_declaration name: (identifier) @d.type)
(class name: (identifier) @d.type)
(field_definition property: [(property_identifier) (private_property_identifier)] @d.method
  value: [(arrow_function) (function_expression) (generator_function)])

(class_heritage (identifier) @r.extends)
(class_heritage (member_expression property: (property_identifier) @r.extends))
(jsx_opening_element name: (identifier) @r.jsx)
(jsx_self_closing_element name: (identifier) @r.jsx)

(formal_parameters (identifier) @l)
