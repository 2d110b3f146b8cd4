//go:build cgo

package repomap

import "fmt"

// A query names what it captures in one of these ways:
//
//	d.type d.function d.method d.value   the name of a definition
//	r.call r.send …                      the name of a reference, by how it is made
//	l                                    the name of a parameter or a local variable
//	body                                 the body of a function in C and C++: a function declared in it is local
//	members                              the body of a class in C++: a function declared in it is a constructor or a friend
//	own                                  a definition that only its own file can refer to
//	whole                                a definition that may begin above its name
//	require                              a function that must be require, or the match does not count
//	package                              the name of the package that the file belongs to
//	import.path import.name              a package that the file imports, and the name it goes by
//	from                                 what a reference is taken from, which may be a package

// roleOf is the role of a capture by its name.
func roleOf(capture string) (role, error) {
	switch capture {
	case "d.type":
		return role{use: defines, kind: TypeKind}, nil
	case "d.function":
		return role{use: defines, kind: FunctionKind}, nil
	case "d.method":
		return role{use: defines, kind: MethodKind}, nil
	case "d.value":
		return role{use: defines, kind: ValueKind}, nil
	case "r.call", "r.scope", "r.token", "r.type", "r.value":
		return role{use: refers, boundary: true}, nil
	case "r.decorator", "r.extends", "r.import", "r.jsx", "r.macro", "r.new":
		return role{use: refers}, nil
	case "r.send":
		return role{use: refers, sent: true}, nil
	case "r.member":
		return role{use: refers, capital: true}, nil
	case "l":
		return role{use: binds}, nil
	case "body":
		return role{use: isBody}, nil
	case "members":
		return role{use: isMembers}, nil
	case "own":
		return role{use: isOwn}, nil
	case "whole":
		return role{use: isWhole}, nil
	case "require":
		return role{use: isRequire}, nil
	case "package":
		return role{use: isPackage}, nil
	case "import.path":
		return role{use: isImportPath}, nil
	case "import.name":
		return role{use: isImportName}, nil
	case "from":
		return role{use: isFrom}, nil
	}
	return role{}, fmt.Errorf("a capture named %q", capture)
}

// add takes in the captures of one match.
func (c *captured) add(pattern uint16, roles []role, spans []span) {
	n := name{pattern: pattern, whole: ^uint32(0)}
	var path, alias string
	for i, r := range roles {
		switch s := spans[i]; r.use {
		case isWhole:
			n.whole = s.start
		case isFrom:
			n.from = s
		case isImportPath:
			path = s.of(c.text)
		case isImportName:
			alias = s.of(c.text)
		case isRequire:
			if s.of(c.text) != "require" {
				return
			}
		}
	}
	if path != "" {
		c.addImport(path, alias)
	}
	for i, r := range roles {
		n := n
		n.span, n.role, n.whole = spans[i], r, min(n.whole, spans[i].start)
		switch r.use {
		case defines:
			c.definitions = append(c.definitions, n)
		case refers, binds:
			c.rest = append(c.rest, n)
		case isBody:
			c.body = append(c.body, n.span)
		case isMembers:
			c.members = append(c.members, n.span)
		case isOwn:
			c.own = append(c.own, n.span)
		case isPackage:
			c.of = n.of(c.text)
		}
	}
}
