; What TSX has beyond TypeScript.

(jsx_opening_element name: (identifier) @r.jsx)
(jsx_self_closing_element name: (identifier) @r.jsx)
